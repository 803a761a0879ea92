"""The second look that a person took at each violation: what it is, and how bad."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.tables import tomllib
from field.packages import HERE

FILE = HERE / "looks.toml"

SEVERITIES = ("wrong data", "hang or divergence", "wrong length", "crash", "argument ignored")
"""Worst first."""

DECISIONS = ("violation", "choice", "ours")
"""A violation; a choice that is documented or meant, though no policy declares it; our fault."""


@dataclass(frozen=True)
class Look:
    """What one violated clause of a candidate comes to.

    severity: one of SEVERITIES. decision: one of DECISIONS. text: what happens, in plain words.
    link: the same bug elsewhere: an address, or a row of the corpus. role: "" for any.
    """

    candidate: str
    clause: str
    decision: str
    severity: str
    text: str
    role: str = ""
    link: str = ""

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES or self.decision not in DECISIONS:
            raise ValueError(f"{FILE.name}: {self.candidate}, {self.clause}: no such word")


def looks() -> list[Look]:
    """All second looks."""
    if not FILE.exists():
        return []
    return [
        Look(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8")).get("look", [])
    ]


def look(found: list[Look], candidate: str, clause: str, role: str) -> Look | None:
    """The look at one verdict, if somebody took one."""
    return next(
        (
            one
            for one in found
            if (one.candidate, one.clause) == (candidate, clause) and one.role in ("", role)
        ),
        None,
    )
