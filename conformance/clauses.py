"""The clauses, read from `spec/*.md`: the text is the source, the suite holds no second copy."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from conformance.roles import ROLES

HEADING = re.compile(r"^## ([a-z]+\.[a-z-]+)$", re.MULTILINE)
LEVELS = ("MUST", "SHOULD", "MAY")
PROFILES = ("core", "torch")
FLAGS = ("statistical", "accelerator")
CHAPTERS = (
    "sampler", "sequential", "random", "subset", "weighted", "batch", "distributed", "balanced",
    "wrapper", "loader", "workers", "iterable", "transfer", "lifecycle",
)  # fmt: skip


class SpecError(ValueError):
    """A chapter that does not have the form that spec/README.md states."""


@dataclass(frozen=True)
class Clause:
    """One normative statement. `why` is its rationale, `rows` the laws it comes from.

    statistical: judged by exact tests. accelerator: it speaks of one, and needs one to be judged.
    """

    id: str
    level: str
    profile: str
    statistical: bool
    accelerator: bool
    roles: tuple[str, ...]
    rows: tuple[str, ...]
    sentence: str
    why: str

    @property
    def chapter(self) -> str:
        return self.id.partition(".")[0]


def spec_folder() -> Path:
    """`spec/` as installed beside this file, or at the root of a checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "spec", here.parent / "spec"):
        if folder.is_dir():
            return folder
    raise SpecError("spec/ is missing; reinstall the package")


@functools.cache
def clauses() -> dict[str, Clause]:
    """Every clause by its ID, in the order of the spec."""
    found: dict[str, Clause] = {}
    for chapter in CHAPTERS:
        text = (spec_folder() / f"{chapter}.md").read_text(encoding="utf-8")
        parts = HEADING.split(text)
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            found[name] = _clause(chapter, name, body)
    return found


def _clause(chapter: str, name: str, body: str) -> Clause:
    lines = list(body.strip().splitlines())
    fields = [field.strip() for field in lines[0].split("·")]
    quote = " ".join(
        line[1:].strip() for line in lines if line.startswith(">") and line[1:2] != ">"
    )
    if len(fields) != 4 or not quote or not name.startswith(f"{chapter}."):
        raise SpecError(f"spec/{chapter}.md, {name}: 'LEVEL · PROFILE · ROLES · LAWS' and a quote")
    level, profile, roles, rows = fields
    kind, *flags = profile.split(", ")
    known = [role.strip() for role in roles.split(",")]
    words = set(flags) <= set(FLAGS) and set(known) <= set(ROLES)
    if level not in LEVELS or kind not in PROFILES or not words:
        raise SpecError(
            f"spec/{chapter}.md, {name}: unknown level, profile or role in {lines[0]!r}"
        )
    why = re.search(r"\*\*Why\.\*\*\s*(.+?)(?:\n\n|\Z)", body, re.DOTALL)
    return Clause(
        id=name, level=level, profile=kind, statistical="statistical" in flags,
        accelerator="accelerator" in flags,
        roles=tuple(known), rows=tuple(row.strip() for row in rows.split(",") if row != "-"),
        sentence=quote, why=" ".join(why.group(1).split()) if why else "",
    )  # fmt: skip
