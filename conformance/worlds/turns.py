"""Which simulating process a case goes to: those for one kind of cases take turns."""

from __future__ import annotations

from collections.abc import Iterator
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
"""A candidate that takes longer to import is imported by as few processes as will do."""


class Turns:
    """Whose turn it is."""

    def __init__(self) -> None:
        self.turns = dict[Places, Iterator[str]]()
        self.heavy = set[Source]()

    def imported(self, source: Source, seconds: float) -> None:
        """So long it took to import a candidate."""
        if seconds > HEAVY_S:
            self.heavy.add(source)

    def places(self, source: Source, case: Case) -> Places:
        """The processes that take turns in cases like this one."""
        heavy = source in self.heavy
        if case.role not in LOADERS:
            return SAMPLING[:1] if heavy else SAMPLING
        return BUSY if heavy or has_workers(case) else LOADING

    def next(self, source: Source, case: Case) -> str:
        """The process that a case goes to."""
        places = self.places(source, case)
        return next(self.turns.setdefault(places, cycle(places)))
