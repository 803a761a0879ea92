"""Exact tails of counts, and the first one that no right sampler would give.

Every count has, for a right sampler, an exactly known distribution; each is compared with its exact
tails, so no approximation enters. One test spends `ALPHA` over all of its cells (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

ALPHA = 5e-13

Cell = tuple[int, ...]
Chances = NDArray[np.float64]

PLAIN = 16.0
"""Four standard deviations, squared. A tail of t draws is at least exp(-KL) / sqrt(8 t), and KL is
at most the squared deviation: within four of them none of 10^9 draws comes below ALPHA."""


def first_unlikely(
    counts: ArrayLike, trials: ArrayLike, chance: ArrayLike, looks: int = 1
) -> Cell | None:
    """The cell that no right sampler would give, or None, of counts as Binomial(trials, chance).

    Spends ALPHA over all cells of so many looks.
    """
    mean = np.asarray(trials) * np.asarray(chance)
    variance = mean * (1 - np.asarray(chance))
    return _first(counts, mean, variance, lambda: tail(counts, trials, chance), looks)


def first_unlikely_drawn(
    counts: ArrayLike, total: int, kinds: ArrayLike, drawn: ArrayLike, looks: int = 1
) -> Cell | None:
    """The same of counts of a kind, of `kinds` among `total`, of which `drawn` are taken out."""
    share, taken = np.asarray(kinds) / total, np.asarray(drawn)
    mean = taken * share
    variance = mean * (1 - share) * (total - taken) / max(total - 1, 1)

    def exact() -> Chances:
        from scipy.stats import hypergeom  # takes a second, and most counts do without

        below = hypergeom.cdf(counts, total, kinds, drawn)
        return _twice(below, hypergeom.sf(np.asarray(counts) - 1, total, kinds, drawn))

    return _first(counts, mean, variance, exact, looks)


def tail(counts: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Chances:
    """Twice the smaller exact tail of Binomial(trials, chance), per cell, at most 1.

    They are incomplete beta functions. (DLMF 8.17.5. `scipy.stats` has them by name, and takes a
    second to import.)
    """
    from scipy.special import betainc, betaincc

    some, left = np.asarray(counts), np.asarray(trials) - np.asarray(counts)
    below = np.where(left > 0, betaincc(some + 1, np.maximum(left, 1), chance), 1.0)
    above = np.where(some > 0, betainc(np.maximum(some, 1), left + 1, chance), 1.0)
    return _twice(below, above)


def _twice(below: Chances, above: Chances) -> Chances:
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))


def _first(
    counts: ArrayLike, mean: Chances, variance: Chances, exact: Callable[[], Chances], looks: int
) -> Cell | None:
    """The least likely cell, if it is too unlikely; exact tails are slow, and most need none."""
    if ((np.asarray(counts) - mean) ** 2 <= PLAIN * variance).all():
        return None
    chances = exact()
    if not chances.size or chances.min() >= ALPHA / chances.size / looks:
        return None
    return tuple(int(i) for i in np.unravel_index(int(chances.argmin()), chances.shape))
