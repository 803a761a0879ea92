"""The small cases of one scenario, each carried out once for all clauses that look at it."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import count, islice
from operator import itemgetter
from typing import Generic, TypeVar

from conformance.case import Case
from conformance.trace import Trace

Pair = tuple[Case, Trace]

Places = Container[int]
"""Some of the places at which cases come."""

ALL = range(sys.maxsize)
"""Every place."""


T = TypeVar("T")


class Remembered(Generic[T]):
    """What an iterable gives; each is asked for once, when somebody first looks so far."""

    def __init__(self, given: Iterable[T]) -> None:
        self.left, self.known = iter(given), list[T]()

    def __iter__(self) -> Iterator[T]:
        for at in count():
            if at == len(self.known):
                self.known.extend(islice(self.left, 1))
            if at == len(self.known):
                return
            yield self.known[at]


class SmallCases:
    """The cases that `made` gives, in its order, and the traces of those that were carried out.

    carry: carries cases out, in order; gives each with what became of it, None if it cannot be
    placed anywhere. It may leave some out. asks: whether the case at a place is asked at all;
    `skipped` are the places of those that were not.
    """

    def __init__(
        self, made: Iterable[Case],
        carry: Callable[[Iterable[Case]], Iterator[tuple[Case, Pair | None]]],
        asks: Callable[[int], bool] = lambda place: True,
    ) -> None:  # fmt: skip
        self.made, self.carry, self.asks = Remembered(made), carry, asks
        self.found: dict[int, Pair | None] = {}
        self.skipped: set[int] = set()
        self.complete = False

    def at(self, places: Places = ALL) -> Iterator[Pair]:
        """The cases at these places, smallest first, with their traces."""
        known = sorted((at, pair) for at, pair in self.found.items() if at in places)
        new = self._new(places)
        for _, pair in heapq.merge(known, new, key=itemgetter(0)):
            if pair is not None:
                yield pair
        self.complete = self.complete or places == ALL

    def left(self, places: Places = ALL) -> Iterator[tuple[int, Case]]:
        """Those that nobody has asked for, with their places."""
        if not self.complete:
            end = places.stop if isinstance(places, range) else None
            made = islice(enumerate(self.made), end)
            new = ((at, case) for at, case in made if at in places and at not in self.found)
            yield from ((at, case) for at, case in new if self._asked(at))

    def _asked(self, at: int) -> bool:
        """Whether a place is asked, now that it would be its turn."""
        asked = self.asks(at)
        (self.skipped.discard if asked else self.skipped.add)(at)
        return asked

    def _new(self, places: Places) -> Iterator[tuple[int, Pair | None]]:
        """Those, carried out."""
        placed: dict[Case, int] = {}

        def asked() -> Iterator[Case]:
            for at, case in self.left(places):
                placed[case] = at
                yield case

        for case, pair in self.carry(asked()):
            self.found[placed[case]] = pair
            yield placed[case], pair
