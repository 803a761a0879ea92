"""Exact tests of neighbours in a shuffle: which of two comes first, and who stays with whom.

Items may be spread evenly over a pass and still keep their order wherever a sort found two keys
equal, or come in small groups that were never torn apart.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation
from conformance.laws.statistics import SHORT
from conformance.laws.tails import ALPHA, first_unlikely
from conformance.laws.views import shown

Rows = NDArray[np.int64]

LAGS = (1, 2, 3)
"""How far apart two items of a long shuffle are compared."""

TIES = ", as where equal sort keys leave items in order"

TOGETHER = 16
"""So many neighbours that stay neighbours are no accident: 16! > 2e13."""


def neighbours(rows: Rows, n: int) -> Violation | None:
    """Shuffles of [0, n), one row each: of any two items either is as likely to come first."""
    for start in range(0, rows.shape[1], n):
        block = rows[:, start : start + n]
        found = _short(block, n) if block.shape[1] <= SHORT else _long(block)
        if found is not None:
            return found
    return None


def _short(block: Rows, n: int) -> Violation | None:
    """Many short blocks: the items at two places, and the places of two indices."""
    if min(block.shape) < 2:
        return None
    found = _pairs(block, "the item at place {} is below that at place {}")
    if found is None and block.shape[1] == n:
        found = _pairs(np.argsort(block, axis=1), "index {} comes before index {}")
    return found or _ascents(block)


def _pairs(block: Rows, told: str) -> Violation | None:
    """For each pair of columns, how often the first holds less: a fair coin for each row."""
    width = block.shape[1]
    less = np.concatenate(
        [(block[:, [at]] < block[:, at + 1 :]).sum(axis=0) for at in range(width - 1)]
    )
    cell = first_unlikely(less, len(block), 0.5)
    if cell is None:
        return None
    one, other = (places[cell[0]] for places in np.triu_indices(width, 1))
    saw = f"{told.format(one, other)} {less[cell]} times of {len(block)}"
    return Violation("order-kept", f"{saw}; expected {len(block) / 2:.0f}")


def _ascents(block: Rows) -> Violation | None:
    """How often all passes together ascend, from one place to the next.

    Eulerian polynomials have real roots alone (Frobenius), so the ascents of m items in uniform
    order are distributed as a sum of coins, of variance (m + 1) / 12: Bernstein's inequality.
    """
    ups, steps = int((np.diff(block, axis=1) > 0).sum()), np.diff(block, axis=1).size
    off, variance = abs(ups - steps / 2), len(block) * (block.shape[1] + 1) / 12
    if off**2 < 2 * (variance + off / 3) * math.log(2 / ALPHA):
        return None
    saw = f"{ups} of {steps} items are below the next; expected {steps / 2:.0f}"
    return Violation("order-kept", f"{saw}{TIES if ups * 2 > steps else ''}")


def _long(block: Rows) -> Violation | None:
    """Few long blocks, one by one: the more frequent of the two faults is told."""
    for row in block:
        rising, together = _rising(row), _together(row)
        if rising is not None or together >= TOGETHER:
            return rising[1] if rising and rising[0] > together else _stayed(row, together)
    return None


def _rising(order: Rows) -> tuple[int, Violation] | None:
    """How often one long shuffle rises, from item to item and from index to index.

    The ascents of m items in uniform order are distributed as the whole part of a sum of m uniform
    numbers, of which each is sub-Gaussian with 1/12: P(off by t) <= 2 exp(-6 t^2 / m). Items `lag`
    apart are `lag` such orders, independent of each other. Returns by how many it is off, too.
    """
    places, count = np.argsort(order), len(order)
    told = (("items are below that {} later", order), ("items come before the {}. greater", places))
    spread = math.sqrt(count * math.log(2 * len(told) * len(LAGS) / ALPHA) / 6)
    for (what, items), lag in itertools.product(told, LAGS):
        ups = int((items[lag:] > items[:-lag]).sum())
        if not count / 2 - lag - spread < ups < count / 2 + spread:
            saw = f"{ups} of {count - lag} {what.format(lag)}; expected {(count - lag) / 2:.0f}"
            ties = TIES if ups > count / 2 else ""
            return abs(ups - count // 2), Violation("order-kept", f"{saw}{ties}: {shown(order)}")
    return None


def _together(order: Rows) -> int:
    """How many neighbours i, i+1 stay neighbours: P(at least k) <= 1/k!.

    For the k-th factorial moment of their number is at most 1.
    """
    return int((np.diff(order) == 1).sum())


def _stayed(order: Rows, together: int) -> Violation:
    saw = f"{together} pairs i, i+1 stay neighbours (expected 1): {shown(order)}"
    return Violation("shuffled-in-blocks", saw)
