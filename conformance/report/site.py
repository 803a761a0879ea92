"""The spec as a site of static pages: a permanent link for each clause, and beside each clause what
proves its law and who is known to break it.

    python -m conformance.report.site FOLDER [RESULT.json ...]

The pages need nothing but each other: no network, no server. The permanent link of a clause is
`distributed.html#distributed.cover`; it lasts as long as the clause's ID, which is for ever. A
checkout also has faults that prove the laws: there `python tests/spec_site.py` writes the site.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import conformance
from conformance.clauses import Clause, clauses
from conformance.report.forms import write
from conformance.report.known import Break, breaks
from conformance.report.page import SIGNS, environment
from conformance.report.prose import FILES, Chapter, chapter, here_link
from conformance.report.result import Result, ResultError, merged, read, spec_revision

OVERVIEW = "clauses.html"


@dataclass(frozen=True)
class Proof:
    """A fault that a clause must tell of: its name, what is wrong with it in one sentence.

    caught: whether this very clause has told of it when the detection score was last measured.
    """

    clause: str
    fault: str
    sentence: str
    caught: bool


@dataclass(frozen=True)
class Section:
    """A clause with all that a page says of it. body: the HTML of its text."""

    clause: Clause
    body: str
    proofs: list[Proof]
    breaks: list[Break]

    @property
    def address(self) -> str:
        return f"{self.clause.chapter}.html#{self.clause.id}"

    @property
    def caught(self) -> int:
        return sum(proof.caught for proof in self.proofs)

    @property
    def who(self) -> list[str]:
        """Each candidate that breaks it, once."""
        return list(dict.fromkeys(found.who for found in self.breaks))


def site(proofs: Iterable[Proof] = (), document: Result | None = None) -> dict[str, str]:
    """The files of the site by name. document: the result that says who breaks what.

    Raises SpecError if the spec has a link that leads nowhere.
    """
    chapters = [chapter(name) for name in FILES]
    sections = _sections(chapters, list(proofs), breaks(document))
    jinja = environment()
    shared = {
        "chapters": chapters, "overview": OVERVIEW, "signs": SIGNS, "document": document,
        "sections": {found.name: _of(found, sections) for found in chapters}, "known": clauses(),
        "revision": spec_revision(), "version": conformance.__version__, "here": here_link,
    }  # fmt: skip
    overview = jinja.get_template("site_clauses.html").render(shared | {"file": OVERVIEW})
    files = {OVERVIEW: overview} | {
        found.file: jinja.get_template("site_chapter.html").render(
            shared | {"chapter": found, "file": found.file}
        )
        for found in chapters
    }
    return files | {name: jinja.get_template(name).render() for name in ("site.css", "site.js")}


def _sections(
    chapters: Sequence[Chapter], proofs: list[Proof], found: list[Break]
) -> dict[str, Section]:
    bodies = {name: body for held in chapters for name, body in held.clauses.items()}
    return {
        name: Section(
            clause, bodies[name],
            [proof for proof in proofs if proof.clause == name],
            [known for known in found if known.clause == name],
        )
        for name, clause in clauses().items()
    }  # fmt: skip


def _of(found: Chapter, sections: dict[str, Section]) -> list[Section]:
    return [sections[name] for name in found.clauses]


def main(arguments: list[str] | None = None, proofs: Iterable[Proof] = ()) -> int:
    """Write the site. Exit code 0, or 2 with one line that names what cannot be used."""
    parser = argparse.ArgumentParser("python -m conformance.report.site", description=_purpose())
    parser.add_argument("folder", type=Path, help="where to write; it is made if need be")
    parser.add_argument("results", nargs="*", type=Path, help="what --conformance-json wrote")
    chosen = parser.parse_args(arguments)
    try:
        document = merged(map(read, chosen.results)) if chosen.results else None
        for name, told in site(proofs, document).items():
            write(chosen.folder / name, told)
    except (ResultError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(chosen.folder / "index.html")
    return 0


def _purpose() -> Any:
    return (__doc__ or "").partition("\n\n")[0]


if __name__ == "__main__":
    sys.exit(main())
