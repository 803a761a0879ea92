"""The laws of `spec/distributed.md` and `spec/wrapper.md` on shares written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from by_hand import UNMET, error, judged, shares, traced

from conformance.case import Case
from conformance.operations import Iterate
from conformance.recipes import Data, Probe, Role, Values

BLOCKS = {"divides": "contiguous"}
UNEVEN = {"pads": "none"}
MINUS = {"pads": "sentinel", "sentinel": -1}
LAST = {"pads": "repeat"}


def case(n: int, width: int, **arguments: Any) -> Case:
    return Case("DistributedSampler", {"dataset": Data(n), **arguments}, [Iterate()], width)


def around(inner: Any, width: int, **arguments: Any) -> Case:
    return Case("DistributedSamplerWrapper", {"sampler": inner, **arguments}, [Iterate()], width)


@pytest.mark.parametrize(
    ("yielded", "policies", "anomaly"),
    [
        (([0, 2], [1, 3]), {}, ""),
        (([0, 2], [1]), {}, "unequal-counts"),
        (([0, 2], [1]), UNEVEN, ""),
        (([0, 1, 2], []), UNEVEN, "unequal-counts"),
    ],
)
def test_counts_are_equal(yielded: Any, policies: Any, anomaly: str) -> None:
    """Ranks yield equally many items, or differ by one where that is declared."""
    n = sum(len(share) for share in yielded)

    assert judged("distributed.equal-counts", shares(case(n, 2), *yielded, policies=policies)) == (
        anomaly
    )


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [(([0, 2], [1, 0]), ""), (([2, 1], [0, 2]), ""), (([0, 1], [1, 0]), "lost-index")],
)
def test_nothing_is_lost(yielded: Any, anomaly: str) -> None:
    """Padded shares hold every index; which one is doubled is free."""
    assert judged("distributed.cover", shares(case(3, 2), *yielded)) == anomaly


@pytest.mark.parametrize(
    ("yielded", "policies", "anomaly"),
    [
        (([0, 2], [1, 0]), {}, ""),
        (([0, 1, 2], [0, 1, 2]), {}, "wrong-total"),
        (([3, 1, 0], [1, 2, 4], [1, 3, 1]), LAST, "wrong-total"),
        (([0, 2, 4], [1, 4, 4], [3, 4, 4]), {}, "wrong-total"),
        (([0, 3], [1, 4], [2, 4]), LAST, ""),
        (([0, 2], [1, 2], [2, 3]), {}, "doubled-index"),
        (([0, 2], [1, 2], [2, 3]), LAST, ""),
        (([0, 2], [1, -1]), MINUS, ""),
        (([0, 2], [1, 0]), MINUS, "wrong-padding"),
        (([0, 2], [1]), UNEVEN, ""),
    ],
)
def test_padding(yielded: Any, policies: Any, anomaly: str) -> None:
    """Padding fills the last step and no more, in the way that is declared."""
    n = max(index for share in yielded for index in share) + 1

    trace = shares(case(n, len(yielded)), *yielded, policies=policies)

    assert judged("distributed.padding", trace) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        (([0, 2], [1, 3]), ""),
        (([4, 2], [1, 3]), ""),
        (([0, 2], [2, 3]), "cross-rank-overlap"),
        (([0], [1]), "wrong-total"),
    ],
)
def test_dropping(yielded: Any, anomaly: str) -> None:
    """drop_last leaves disjoint shares that lose fewer items than there are ranks."""
    assert judged("distributed.drop", shares(case(5, 2, drop_last=True), *yielded)) == anomaly


@pytest.mark.parametrize(
    ("yielded", "policies", "anomaly"),
    [
        (([0, 2], [1, 3]), {}, ""),
        (([0, 1], [2, 3]), {}, ""),
        (([1, 0], [2, 3]), {}, "order-lost"),
        (([0, 1], [2, 3]), {"divides": "interleaved"}, "order-lost"),
        (([0, 1], [2, 3]), BLOCKS, ""),
        (([0, 2], [1, 3]), BLOCKS, "order-lost"),
    ],
)
def test_order_without_shuffle(yielded: Any, policies: Any, anomaly: str) -> None:
    """Without shuffle the shares ascend, in the division that is declared or in any."""
    trace = shares(case(4, 2, shuffle=False), *yielded, policies=policies)

    assert judged("distributed.order", trace) == anomaly


def test_shuffled_order_is_free() -> None:
    """A shuffled pass is no concern of the law of order."""
    assert judged("distributed.order", shares(case(4, 2), [3, 0], [1, 2])) == UNMET


@pytest.mark.parametrize(
    ("yielded", "policies", "anomaly"),
    [
        (([0, 2], [1, 0]), {"pads": "wrap"}, ""),
        (([0, 2], [1, 2]), {"pads": "wrap"}, "policy-not-kept"),
        (([0, 2], [1, 2]), {"pads": "repeat"}, ""),
        (([0, 2], [1, 0]), {}, UNMET),
    ],
)
def test_declared_policy_is_kept(yielded: Any, policies: Any, anomaly: str) -> None:
    """What a candidate declares is held against it, and nothing else is."""
    trace = shares(case(3, 2, shuffle=False), *yielded, policies=policies)

    assert judged("distributed.policy", trace) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        (([2, 0], [1, 2]), ""),
        (([0, 2], [1, 0]), "inner-order-lost"),
        (([2, 1], [0, 2]), ""),
    ],
)
def test_inner_order(yielded: Any, anomaly: str) -> None:
    """Round robin or block by block, the ranks give the inner pass in its own order."""
    assert judged("wrapper.order", shares(around(Probe("Descending", 3), 2), *yielded)) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        (([0, 1], [0, 1]), ""),
        (([0, 0], [0, 1]), "lost-index"),
        (([0, 1], [0, 5]), "lost-index"),
        (([0, 1, 1], [0, 1, 0]), "wrong-total"),
    ],
)
def test_inner_multiset(yielded: Any, anomaly: str) -> None:
    """An inner sampler that repeats an index keeps its repetitions."""
    assert judged("wrapper.cover", shares(around(Probe("Doubling", 4), 2), *yielded)) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [(([[0], [3, 4, 5]], [[1, 2], [0]]), ""), (([[0], [3, 4]], [[1, 2], [5]]), "batch-broken")],
)
def test_whole_batches(yielded: Any, anomaly: str) -> None:
    """Each batch of the inner sampler goes to one rank as it is."""
    assert judged("wrapper.batches", shares(around(Probe("Pairs", 3), 2), *yielded)) == anomaly


@pytest.mark.parametrize(("last", "anomaly"), [([3], ""), ([3, 0, 1], "batch-broken")])
def test_a_short_last_batch_stays_short(last: Any, anomaly: str) -> None:
    """A last batch that is shorter than the first one is not filled up."""
    trace = shares(around(Probe("Pairs", 2, 2), 2), [[0, 1, 2]], [last])

    assert judged("wrapper.batches", trace) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        (([0, 3], [4, 1]), ""),
        (([0, 3], [4, 0]), "ranks-disagree"),
        (([0, 1], [0, 1]), "ranks-disagree"),
    ],
)
def test_balanced_pass_is_sharded(yielded: Any, anomaly: str) -> None:
    """Over all ranks a sharded pass holds the stated number of items of each class."""
    labels = Values((0, 0, 0, 1, 1))
    inner = Role("BalanceClassSampler", labels=labels, mode="downsampling")

    assert judged("balanced.distributed", shares(around(inner, 2), *yielded)) == anomaly


@pytest.mark.parametrize(
    ("made", "anomaly"),
    [
        (([1, 0], [0, 1]), ""),
        (([1, 0], [1, 0]), "not-torch-order"),
        (([1, 0], error("RuntimeError")), "fails-unlike-torch"),
        ((error("RuntimeError"), error("RuntimeError")), "fails-unlike-torch"),
    ],
)
def test_what_torch_passes_is_passed(made: Any, anomaly: str) -> None:
    """Each whole pass of torch's is made in the same order; a pass that fails is none."""
    twice = Case("DistributedSampler", {"dataset": Data(2)}, [Iterate(), Iterate()])
    oracle = traced(twice, [1, 0], [0, 1])

    assert judged("distributed.sequence", replace(traced(twice, *made), oracle=oracle)) == anomaly
