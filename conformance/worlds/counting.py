"""Inner samplers that count what is asked of them: what all others derive from.

They derive from torch's Sampler, as a candidate may ask of what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import Sampler


class Counting(Sampler[Any]):
    """0..count-1 in order; counts what is asked of it."""

    def __init__(self, count: int, at: int = 0) -> None:
        self.count, self.at = count, at
        self.seen = {"draws": 0, "passes": 0, "after_end": 0}

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        return _CountingIterator(self)

    def __len__(self) -> int:
        return self.count

    def item(self, place: int) -> int:
        return place

    def opened(self) -> Callable[[int], Any]:
        """What gives the items of the pass that begins."""
        return self.item

    def end(self) -> int:
        """The place at which a pass ends."""
        return self.count


class _CountingIterator:
    """Reports every call of next(), those after the end apart."""

    def __init__(self, owner: Counting) -> None:
        self.owner, self.place, self.ended = owner, 0, False
        self.item = owner.opened()

    def __iter__(self) -> _CountingIterator:
        return self

    def __next__(self) -> int:
        if self.ended:
            self.owner.seen["after_end"] += 1
            raise StopIteration
        if self.place >= self.owner.end():
            self.ended = True
            raise StopIteration
        self.owner.seen["draws"] += 1
        self.place += 1
        found: int = self.item(self.place - 1)
        return found


class Unsized(Sampler[Any]):
    """`count` items in order, and no `__len__`."""

    def __init__(self, count: int, at: int = 0) -> None:
        self.count = count
        self.seen = {"draws": 0, "passes": 0}

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        for place in range(self.count):
            self.seen["draws"] += 1
            yield place
