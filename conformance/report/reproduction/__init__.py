"""Stand-alone reproductions: a violation as a script that needs torch and the candidate only."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.candidate import Description
from conformance.clauses import Clause
from conformance.report.reproduction.blows import left_shared
from conformance.report.reproduction.checks import HELD, MESSAGES, REPORTED, RESTS
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.script import script

if TYPE_CHECKING:
    from conformance.drawing import Found

__all__ = ["Shelf", "reproduction"]


def reproduction(candidate: Description, clause: Clause, role: str, found: Found) -> str:
    """The text of a script that exits 1 while the violation is there, 0 once it is gone."""
    draft = Draft(
        candidate, found.case, reports=clause.id in REPORTED, warned="warning" in clause.sentence,
        messages=clause.id in MESSAGES, held=clause.id in HELD, shared=left_shared(found.trace),
        rests=clause.id in RESTS,
    )  # fmt: skip
    return script(draft, clause, role, found)


class Shelf:
    """A folder of scripts, one for each violation of a run; what earlier runs left is replaced.

    Those of declared deviations lie in a folder `known` of it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.texts = folder, dict[Path, str]()

    def put(
        self, candidate: Description, clause: Clause, role: str, text: str, known: bool = False
    ) -> Path:
        """Write a script under a name of its own; returns its path."""
        folder = self.folder / "known" if known else self.folder
        folder.mkdir(parents=True, exist_ok=True)
        stem = re.sub(r"[^\w.]+", "-", f"{clause.id}-{role}-{candidate.source}").strip("-")
        names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
        paths = (folder / f"{name}.py" for name in names)
        path = next(path for path in paths if self.texts.get(path, text) == text)
        self.texts[path] = text
        path.write_text(text, encoding="utf-8")
        return path
