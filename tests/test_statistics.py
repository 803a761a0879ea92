"""The statistical tests: exact, within the stated bound on false alarms, and strong enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.laws import neighbours, tails, throws
from conformance.laws.proportions import by_weight
from conformance.laws.tails import ALPHA, tail
from conformance.scenarios import EFFORTS
from conformance.test_balanced import test_balanced as balanced
from conformance.test_distributed import test_distributed as distributed
from conformance.test_random import test_random as random_
from conformance.test_subset import test_subset as subset
from conformance.test_weighted import test_weighted as weighted
from conformance.test_wrapper import test_wrapper as wrapper
from conformance.verdict import HOLDS
from conformance.worlds.worlds import Worlds


@pytest.mark.parametrize("chance", [0.2, 0.5])
def test_tail_is_exact(chance: float) -> None:
    """A tail probability is that of counting every outcome of a few coins."""
    counts = [sum(coins) for coins in product((0, 1), repeat=6)]
    weights = [chance**c * (1 - chance) ** (6 - c) for c in counts]

    for count in range(7):
        below = sum(w for c, w in zip(counts, weights, strict=True) if c <= count)
        above = sum(w for c, w in zip(counts, weights, strict=True) if c >= count)
        expected = min(1.0, 2 * min(below, above))
        assert math.isclose(float(tail(count, 6, chance)), expected)


@pytest.mark.parametrize("deviations", [-8.0, -4.0, 0.0, 4.0, 8.0])
def test_tail_is_scipys(deviations: float) -> None:
    """Far out, and of many trials, a tail is what `scipy.stats` calls it."""
    trials, chance = np.array([[20], [3000], [10**6]]), np.array([1e-5, 0.01, 0.5, 1.0])
    mean = trials * chance
    spread = np.sqrt(mean * (1 - chance))
    counts = np.clip(np.rint(mean + deviations * spread), 0, trials).astype(np.int64)
    below, above = binom.cdf(counts, trials, chance), binom.sf(counts - 1, trials, chance)

    expected = np.minimum(1.0, 2 * np.minimum(below, above))
    assert np.allclose(tail(counts, trials, chance), expected, rtol=1e-9, atol=0)


def test_two_per_cent_show() -> None:
    """A million draws show a class of four that comes 2 % too often."""
    generator = np.random.default_rng(0)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    right = weights / weights.sum()
    wrong = right * [1, 1, 1, 1.02] / (right * [1, 1, 1, 1.02]).sum()

    fair = generator.choice(4, 1_000_000, p=right)
    biased = generator.choice(4, 1_000_000, p=wrong)

    assert by_weight(fair, weights) is None
    assert by_weight(biased, weights) is not None


def test_false_alarms_stay_below_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run spends less than 2,000 times 5e-13: false alarms come below 1e-9 a run."""
    spent: list[float] = []

    def counted(module: ModuleType, name: str, share: Callable[..., float]) -> None:
        original = getattr(module, name)

        def spy(*arguments: Any) -> object:
            spent.append(share(*arguments))
            return original(*arguments)

        monkeypatch.setattr(module, name, spy)

    shares: dict[str, Callable[..., float]] = {
        "_first": lambda counts, mean, variance, exact, looks: 1 / looks,
        "_together": lambda order: 1 / math.factorial(neighbours.TOGETHER) / ALPHA,
    }
    for module, names in (
        (tails, ("_first",)),
        (throws, ("_repeats",)),
        (neighbours, ("_rising", "_together", "_ascents")),
    ):
        for name in names:
            counted(module, name, shares.get(name, lambda *_: 1.0))
    worlds = Worlds()
    try:
        candidate = worlds.describe(Source("reference"))
        examiner = Examiner(worlds, Options(EFFORTS["ci"], (1, 2)), [])
        for function in (random_, subset, weighted, distributed, wrapper, balanced):
            for prop in function.properties:  # type: ignore[attr-defined]
                if prop.clause.statistical:
                    assert examiner.examine(candidate, prop).outcome == HOLDS
    finally:
        worlds.close()

    assert len(spent) > 50
    assert sum(spent) < 2000
    assert ALPHA * 2000 <= 1e-9
