"""Exact tests of draws by weight: index by index, part by part, and by how heavy they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, require
from conformance.laws.statistics import SHORT, grains, in_parts, part
from conformance.laws.tails import first_unlikely

MANY = 1 << 20
"""Of more weights numbers of 24 bits choose some more often than others."""


def by_weight(draws: NDArray[np.int64], weights: NDArray[np.float64]) -> Violation | None:
    """Each index (or each part of them) is drawn in proportion to its weight; of very many, those
    that leave the same remainder."""
    n = len(weights)
    require(len(draws) and draws.min() >= 0 and draws.max() < n)
    if n > MANY:
        return _by_remainder(draws, weights)
    for parts in grains(n, len(draws)):
        _, place = in_parts(np.arange(n), n, parts)
        cell = _by_group(draws, weights, place)
        if cell is not None:
            return Violation("wrong-frequency", f"{part(cell[0], parts, n)} comes {cell[1]}")
    return _by_level(draws, weights) if n > SHORT else None


def _by_remainder(draws: NDArray[np.int64], weights: NDArray[np.float64]) -> Violation | None:
    """Indices that leave the same remainder are drawn in proportion to their sum.

    Uniform numbers on a grid that is too coarse for many weights show in this alone.
    """
    cell = _by_group(draws, weights, np.arange(len(weights)) % 3)
    if cell is None:
        return None
    return Violation("wrong-frequency", f"indices that leave {cell[0]} modulo 3 come {cell[1]}")


def _by_level(draws: NDArray[np.int64], weights: NDArray[np.float64]) -> Violation | None:
    """Weights that are alike, up to a factor of two, are drawn in proportion to their sum."""
    with np.errstate(divide="ignore"):
        octave = np.floor(np.log2(weights / weights.max())).clip(-SHORT)
    levels, place = np.unique(octave, return_inverse=True)
    cell = _by_group(draws, weights, place) if len(levels) > 1 else None
    if cell is None:
        return None
    alike = weights[place == cell[0]]
    saw = f"the {len(alike)} weights from {alike.min():g} to {alike.max():g} come {cell[1]}"
    return Violation("wrong-frequency", saw)


def _by_group(
    draws: NDArray[np.int64], weights: NDArray[np.float64], group: NDArray[np.int64]
) -> tuple[int, str] | None:
    """The group of indices that comes too often or too seldom, and how often; None if none does."""
    scaled = weights / weights.max()
    chance = np.minimum(1.0, np.bincount(group, scaled) / scaled.sum())
    counts = np.bincount(group[draws], minlength=len(chance))
    cell = first_unlikely(counts, len(draws), chance)
    if cell is None:
        return None
    expected = len(draws) * chance[cell]
    return cell[0], f"{counts[cell]} times of {len(draws)}; expected {expected:.0f}"
