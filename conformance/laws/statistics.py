"""Exact statistical tests with a stated false-alarm bound.

Every count that is tested has, for a right sampler, an exactly known distribution, and one test
spends `ALPHA` = 5e-13 (`tails.py`). A run makes fewer than 2,000 such tests (tests/ counts them):
a right sampler is accused with a probability below 1e-9 a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Violation, require
from conformance.laws.tails import first_unlikely, first_unlikely_drawn
from conformance.trace import Items, RankTrace, Trace

SHORT = 64
"""Up to this length each index is counted by itself, beyond it in parts of [0, n)."""

OFTEN = 100
"""Of so many draws for each index, each is counted by itself at any length."""


def table(trace: Trace) -> NDArray[np.int64]:
    """The passes of `Passes` or `Epochs`, shape (passes, items of all ranks, round robin)."""
    require(trace.done)
    parts = [_rank_table(rank) for rank in trace]
    require(len({part.shape for part in parts}) == 1)
    return np.stack(parts, axis=2).reshape(len(parts[0]), -1)


def _rank_table(rank: RankTrace) -> NDArray[np.int64]:
    found = [
        event for event in rank.events
        if isinstance(event.operation, (op.Passes, op.Epochs)) and isinstance(event.value, Items)
    ]  # fmt: skip
    require(found and found[0].error is None)
    count = found[0].operation.count  # type: ignore[union-attr]
    values = found[0].value.values
    require(count and len(values) and len(values) % count == 0)
    return np.asarray(values).reshape(count, -1)


def uniform_blocks(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Shuffles, one row each: every index equally likely at every place, as is every order.

    A row may have any length: each block of `n` places is judged, the cut one too.

    Blocks of one pass may depend on each other, so only passes count as trials.
    """
    require(rows.min() >= 0 and rows.max() < n)
    for start in range(0, rows.shape[1], n):
        block = rows[:, start : start + n]
        found = _judge(block, n)(block, n)
        if found is not None:
            return found
    return None


def _judge(block: NDArray[np.int64], n: int) -> Callable[..., Violation | None]:
    """How blocks are judged: by each index, by passes together, or by each long pass."""
    few = _few_of_many if block.shape[1] <= SHORT else _long_blocks
    return _short_blocks if n <= SHORT else few


def _few_of_many(block: NDArray[np.int64], n: int) -> Violation | None:
    """Many passes over a few of many indices: at each place, each part of [0, n) by its share.

    A part of a table of hashes, as a set has one, is what leaves the same remainder.
    """
    for parts, told in ((2, "part {} of 2"), (16, "part {} of 16"), (16, "a remainder {} of 16")):
        widths, what = in_parts(block, n, parts)
        if told.startswith("a"):
            widths, what = np.bincount(np.arange(n) % parts), block % parts
        counts = np.stack([np.bincount(column, minlength=parts) for column in what.T])
        cell = first_unlikely(counts, len(block), widths / n)
        if cell is not None:
            place, kind = cell
            saw = f"{told.format(kind)} of [0, {n}) comes {counts[cell]} times of {len(block)}"
            wanted = len(block) * widths[kind] / n
            return Violation("not-uniform", f"{saw} at place {place}; expected {wanted:.0f}")
    return None


def _short_blocks(block: NDArray[np.int64], n: int) -> Violation | None:
    """Many short blocks: each index at each place, and up to n = 5 each order."""
    return places(block, n) or (_orders(block, n) if n <= 5 else None)


def places(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Every index equally likely at every place of a pass."""
    counts = np.stack([np.bincount(column, minlength=n) for column in rows.T])
    cell = first_unlikely(counts, len(rows), 1 / n)
    if cell is None:
        return None
    saw = f"index {cell[1]} comes {counts[cell]} times of {len(rows)} at place {cell[0]}"
    return Violation("not-uniform", f"{saw}; expected {len(rows) / n:.0f}")


def _orders(block: NDArray[np.int64], n: int) -> Violation | None:
    """Every order of n <= 5 indices (or of some of them) equally likely."""
    codes = block @ (n ** np.arange(block.shape[1]))
    seen, counts = np.unique(codes, return_counts=True)
    every = math.perm(n, block.shape[1])
    counts = np.concatenate([counts, np.zeros(max(0, every - len(seen)), dtype=counts.dtype)])
    cell = first_unlikely(counts, len(block), 1 / every)
    if cell is None:
        return None
    saw = (
        f"an order comes {counts[cell[0]]} times of {len(block)}; expected {len(block) / every:.0f}"
    )
    return Violation("orders-not-uniform", saw)


def _long_blocks(block: NDArray[np.int64], n: int) -> Violation | None:
    """Few long blocks, one by one."""
    found = (large_shuffle(row, n=n) for row in block)
    return next((violation for violation in found if violation is not None), None)


def large_shuffle(order: NDArray[np.int64], n: int = 0) -> Violation | None:
    """One long permutation of [0, n), or its first places: is everything spread everywhere?"""
    found = (_crowded(order, n or len(order), parts) for parts in (2, 4, 16))
    return next((violation for violation in found if violation is not None), None)


def _crowded(order: NDArray[np.int64], n: int, parts: int) -> Violation | None:
    """How many indices of each part of [0, n) lie in each part of the pass."""
    widths, what = in_parts(order, n, parts)
    cell = crowd(what, widths, parts)
    if cell is None:
        return None
    saw = f"{cell.count} indices of part {cell.kind} of {parts} lie in part {cell.place}"
    return Violation("shuffled-locally", f"{saw} of the pass; expected {cell.wanted:.0f} (n = {n})")


@dataclass(frozen=True)
class Cell:
    """How many items of a kind lie in one part of a pass, and how many were expected."""

    place: int
    kind: int
    count: int
    wanted: float


def crowd(what: NDArray[np.int64], widths: NDArray[np.int64], parts: int) -> Cell | None:
    """The kinds of items that were drawn from all, `widths` of each: hypergeometric in each part.

    Returns the part of the pass that no shuffle would give. Spends a third of ALPHA.
    """
    lengths, where = in_parts(np.arange(len(what)), len(what), parts)
    counts = np.zeros((parts, len(widths)), dtype=np.int64)
    np.add.at(counts, (where, what), 1)
    total = int(widths.sum())
    cell = first_unlikely_drawn(counts, total, widths[None, :], lengths[:, None], looks=3)
    if cell is None:
        return None
    place, kind = cell
    return Cell(place, kind, int(counts[place, kind]), lengths[place] * widths[kind] / total)


def in_parts(
    values: NDArray[np.int64], n: int, parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[0, n) cut into `parts`: how wide each is, and in which of them each value lies."""
    edges = np.arange(parts + 1) * n // parts
    return np.diff(edges), np.searchsorted(edges, values, side="right") - 1


def grains(n: int, draws: int) -> list[int]:
    """In how many parts [0, n) is looked at: a few show a slope, many a single index."""
    return sorted({min(n, parts) for parts in (2, 8, n if draws >= OFTEN * n else SHORT)})


def part(cell: int, parts: int, n: int) -> str:
    return f"index {cell}" if parts == n else f"part {cell} of {parts}"
