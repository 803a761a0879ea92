"""The laws of `spec/weighted.md` on traces written by hand."""

import numpy as np
import pytest
from by_hand import UNMET, error, judged, traced

from conformance.case import Case
from conformance.laws import LAWS
from conformance.laws.proportions import by_weight
from conformance.laws.throws import not_gathered
from conformance.operations import Iterate, Passes
from conformance.recipes import Sparse, Values

RNG = np.random.default_rng(20)
NAN, INF = float("nan"), float("inf")


def case(weights, count, *plan, **others):
    arguments = {"weights": weights if isinstance(weights, Sparse) else Values(weights)}
    arguments |= {"num_samples": count, **others}
    return Case("WeightedRandomSampler", arguments, plan or (Iterate(),))


def test_count_is_num_samples():
    """As many items as asked for, each the place of a weight."""
    three = case((1.0, 2.0), 3)

    assert judged("weighted.count", traced(three, [0, 1, 1])) == ""
    assert judged("weighted.count", traced(three, [0, 1])) == "wrong-count"
    assert judged("weighted.count", traced(three, [0, 1, 2])) == "out-of-range"
    assert judged("weighted.count", traced(three, error("RuntimeError"))) == "crash"


def test_zero_is_never_drawn():
    """Weight 0 means never, and when nothing else is left, too; refusing that case is right."""
    starved = case((1.0, 0.0), 2, replacement=False)

    assert judged("weighted.zero", traced(case((1.0, 0.0), 2), [0, 0])) == ""
    assert judged("weighted.zero", traced(case((1.0, 0.0), 2), [0, 1])) == "zero-drawn"
    assert judged("weighted.zero", traced(case((1.0, 2.0), 2), [0, 1])) == UNMET
    assert judged("weighted.zero", traced(starved, [0, 1])) == "zero-drawn"
    refused = traced(starved, [], construction=error("ValueError"))
    assert judged("weighted.zero", refused) == UNMET


@pytest.mark.parametrize(
    ("kind", "raised", "anomaly"),
    [
        ("bfloat16", "TypeError", UNMET),
        ("bfloat16", "RuntimeError", "weights-refused"),
        ("float16", "TypeError", "weights-refused"),
    ],
)
def test_weights_of_a_type_that_numpy_has_not_may_be_refused(kind, raised, anomaly):
    """By an error that says so; of all other types they may not."""
    given = {"weights": Values((1.0, 2.0), kind), "num_samples": 4}
    refused = traced(Case("WeightedRandomSampler", given, ()), construction=error(raised))

    assert judged("weighted.scale", refused) == anomaly


def test_distinct_is_for_draws_without_replacement():
    """An index may come again with replacement only."""
    again = [1, 1]

    assert judged("weighted.distinct", traced(case((1.0, 2.0), 2), again)) == UNMET
    found = traced(case((1.0, 2.0), 2, replacement=False), again)
    assert judged("weighted.distinct", found) == "doubled-index"


@pytest.mark.parametrize(
    ("weights", "about"),
    [
        ((1.0, NAN), "weights NaN"),
        ((INF, 1.0), "weights infinite"),
        ((1.0, -1.0), "weights negative"),
        ((), "weights empty"),
        ((0.0,), "weights all zero"),
        (((1.0,), (2.0,)), "weights not 1-D"),
    ],
)
def test_reject_says_what_was_accepted(weights, about):
    """Each kind of wrong weights is a deviation of its own."""
    found = LAWS["weighted.reject"](traced(case(weights, 1), []))

    assert (found.anomaly, found.about) == ("accepted", about)


def test_reject_takes_two_exceptions():
    """ValueError and TypeError are refusals, an AssertionError is none."""
    anomalies = {"ValueError": "", "TypeError": "", "AssertionError": "wrong-exception"}

    for kind, anomaly in anomalies.items():
        found = traced(case((NAN,), 1), [], construction=error(kind))
        assert judged("weighted.reject", found) == anomaly


def test_large_limits_must_be_honest():
    """A limit that shows at construction breaks the SHOULD, one that shows later the MUST too."""
    beyond = case(Sparse(2**24 + 6, (3, 2**24 + 1)), 2)
    honest = traced(beyond, [], construction=error("ValueError"))
    late = traced(beyond, error("RuntimeError"))

    assert judged("weighted.large", honest) == judged("weighted.large", late) == "limited"
    assert judged("weighted.large-honest", honest) == ""
    assert judged("weighted.large-honest", late) == "fails-late"
    assert judged("weighted.large", traced(beyond, [3, 2**24 + 1])) == ""
    assert judged("weighted.large", traced(beyond, [3, 1])) == "wrong-index"


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30, 1e300])
def test_frequencies_are_relative(scale):
    """Fair draws pass at every scale, and 2 % too many in one class of four do not."""
    weights = np.array([2.0, 3.0, 3.0, 4.0])
    biased = weights * [1.0, 1.0, 1.02, 1.0]
    fair, wrong = (RNG.choice(4, 1_500_000, p=w / w.sum()) for w in (weights, biased))

    assert by_weight(fair, weights * scale) is None
    assert by_weight(wrong, weights * scale).anomaly == "wrong-frequency"


def test_a_group_may_vary_less_and_not_more():
    """Draws in pairs u and 1 - u come together from the ends; evenly spread ones pass."""
    weights, half = np.ones(8), RNG.random((1000, 50))
    mirrored = np.floor(8 * np.concatenate([half, 1 - half], axis=1)).astype(int).clip(max=7)
    spread = np.floor(8 * (np.arange(100) + RNG.random((1000, 100))) / 100).astype(int)

    assert not_gathered(mirrored, weights).anomaly == "draws-gathered"
    assert not_gathered(spread, weights) is None
    assert not_gathered(RNG.integers(8, size=(1000, 100)), weights) is None


def test_first_draw_tells_weights_from_a_shuffle():
    """Only the first item of each pass is judged without replacement."""
    weights = (1.0, 2.0, 3.0, 4.0)
    shuffled = np.array([RNG.permutation(4) for _ in range(2000)])
    drawn = np.array([RNG.choice(4, 4, False, np.array(weights) / 10) for _ in range(2000)])
    many = case(weights, 4, Passes(2000), replacement=False)

    assert judged("weighted.first-draw", traced(many, drawn.ravel())) == ""
    assert judged("weighted.first-draw", traced(many, shuffled.ravel())) == "wrong-frequency"
    assert judged("weighted.frequencies", traced(many, drawn.ravel())) == UNMET


def test_a_coarse_grid_shows_in_remainders():
    """Numbers of 24 bits come five or six times for each of 3 * 2^20 weights: thirds show it."""
    n = 3 << 20
    fine = RNG.integers(0, n, 30_000)
    coarse = np.floor(RNG.integers(0, 1 << 24, 30_000) / (1 << 24) * n).astype(np.int64)

    assert by_weight(fine, np.ones(n)) is None
    found = by_weight(coarse, np.ones(n))
    assert found is not None and found.anomaly == "wrong-frequency"
