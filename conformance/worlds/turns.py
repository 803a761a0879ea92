"""Which simulating process a case goes to: those for one kind of cases take turns."""

from __future__ import annotations

from itertools import cycle

from conformance.candidate import Source
from conformance.case import Case
from conformance.classes import has_workers
from conformance.roles import LOADERS

Places = tuple[str, ...]

SAMPLING: Places = ("samplers", "more samplers")
LOADING: Places = ("loaders", "more loaders")
BUSY: Places = ("loaders with workers", "more with workers")
"""The processes for samplers, which no worker disturbs, for loaders without workers, and for those
that wait for theirs: they are forked from a server that has moved into huge pages."""

HEAVY_S = 0.3
"""A candidate that takes longer to import is imported by one process for samplers only."""


def places(case: Case) -> Places:
    """The processes that take turns in cases like this one."""
    if case.role not in LOADERS:
        return SAMPLING
    return BUSY if has_workers(case) else LOADING


class Turns:
    """Whose turn it is."""

    def __init__(self) -> None:
        self.turns = {kind: cycle(kind) for kind in (SAMPLING, LOADING, BUSY)}
        self.heavy = set[Source]()

    def imported(self, source: Source, seconds: float) -> None:
        """So long it took to import a candidate."""
        if seconds > HEAVY_S:
            self.heavy.add(source)

    def next(self, source: Source, case: Case) -> str:
        """The process that a case goes to."""
        kind = places(case)
        if kind == SAMPLING and source in self.heavy:
            return kind[0]
        return next(self.turns[kind])
