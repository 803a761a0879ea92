"""Exact tests of what one order or draw may tell about another, and of places that never change.

A shuffle may be uniform at every place and yet be no shuffle: the order of the pass before turned
round, one permutation again and again with another start, every index a fixed step after the last.
Each test spends `ALPHA`, as those of `statistics.py` do, or has a bound of its own that is smaller.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, require
from conformance.laws.cycles import cyclic
from conformance.laws.neighbours import neighbours
from conformance.laws.statistics import SHORT, uniform_blocks
from conformance.laws.tails import ALPHA, first_unlikely
from conformance.laws.views import shown

Rows = NDArray[np.int64]

STEPS = 24
"""So many equal steps are no accident: P(k steps of one size) <= 2 n / k!, and 24! > 6e23."""


END = 8
"""So many items at an end of a long pass are seldom all of one half."""


def shuffled(rows: Rows, n: int) -> Violation | None:
    """Shuffles, one row each, in order: uniform each by itself, and none tells of the next."""
    first = rows[:, :n]
    found = repeated(rows, n) or uniform_blocks(rows, n) or even_steps(first, n)
    found = found or neighbours(rows, n) or one_sided(first, n) or cyclic(first, n)
    return found or unrelated(rows, n)


def repeated(rows: Rows, n: int) -> Violation | None:
    """Two passes with one order, where there are so many orders that none can come again."""
    block, pairs = rows[:, :n], math.comb(len(rows), 2)
    rest = n - block.shape[1]
    if pairs and math.log(pairs) - math.lgamma(n + 1) + math.lgamma(rest + 1) > math.log(ALPHA):
        return None
    first: dict[bytes, int] = {}  # np.unique takes seconds for a few long rows
    befores = [first.setdefault(row.tobytes(), number) for number, row in enumerate(block)]
    again = next((number for number, before in enumerate(befores) if before != number), None)
    if again is None:
        return None
    saw = f"{len(block)} passes have {len(first)} different orders (n = {n})"
    return Violation("passes-repeat", f"{saw}: pass {again + 1} is pass {befores[again] + 1} again")


def one_sided(rows: Rows, n: int) -> Violation | None:
    """Long passes of which the first or the last items are all of one half, or of one parity: as
    where two halves are merged by coins, and the rest of one follows.

    Of h indices among n, the k items at some places are all of them with a chance of
    C(h, k) / C(n, k); each pass is a trial.
    """
    if n <= SHORT or rows.shape[1] <= END:
        return None
    halves = {"half": (rows < n // 2, n // 2), "parity": (rows % 2 == 0, (n + 1) // 2)}
    cells, counts, chances = list[str](), list[int](), list[float]()
    for name, (inside, kinds) in halves.items():
        for place, end in (("first", inside[:, :END]), ("last", inside[:, -END:])):
            cells.append(f"the {place} {END} items are all of one {name}")
            counts.append(int((end.all(axis=1) | ~end.any(axis=1)).sum()))
            chances.append(_all_of(kinds, n) + _all_of(n - kinds, n))
    cell = first_unlikely(counts, len(rows), chances)
    if cell is None:
        return None
    saw = f"{cells[cell[0]]} in {counts[cell[0]]} passes of {len(rows)}"
    wanted = f"expected {len(rows) * chances[cell[0]]:.1f} (n = {n})"
    return Violation("not-uniform", f"{saw}; {wanted}")


def _all_of(kinds: int, n: int) -> float:
    """The chance that `END` of n items are all among so many of them."""
    return math.comb(kinds, END) / math.comb(n, END)


def unrelated(rows: Rows, n: int) -> Violation | None:
    """The shuffles of passes in order, one row each: the first n places are news every time.

    Where two passes are uniform and independent, the places that the items of the later one had in
    the earlier are uniform as well, and independent from pass to pass.
    """
    require(rows.min() >= 0 and rows.max() < n)
    block = rows[:, :n]
    if len(rows) > 1 and block.shape[1] == n and (np.sort(block, axis=1) == np.arange(n)).all():
        places = _places_in(block[:-1], block[1:])
        found = uniform_blocks(places, n) or neighbours(places, n)
        if found is not None:
            saw = f"a pass tells of the next: {found.saw} (index: its place before)"
            return Violation("orders-related", saw)
    return _left_over(block, n) or _unmoved(block, n)


def _left_over(rows: Rows, n: int) -> Violation | None:
    """Passes over k of n items: what comes at a place was in the pass before with a chance of k/n.

    Whatever that pass was, so the counts of one place are binomial.
    """
    pairs, count = len(rows) - 1, rows.shape[1]
    if pairs < 1 or count >= n or count > SHORT:
        return None
    again = (rows[1:, :, None] == rows[:-1, None, :]).any(axis=2).sum(axis=0)
    place = first_unlikely(again, pairs, count / n)
    if place is None:
        return None
    saw = f"item {place[0]} of a pass was in the one before {again[place]} times of {pairs}"
    return Violation("orders-related", f"{saw}; expected {pairs * count / n:.0f} (n = {n})")


def _places_in(before: Rows, after: Rows) -> Rows:
    """The places that the items of `after` have in `before`, both of shape (passes, items)."""
    where = np.argsort(before, axis=1, kind="stable")
    return np.take_along_axis(where, after, axis=1)


def _unmoved(rows: Rows, n: int) -> Violation | None:
    """An index with one place in every pass: n^2 pairs at most, each with a chance n^-passes."""
    passes = len(rows)
    if n < 2 or (passes - 2) * math.log(n) < -math.log(ALPHA):
        return None
    fixed = np.flatnonzero((rows == rows[0]).all(axis=0))
    if not len(fixed):
        return None
    saw = f"index {rows[0, fixed[0]]} is at place {fixed[0]} in all of {passes} passes (n = {n})"
    return Violation("never-moved", saw)


def even_steps(rows: Rows, n: int) -> Violation | None:
    """Steps of one size, modulo n, from each item to the next."""
    if rows.shape[1] <= STEPS:
        return None
    for row in rows if n > SHORT else rows[: 50 * SHORT]:
        times = np.bincount(np.diff(row) % n, minlength=n)
        times[1] = 0 if n > SHORT else times[1]  # `neighbours` tells of those
        if times.max() >= STEPS:
            saw = f"{times.max()} of {len(row)} items are {times.argmax()} after the one before"
            return Violation("even-steps", f"{saw}, modulo n: {shown(row)}")
    return None


def not_repeated(rows: Rows, weights: NDArray[np.float64]) -> Violation | None:
    """Draws by weight, a row for each pass: after a draw, its index is no likelier than before.

    Pairs that share no draw are counted, so that the chance of too many equal ones is binomial.
    Fewer equal ones are no violation: draws may be spread more evenly than independent ones.
    """
    chance = float(((weights / weights.sum()) ** 2).sum())
    draws = rows.reshape(-1)
    for lag in sorted({1, 2, 32, rows.shape[1]}):
        pairs = draws[: len(draws) // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
        equal, count = int((pairs[:, 0] == pairs[:, 1]).sum()), pairs.size // 2
        if equal > count * chance and first_unlikely([equal], count, chance) is not None:
            saw = f"a draw comes again {lag} later {equal} times of {count}"
            return Violation("draws-repeated", f"{saw}; expected {count * chance:.0f}")
    return None
