"""The exact statistical tests of throws: draws with replacement, each for itself.

As in `statistics.py`, one test spends `ALPHA`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, require
from conformance.laws.statistics import SHORT, grains, in_parts, part, places
from conformance.laws.tails import ALPHA, first_unlikely

FEW = 30
"""Of fewer passes it is not asked how they vary."""

WINDOWS = (0.0, 0.3, 1.0, 3.0)
"""Half widths of windows about a mean, in standard deviations: narrow ones show what varies too
little or too much, a wide one what strays."""


def independent_draws(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Each item is an independent throw of a fair die with `n` faces."""
    require(rows.min() >= 0 and rows.max() < n)
    for judge in (_faces, _remainders, _spread, _steps, _repeats):
        found = judge(rows, n)
        if found is not None:
            return found
    return None


def _faces(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Each face (or each part of them) as often as its share, and at each place of many passes."""
    for parts in grains(n, rows.size):
        widths, what = in_parts(rows, n, parts)
        counts = np.bincount(what.reshape(-1), minlength=parts)
        cell = first_unlikely(counts, rows.size, widths / n)
        if cell is not None:
            share = rows.size * widths[cell] / n
            saw = f"{part(cell[0], parts, n)} comes {counts[cell]} times of {rows.size}"
            return Violation("not-uniform", f"{saw}; expected {share:.0f}")
    return places(rows, n) if n <= SHORT and len(rows) >= 20 * n else None


def _remainders(rows: NDArray[np.int64], n: int) -> Violation | None:
    """Of many faces, those that leave the same remainder as often as their share."""
    for by in (2, 3, 4, 7, SHORT) if n > SHORT else ():
        counts = np.bincount(rows.reshape(-1) % by, minlength=by)
        shares = (n - np.arange(by) + by - 1) // by
        cell = first_unlikely(counts, rows.size, shares / n)
        if cell is not None:
            saw = f"{counts[cell]} of {rows.size} draws leave {cell[0]} modulo {by}"
            return Violation("not-uniform", f"{saw}; expected {rows.size / by:.0f} (n = {n})")
    return None


def _spread(rows: NDArray[np.int64], n: int) -> Violation | None:
    """How often a part comes in a pass varies as much as among independent draws, not less or more.

    Of many passes, those are counted in which a part comes about as often as on average. Draws in
    pairs i and n - 1 - i are uniform, and half of each pair lies in each half of [0, n).
    """
    passes, count = rows.shape
    for parts in sorted({min(n, 2), min(n, 8)}) if passes >= FEW and count > 1 and n > 1 else ():
        widths, what = in_parts(rows, n, parts)
        for name, share, came in (
            *((part(k, parts, n), widths[k] / n, what == k) for k in range(parts)),
            ("an even index", (n + 1) // 2 / n, rows % 2 == 0),
        ):
            found = _varies(came.sum(axis=1), count, share, parts + 1)
            if found is not None:
                return Violation("draws-depend", f"{name} {found}")
    return None


def not_gathered(rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Violation | None:
    """Draws by weight: a group of indices comes no more together than independent draws would.

    Passes may vary less. Draws in pairs u and 1 - u come both from the ends, or from the middle.
    """
    passes, count = rows.shape
    share = weights / weights.sum()
    middle = np.abs(np.cumsum(share) - share / 2 - 0.5) < 0.25
    found = {"the middle half": middle, "the first half": np.cumsum(share) - share / 2 < 0.5}
    for name, group in found.items() if passes >= FEW and count > 1 else ():
        if not 0.1 < share[group].sum() < 0.9:
            continue
        came = group[rows].sum(axis=1)
        varies = _varies(came, count, float(share[group].sum()), len(found), less=True)
        if varies is not None:
            return Violation("draws-gathered", f"{name} of the weights {varies}")
    return None


def _varies(
    counts: NDArray[np.int64], draws: int, share: float, looks: int, less: bool = False
) -> str | None:
    """Compare counts, one of each pass, with windows about the mean of Binomial(draws, share).

    less: passes may vary less, so that more of them lie in a window.
    """
    mean, deviation = draws * share, math.sqrt(draws * share * (1 - share))
    spans = [
        (math.floor(mean - width * deviation), math.ceil(mean + width * deviation))
        for width in WINDOWS
    ]
    chances = np.array([min(1.0, _within(*span, draws, share)) for span in spans])
    inside = np.array([np.sum((counts >= low) & (counts <= high)) for low, high in spans])
    if less:
        inside = np.minimum(inside, np.ceil(len(counts) * chances).astype(int))
    cell = first_unlikely(inside, len(counts), chances, looks)
    if cell is None:
        return None
    (low, high), came = spans[cell[0]], inside[cell[0]]
    wanted = f"expected {len(counts) * chances[cell[0]]:.0f}"
    return f"comes {low} to {high} times in {came} of {len(counts)} passes of {draws}; {wanted}"


def _within(low: int, high: int, draws: int, share: float) -> float:
    """The chance that Binomial(draws, share) lies in [low, high]."""
    whole = math.lgamma(draws + 1)
    return math.fsum(
        math.exp(
            whole - math.lgamma(k + 1) - math.lgamma(draws - k + 1)
            + k * math.log(share) + (draws - k) * math.log1p(-share)
        )
        for k in range(max(0, low), min(draws, high) + 1)
    )  # fmt: skip


def _steps(rows: NDArray[np.int64], n: int) -> Violation | None:
    """The steps from one draw to a later one, modulo n, are as uniform and independent."""
    draws, parts = rows.reshape(-1), min(n, SHORT)
    for lag in sorted({1, 2, 3, 32, n, rows.shape[1]}):
        if lag >= len(draws):
            continue
        steps = (draws[lag:] - draws[:-lag]) % n
        widths, what = in_parts(steps, n, parts)
        counts = np.append(np.bincount(what, minlength=parts), (steps == 0).sum())
        cell = first_unlikely(counts, len(steps), np.append(widths, 1) / n)
        if cell is not None:
            of = "no step" if cell[0] == parts else f"a step of part {cell[0]} of {parts}"
            saw = f"from a draw to that {lag} later comes {of} {counts[cell]} times of {len(steps)}"
            return Violation("draws-depend", saw)
    return None


def _repeats(rows: NDArray[np.int64], n: int) -> Violation | None:
    """How many different faces come at all. One draw changes that by at most one: McDiarmid."""
    count = rows.size
    expected = n * -math.expm1(count * math.log1p(-1 / n)) if n > 1 else 1.0
    seen = len(np.unique(rows))
    if abs(seen - expected) < math.sqrt(count * math.log(2 / ALPHA) / 2):
        return None
    saw = f"{count} draws give {seen} different indices of n = {n}; expected {expected:.0f}"
    return Violation("draws-depend", saw)
