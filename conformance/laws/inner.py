"""What inner samplers of a case yield, as a trace holds it: numbers, and kinds of what is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.recipes import EPOCHED, Probe, Role, Values
from conformance.trace import UNREADABLE, Items

Numbers = NDArray[np.int64]


def numbers(items: Iterable[Any]) -> Numbers:
    """Items as a trace holds them: what is no whole number is `UNREADABLE`."""
    found = [int(item) if isinstance(item, int) else UNREADABLE for item in items]
    return np.array(found, dtype=np.int64)


def retyped(inner: Any, *found: Items, count: int | None = None) -> str:
    """A type that items have and the first `count` of the inner list have not, or the reverse.

    "" if there is none. Asked only where the list holds more than ints.
    """
    known = {type(item).__name__ for item in inner.items} if isinstance(inner, Values) else {"int"}
    if known == {"int"}:
        return ""
    got = {kind for items in found for kind in items.kinds}
    lost = {type(item).__name__ for item in inner.items[:count]} - got
    return min(got - known, default="") or min(lost, default="")


ORDERS: dict[str, Callable[[int], Numbers]] = {
    "Counting": np.arange,
    "Unsized": np.arange,
    "Lying": np.arange,
    "Spent": np.arange,
    "Descending": lambda count: np.arange(count)[::-1],
    "Posing": lambda count: np.arange(count)[::-1],
    "Sourced": lambda count: np.arange(count)[::-1],
    "Doubling": lambda count: np.arange(count) // 2,
    "Pairs": lambda count: np.full(count, UNREADABLE, dtype=np.int64),
    "SequentialSampler": np.arange,
    "BatchSampler": lambda count: np.full(count, UNREADABLE, dtype=np.int64),
}
"""What each inner sampler yields, whatever the pass; a list is no whole number."""


def inner_pass(inner: Any, count: int, epoch: Any = None, ordinal: int = 0) -> Numbers:
    """What a pass over `count` inner items yields, for random samplers up to its order."""
    if isinstance(inner, Values):
        return numbers(inner.items)
    places = np.arange(count)
    if isinstance(inner, Role) or inner.name == "Pairs":  # batches are known by their places
        return places
    if inner.name in EPOCHED:
        return np.asarray((count - 1 - places + int(epoch or 0)) % max(1, count))
    if inner.name == "Growing":
        return np.arange(count + int(epoch or 0)) % max(1, count)
    if inner.name == "Turning":
        return np.asarray((places + ordinal) % max(1, count))
    return ORDERS.get(inner.name, np.arange)(count)


def is_ordered(inner: Any) -> bool:
    """Whether the order of the inner pass is known, not its multiset alone."""
    if isinstance(inner, Role):
        return inner.name == "SequentialSampler"
    return isinstance(inner, Values) or not inner.name.endswith("Random")


def turns(inner: Any, count: int) -> list[Numbers]:
    """The passes that a view of `count` items may hold; when it draws a new one is free."""
    number = count if isinstance(inner, Probe) and inner.name == "Turning" else 1
    return [inner_pass(inner, count, ordinal=turn) for turn in range(max(1, number))]
