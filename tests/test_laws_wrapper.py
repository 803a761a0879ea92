"""The laws of `spec/wrapper.md` where a twin tells what the inner sampler yields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from by_hand import UNMET, error, judged, traced

from conformance.case import Case
from conformance.operations import (
    Inner,
    Iterate,
    Open,
    Operation,
    Resize,
    SetEpoch,
    Take,
    Twin,
)
from conformance.recipes import Data, Generator, Probe, Torch
from conformance.trace import Trace

RANDOM = Torch("RandomSampler", data_source=Data(3), generator=Generator(1))
BATCHES = Torch("BatchSampler", sampler=RANDOM, batch_size=2, drop_last=False)


def around(inner: Any, *plan: Operation) -> Case:
    return Case("DistributedSamplerWrapper", {"sampler": inner}, plan)


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [([2, 0, 1], ""), ([1, 2, 0], ""), ([0, 1, 2], "inner-order-lost")],
)
def test_the_order_is_that_of_a_pass_of_the_twin(yielded: list[int], anomaly: str) -> None:
    """A wrapped pass is one that the inner sampler's twin has shown, in its order."""
    trace = traced(around(RANDOM, Iterate(), Twin(), Twin()), yielded, [2, 0, 1], [1, 2, 0])

    assert judged("wrapper.order", trace) == anomaly


def test_fewer_passes_of_a_twin_tell_nothing() -> None:
    """Without a pass of the twin for each drawing, nobody knows what was due."""
    trace = traced(around(RANDOM, Iterate(), Iterate(), Twin()), [2, 0, 1], [1, 2, 0], [2, 0, 1])

    assert judged("wrapper.order", trace) == UNMET
    assert judged("wrapper.cover", traced(around(RANDOM, Iterate()), [7, 7])) == UNMET


@pytest.mark.parametrize(("second", "anomaly"), [([2, 0, 1], ""), ([1, 2, 0], "stale-draw")])
def test_what_the_twin_does_not_repeat_is_not_repeated(second: list[int], anomaly: str) -> None:
    """A wrapper repeats its pass only where the inner sampler does."""
    plan = (Iterate(), Iterate(), Twin(), Twin())
    trace = traced(around(RANDOM, *plan), [1, 2, 0], second, [1, 2, 0], [2, 0, 1])

    assert judged("wrapper.fresh-draw", trace) == anomaly


@pytest.mark.parametrize(
    ("second", "third", "anomaly"),
    [(1, [2, 0, 1], ""), (0, [1, 2, 0], "stale-draw"), (1, [0, 1, 2], "stale-draw")],
)
def test_a_pass_that_was_broken_off_is_not_given_again(
    second: int, third: list[int], anomaly: str
) -> None:
    """Each pass of an inner sampler that goes on begins elsewhere, whole or broken off before."""
    plan = (Open("a"), Take("a"), Open("a"), Take("a"), Iterate())
    trace = traced(around(Probe("Turning", 3), *plan), None, [0], None, [second], third)

    assert judged("wrapper.fresh-draw", trace) == anomaly


@pytest.mark.parametrize(("afterwards", "anomaly"), [([2, 0, 1], ""), ([0, 1, 2], "inner-mutated")])
def test_afterwards_the_inner_sampler_goes_on(afterwards: list[int], anomaly: str) -> None:
    """By itself the inner sampler gives what its twin gives, and nothing else."""
    plan = (Iterate(), Inner(), Twin(), Twin())
    trace = traced(around(RANDOM, *plan), [1, 2, 0], afterwards, [1, 2, 0], [2, 0, 1])

    assert judged("wrapper.inner-untouched", trace) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        ([[2, 0], [1]], ""),
        ([[0, 2], [1]], "batch-broken"),
        ([[2, 0]], "batch-lost"),
        ([2, 0, 1], "batch-broken"),
    ],
)
def test_batches_are_those_of_the_twin(yielded: Any, anomaly: str) -> None:
    """Each batch of the inner sampler comes, and no other one."""
    trace = traced(around(BATCHES, Iterate(), Twin()), yielded, [[2, 0], [1]])

    assert judged("wrapper.batches", trace) == anomaly


def test_a_pass_over_batches_raises_nothing() -> None:
    """Who compares batches between ranks in a way that fails delivers none of them."""
    trace = traced(around(Probe("Pairs", 2), Iterate()), error("RuntimeError"))

    assert judged("wrapper.batches", trace) == "crash"


@pytest.mark.parametrize(
    ("second", "anomaly"),
    [(([4, 3, 2], [1, 0, 4]), ""), (([4, 2, 0], [3, 1, 4]), "inner-order-lost")],
)
def test_ranks_are_read_one_way_in_all_passes(second: Any, anomaly: str) -> None:
    """Who divides in blocks once divides in blocks again."""
    case = around(Probe("Descending", 4), Iterate(), Resize(5), Iterate()).changed(world_size=2)
    shares = zip(([3, 2], [1, 0]), second, strict=True)
    ranks = [traced(case, first, None, then).ranks[0] for first, then in shares]
    trace = Trace(case, tuple(replace(found, rank=rank) for rank, found in enumerate(ranks)))

    assert judged("wrapper.order", trace) == anomaly


@pytest.mark.parametrize(
    ("kind", "anomaly"),
    [("RuntimeError", ""), ("OverflowError", ""), ("IndexError", "length-lie-crash"),
     ("ZeroDivisionError", "length-lie-crash")],
)  # fmt: skip
def test_a_lie_may_be_refused_by_any_error_but_an_accident(kind: str, anomaly: str) -> None:
    """The spec names the errors that are none; whoever raises another one has refused."""
    trace = traced(around(Probe("Lying", 6, 8), Iterate()), error(kind))

    assert judged("wrapper.length-lie", trace) == anomaly


@pytest.mark.parametrize(
    ("epochs", "orders", "anomaly"),
    [
        ((0, 1), (1, 2), ""),
        ((0, 1), (1, 1), "stale-epoch"),
        ((0, 1, 7), (1, 2, 1), "stale-epoch"),
        ((4, 4), (1, 1), UNMET),
    ],
)
def test_epochs_of_a_globally_random_inner_sampler_differ(
    epochs: tuple[int, ...], orders: tuple[int, ...], anomaly: str
) -> None:
    """Two epochs with one pass are told, the same epoch twice is not."""
    plan = [step for epoch in epochs for step in (SetEpoch(epoch), Iterate())]
    gave: list[Any] = [step for k in orders for step in ([], [*range(k, 20), *range(k)])]

    trace = traced(around(Probe("NumpyRandom", 20), *plan), *gave)

    assert judged("wrapper.epochs-differ", trace) == anomaly


def test_a_wrapper_that_refuses_has_no_epochs_to_compare() -> None:
    """A wrapper that refuses what draws from a global generator gives no two passes alike."""
    trace = traced(around(Probe("NumpyRandom", 20), Iterate()), error("ValueError"))

    assert judged("wrapper.epochs-differ", trace) == ""


@pytest.mark.parametrize(
    ("construction", "anomaly"), [(None, "unsized-refused"), (error("TypeError"), "")]
)
def test_what_has_no_length_is_refused_at_construction_if_at_all(
    construction: Any, anomaly: str
) -> None:
    """A pass that fails for want of an inner length is told, a construction is not."""
    case = around(Probe("Unsized", 6), *([] if construction else [Iterate()]))
    trace = traced(case, *([] if construction else [error("TypeError")]), construction=construction)

    assert judged("wrapper.length-lie", trace) == anomaly
