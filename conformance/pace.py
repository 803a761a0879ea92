"""How much of what is left a role is still asked: one that takes its time is asked less.

A loader whose workers take seconds to start would else be examined for hours.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from conformance.candidate import Source

T = TypeVar("T")

PATIENCE = 8.0
"""Small cases of a role may together take so often what the drawing for one property may."""

THINNING, THINNINGS_MAX = 8, 4
"""Each time that the patience ends only one of so many is left of what is still asked."""

Role = tuple[Source, str]


class Pace:
    """What the small cases of each role have taken so far.

    patience_s: seconds after which one of eight is asked, twice of them one of 64, and so on.
    """

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s
        self.spent_s: dict[Role, float] = collections.defaultdict(float)

    def timed(self, role: Role, answers: Iterable[T]) -> Iterator[T]:
        """The same answers; the time that each is waited for counts."""
        clock = time.monotonic
        began = clock()
        for answer in answers:
            self.spent_s[role] += clock() - began
            yield answer
            began = clock()

    def asks(self, role: Role) -> Callable[[int], bool]:
        """Whether the case at a place is still asked: of each scenario at least the first two."""
        return partial(self._asks, role)

    def _asks(self, role: Role, place: int) -> bool:
        return place < 2 or (place - 1) % self.stride(role) == 0

    def stride(self, role: Role) -> int:
        """One of how many is still asked."""
        ended = int(self.spent_s[role] / self.patience_s)
        return int(THINNING ** min(THINNINGS_MAX, ended))
