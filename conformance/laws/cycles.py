"""Exact tests of the cycles of a shuffle, in which the way that it was made leaves traces.

Who swaps each item with an earlier one, and never with itself, makes orders of one cycle only
(Sattolo, Information Processing Letters 22, 1986), and who swaps so many times in each pass makes
orders of one parity. Beyond a few items no count of indices at places shows it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation
from conformance.laws.tails import ALPHA, first_unlikely

Rows = NDArray[np.int64]

SHARE = 4
"""A fourth of ALPHA is enough for what so many passes show at all."""


def cyclic(rows: Rows, n: int) -> Violation | None:
    """Shuffles of [0, n), one row each: how many move every item, are one cycle, and are even."""
    passes, every = len(rows), np.arange(n)
    if passes * math.log(max(n, 1)) < -math.log(ALPHA) or rows.shape[1] != n:
        return None  # even if all of them were one cycle, it might be chance
    if (np.sort(rows, axis=1) != every).any():
        return None
    number = _cycles(rows)
    told = {
        "no index is at its own place": ((rows != every).all(axis=1), _moved_chance(n)),
        "the order is one cycle": (number == 1, 1 / n),
        "the order is an even permutation": ((n - number) % 2 == 0, 0.5),
    }
    counts = [int(inside.sum()) for inside, _ in told.values()]
    chances = [chance for _, chance in told.values()]
    cell = first_unlikely(counts, passes, chances, looks=SHARE)
    if cell is None:
        return None
    what, count = [*told][cell[0]], counts[cell[0]]
    wanted = f"expected {passes * chances[cell[0]]:.1f} (n = {n})"
    return Violation("not-uniform", f"{what} in {count} passes of {passes}; {wanted}")


def _cycles(rows: Rows) -> NDArray[np.int64]:
    """How many cycles each row has: each index learns of the least in its cycle, by steps that are
    twice as long each time."""
    every = np.arange(rows.shape[1])
    least, step = np.minimum(every, rows), rows
    for _ in range(rows.shape[1].bit_length()):
        least = np.minimum(least, np.take_along_axis(least, step, axis=1))
        step = np.take_along_axis(step, step, axis=1)
    return np.asarray((least == every).sum(axis=1))


def _moved_chance(n: int) -> float:
    """The chance that a shuffle leaves none of n items where it was."""
    return math.fsum((1 - 2 * (k % 2)) / math.factorial(k) for k in range(min(n, 20) + 1))
