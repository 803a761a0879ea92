"""The statistical tests: exact, within the stated bound on false alarms, and strong enough."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.laws import statistics
from conformance.scenarios import EFFORTS
from conformance.test_balanced import test_balanced as balanced
from conformance.test_distributed import test_distributed as distributed
from conformance.test_random import test_random as random_
from conformance.test_subset import test_subset as subset
from conformance.test_weighted import test_weighted as weighted
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
        assert math.isclose(float(statistics.tail(count, 6, chance)), expected)


def test_two_per_cent_show() -> None:
    """A million draws show a class of four that comes 2 % too often."""
    generator = np.random.default_rng(0)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    right = weights / weights.sum()
    wrong = right * [1, 1, 1, 1.02] / (right * [1, 1, 1, 1.02]).sum()

    fair = generator.choice(4, 1_000_000, p=right)
    biased = generator.choice(4, 1_000_000, p=wrong)

    assert statistics.by_weight(fair, weights) is None
    assert statistics.by_weight(biased, weights) is not None


def test_false_alarms_stay_below_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run makes fewer than 1,000 tests of 1e-12 each: false alarms come below 1e-9 a run."""
    spent = []

    def counted(name: str) -> None:
        original = getattr(statistics, name)

        def spy(*arguments: object, **named: object) -> object:
            spent.append(name)
            return original(*arguments, **named)

        monkeypatch.setattr(statistics, name, spy)

    for name in ("tail", "_crowded", "_repeats", "large_shuffle"):
        counted(name)
    worlds = Worlds()
    try:
        candidate = worlds.describe(Source("reference"))
        examiner = Examiner(worlds, Options(EFFORTS["ci"], (1, 2)), [])
        for function in (random_, subset, weighted, distributed, balanced):
            for prop in function.properties:  # type: ignore[attr-defined]
                if prop.clause.statistical:
                    assert examiner.examine(candidate, prop).outcome == HOLDS
    finally:
        worlds.close()

    assert 50 < len(spent) < 1000
    assert statistics.ALPHA * 1000 <= 1e-9
