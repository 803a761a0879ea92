"""The laws: pure functions from a trace to a violation, or to nothing.

A law is bound to one clause. It finds in any trace the places where its precondition is met,
judges those, and raises `Unmet` if there are none: what was never exercised never "holds". Laws
know nothing of processes, of Hypothesis or of pytest; they judge a recorded trace just as well.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.trace import Trace


class Unmet(Exception):
    """The trace does not meet the law's precondition."""


@dataclass(frozen=True)
class Mark:
    """One offending cell: the item at `place` of what `event` of `rank` yielded."""

    rank: int
    event: int
    place: int
    kind: str


RACY = ("late-", "early-")
"""Anomalies of time."""


@dataclass(frozen=True)
class Violation:
    """What a law found. `anomaly` is the kind of fault, by name; `saw` says what was seen.

    events: for the grid, which event of each rank shows it, as pairs (rank, event).
    about: what tells one violation of a clause from another, e.g. the argument that was accepted.
    certain: for what came late, nobody has stirred for longer than it may take: the machine was not
    too busy for it.
    """

    anomaly: str
    saw: str
    marks: tuple[Mark, ...] = ()
    events: tuple[tuple[int, int], ...] = ()
    about: str = ""
    certain: bool = False

    @property
    def racy(self) -> bool:
        """Whether it has to be seen twice: nobody is accused of what a busy machine does once."""
        return self.anomaly.startswith(RACY) and not self.certain


Law = Callable[[Trace], "Violation | None"]

LAWS: dict[str, Law] = {}
"""Every law by the ID of its clause."""


def law(clause: str) -> Callable[[Law], Law]:
    """Bind a function to its clause."""

    def bind(function: Law) -> Law:
        if clause in LAWS:
            raise ValueError(f"{clause} has two laws")
        LAWS[clause] = function
        return function

    return bind


def require(condition: Any) -> None:
    """The precondition of a law."""
    if not condition:
        raise Unmet


def load_laws() -> dict[str, Law]:
    """All laws of all chapters."""
    from conformance.clauses import CHAPTERS

    for chapter in CHAPTERS:
        importlib.import_module(f"conformance.laws.{chapter}")
    return LAWS
