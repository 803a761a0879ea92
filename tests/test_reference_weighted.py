"""WeightedRandomSampler beyond what torch.multinomial can do."""

import numpy as np
import pytest
import torch
from scipy import stats

from reference import WeightedRandomSampler


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("replacement", [True, False])
def test_a_zero_weight_is_never_drawn(replacement):
    """Not even when all positive weights are used up, or are nearly nothing."""
    weights = [0, 1e-320, 0, 1e308, 0, 1, 0]

    for seed in range(200):
        drawn = list(WeightedRandomSampler(weights, 3, replacement, generator(seed)))
        assert set(drawn) <= {1, 3, 5}
        assert replacement or len(set(drawn)) == 3


@pytest.mark.parametrize("extreme", [0.0, 1 - 2.0**-53])
def test_no_variate_falls_into_a_zero_weight(extreme, monkeypatch):
    """The smallest and the largest uniform variate land on positive weights."""
    monkeypatch.setattr(torch, "rand", lambda k, **_: torch.full((k,), extreme, dtype=torch.double))

    drawn = set(WeightedRandomSampler([0, 0, 0.1, 0.7, 0.2, 0], 5))

    assert drawn == ({2} if extreme == 0 else {4})


def test_a_time_of_zero_does_not_let_a_zero_weight_win(monkeypatch):
    """If exponential_ returns 0 for everybody, positive weights still come first."""
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda self, **_: self.zero_())

    assert sorted(WeightedRandomSampler([0, 1, 0, 2], 2, replacement=False)) == [1, 3]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1, 1e30, 2e307])
@pytest.mark.parametrize("replacement", [True, False])
def test_scale_changes_nothing(scale, replacement):
    """Weights of any size, given in any form, draw in the same proportions."""
    weights = np.array([1.0, 2.0, 3.0, 0.0, 4.0])
    draws = [
        index
        for seed in range(1 if replacement else 2000)
        for index in WeightedRandomSampler(
            weights * scale, 2000 if replacement else 1, replacement, generator(seed)
        )
    ]

    counts = np.bincount(draws, minlength=5)

    assert counts[3] == 0
    positive = weights > 0
    expected = weights[positive] / weights.sum() * counts.sum()
    assert stats.chisquare(counts[positive], expected).pvalue > 1e-6


@pytest.mark.parametrize(
    "given",
    [
        (1, 2, 5),
        np.array([1, 2, 5]),
        np.array([1, 2, 5], np.float32),
        np.array([1, 2, 5], np.longdouble),
        np.array([1, 2, 5], ">f8"),
        np.array([5.0, 2, 1])[::-1],
        torch.tensor([1, 2, 5]),
        torch.tensor([1, 2, 5], dtype=torch.float16),
        torch.tensor([1.0, 2, 5], requires_grad=True),
    ],
    ids=lambda given: f"{type(given).__name__} {getattr(given, 'dtype', '')}",
)
def test_the_form_of_the_weights_does_not_matter(given):
    """Tuples, arrays and tensors of any numeric type draw the same sequence."""
    expected = list(WeightedRandomSampler([1.0, 2.0, 5.0], 20, generator=generator()))

    assert list(WeightedRandomSampler(given, 20, generator=generator())) == expected


@pytest.mark.parametrize("replacement", [True, False])
def test_more_weights_than_multinomial_takes(replacement):
    """Indices beyond 2**24 are drawn, and drawn right."""
    weights = torch.zeros(2**24 + 10)
    heavy = [3, 2**24 - 1, 2**24, 2**24 + 9]
    weights[heavy] = 1

    drawn = list(WeightedRandomSampler(weights, 4 if not replacement else 60, replacement))

    assert sorted(set(drawn)) == heavy
