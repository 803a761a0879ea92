"""Exact statistical tests with a stated false-alarm bound.

Every count that is tested has, for a right sampler, an exactly known binomial distribution; each is
compared with its exact tails, so no approximation enters. One test spends `ALPHA` = 1e-12 over all
of its cells (Bonferroni). A run makes fewer than 1,000 such tests (tests/ counts them), so a right
sampler is accused with a probability below 1e-9 a run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, hypergeom

from conformance import operations as op
from conformance.laws import Violation, require
from conformance.laws.views import shown, size
from conformance.trace import Items, Trace

ALPHA = 1e-12


def tail(counts: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> NDArray[np.float64]:
    """Twice the smaller exact tail of Binomial(trials, chance), per cell, at most 1."""
    below = binom.cdf(counts, trials, chance)
    above = binom.sf(np.asarray(counts) - 1, trials, chance)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def first_unlikely(counts: Any, trials: ArrayLike, chance: ArrayLike) -> tuple[int, ...] | None:
    """The cell that no right sampler would give, or None. Spends ALPHA over all cells."""
    chances = tail(counts, trials, chance)
    if not chances.size or chances.min() >= ALPHA / chances.size:
        return None
    return tuple(int(i) for i in np.unravel_index(int(chances.argmin()), chances.shape))


def table(trace: Trace) -> NDArray[np.int64]:
    """The passes of `Passes`, `Epochs` or `Iterate`s of rank 0, shape (passes, items)."""
    require(trace.done)
    found = [
        event for event in trace.ranks[0].events
        if isinstance(event.operation, (op.Passes, op.Epochs)) and isinstance(event.value, Items)
    ]  # fmt: skip
    require(found and found[0].error is None)
    count = found[0].operation.count  # type: ignore[union-attr]
    values = found[0].value.values
    require(count and len(values) and len(values) % count == 0)
    return np.asarray(values).reshape(count, -1)


def uniform_permutations(trace: Trace) -> Violation | None:
    """Each row is a permutation: every index equally likely at every place, every order likewise."""
    rows = table(trace)
    n = size(trace)
    if rows.shape[1] != n or rows.min() < 0 or rows.max() >= n:
        require(False)
    if n > 64:
        return large_shuffle(rows[0])
    counts = np.stack([np.bincount(column, minlength=n) for column in rows.T])
    cell = first_unlikely(counts, len(rows), 1 / n)
    if cell is not None:
        place, index = cell
        saw = (
            f"index {index} comes {counts[cell]} times of {len(rows)} at place {place}; "
            f"expected {len(rows) / n:.0f}"
        )
        return Violation("not-uniform", saw)
    return _orders(rows, n) if n <= 5 else None


def _orders(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Every permutation of n <= 5 equally likely."""
    codes = rows @ (n ** np.arange(n))
    seen, counts = np.unique(codes, return_counts=True)
    every = math.factorial(n)
    counts = np.concatenate([counts, np.zeros(max(0, every - len(seen)), dtype=counts.dtype)])
    cell = first_unlikely(counts, len(rows), 1 / every)
    if cell is None:
        return None
    saw = f"an order comes {counts[cell[0]]} times of {len(rows)}; expected {len(rows) / every:.0f}"
    return Violation("orders-not-uniform", saw)


def large_shuffle(order: NDArray[np.int64], parts: int = 16) -> Violation | None:
    """One long permutation: how many indices of each part of [0, n) lie in each part of the pass.

    Each count is hypergeometric. In addition the number of neighbours i, i+1 that stay neighbours:
    its k-th factorial moment is at most 1, so P(at least k) <= 1/k! (16! > 2e13).
    """
    n = len(order)
    edges = np.arange(parts + 1) * n // parts
    widths = np.diff(edges)
    where = np.searchsorted(edges, np.arange(n), side="right") - 1
    what = np.searchsorted(edges, order, side="right") - 1
    counts = np.zeros((parts, parts), dtype=np.int64)
    np.add.at(counts, (where, what), 1)
    draws, good = widths[:, None], widths[None, :]
    below = hypergeom.cdf(counts, n, good, draws)
    above = hypergeom.sf(counts - 1, n, good, draws)
    chances = 2 * np.minimum(below, above)
    if chances.min() < ALPHA / chances.size:
        place, value = np.unravel_index(int(chances.argmin()), chances.shape)
        saw = f"{counts[place, value]} indices of part {value} lie in part {place} of the pass"
        return Violation("shuffled-locally", f"{saw}, expected {n / parts**2:.0f} (n = {n})")
    together = int((np.diff(order) == 1).sum())
    if together >= 16:
        saw = f"{together} pairs i, i+1 stay neighbours (expected 1): {shown(order)}"
        return Violation("shuffled-in-blocks", saw)
    return None
