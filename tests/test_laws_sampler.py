"""What the protocol's laws think of traces that are written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from by_hand import UNMET, error, judged, traced

from conformance.case import Case
from conformance.operations import (
    Drain,
    Inspect,
    Iterate,
    Len,
    Lengthen,
    Neighbour,
    Open,
    Resize,
    SetEpoch,
    Take,
)
from conformance.recipes import Data, Probe, Role
from conformance.trace import Error

INNER = Role("SequentialSampler", data_source=Data(3))
SEQUENTIAL = "SequentialSampler", {"data_source": Data(3)}
BATCHES = "BatchSampler", {"sampler": INNER, "batch_size": 2, "drop_last": False}


def measured(role: str, arguments: dict[str, Any], told: Any) -> Any:
    """The trace of `len` and a pass of three items."""
    return traced(Case(role, arguments, [Len(), Iterate()]), told, [0, 1, 2])


def refused(message: str) -> Error:
    return Error(("TypeError", "Exception", "BaseException"), message)


@pytest.mark.parametrize("message", ["object of type 'S' has no len()", "unknown"])
def test_a_count_that_is_unknown_may_be_refused(message: str) -> None:
    """No `len` at all, or one that raises TypeError of its own, is allowed."""
    trace = measured(*BATCHES, refused(message))

    assert judged("sampler.works", trace) == ""
    assert judged("sampler.length", trace) == ""


@pytest.mark.parametrize("kind", ["NoneType", "float"])
def test_what_is_no_length_is_no_refusal(kind: str) -> None:
    """A `__len__` that returns None or a float makes Python raise TypeError: a violation."""
    message = f"{kind!r} object cannot be interpreted as an integer"

    trace = measured(*SEQUENTIAL, refused(message))

    assert judged("sampler.works", trace) == "crash"
    assert judged("sampler.length", trace) == "length-raises"


@pytest.mark.parametrize(("told", "anomaly"), [(3, ""), (2, "wrong-length"), (4, "wrong-length")])
def test_the_length_is_that_of_the_pass(told: int, anomaly: str) -> None:
    """`len` is compared with what the next pass yields."""
    trace = measured(*SEQUENTIAL, told)

    assert judged("sampler.length", trace) == anomaly


def test_any_other_error_of_len_is_a_violation() -> None:
    """Only TypeError says that a count cannot be known."""
    trace = measured(*BATCHES, error("ValueError"))

    assert judged("sampler.length", trace) == "length-raises"


@pytest.mark.parametrize(
    ("beside", "anomaly"), [([2, 0, 1], ""), ([1, 2, 0], "iterators-entangled")]
)
def test_another_sampler_beside_it_changes_nothing(beside, anomaly):
    """A pass after a second sampler was built is the one before."""
    plan = [Iterate(), Neighbour((("seed", 9),), count=1), Iterate()]
    case = Case("DistributedSampler", {"dataset": Data(3)}, plan)

    assert judged("sampler.interleave", traced(case, [2, 0, 1], None, beside)) == anomaly


@pytest.mark.parametrize(("more", "anomaly"), [([], ""), ([3], "not-exhausted")])
def test_an_ended_iterator_stays_ended_though_data_grow(more: list[int], anomaly: str) -> None:
    """What is asked after its end gives nothing, however many items there are now."""
    plan = [Open("a"), Drain("a"), Resize(9), Take("a", 2)]

    trace = traced(Case(*SEQUENTIAL, plan), None, [0, 1, 2], None, more)

    assert judged("sampler.ends", trace) == anomaly


@pytest.mark.parametrize(
    ("changes", "anomaly"), [([], "length-raises"), ([Resize(9)], UNMET), ([Lengthen(3)], UNMET)]
)
def test_who_refuses_data_of_another_length_may_say_so_in_len(changes: Any, anomaly: str) -> None:
    """Data that have grown, or a list that has; nobody else may refuse to count."""
    case = Case("DistributedSampler", {"dataset": Data(3)}, [*changes, Len()])
    told = Error(("RuntimeError",), "the dataset has another length")

    assert judged("sampler.length", traced(case, *[None] * len(changes), told)) == anomaly


@pytest.mark.parametrize(
    ("seen", "policies", "anomaly"),
    [
        (([3], [3]), {}, ""),
        (([3], [3, 3]), {}, "inner-told"),
        (([], [3]), {}, "inner-told"),
        (([3], [3, 4]), {"epochs": "advance"}, ""),
    ],
)
def test_a_pass_tells_the_inner_sampler_no_epoch(
    seen: tuple[list[int], list[int]], policies: dict[str, str], anomaly: str
) -> None:
    """Between two looks without a set_epoch the inner sampler is told none, unless passes count."""
    arguments = {"sampler": Probe("Epoched", 3), "batch_size": 3, "drop_last": False}
    case = Case("BatchSampler", arguments, [SetEpoch(3), Inspect(), Iterate(), Inspect()])
    looks = [{"epochs": epochs} for epochs in seen]
    trace = replace(traced(case, None, looks[0], [[2, 1, 0]], looks[1]), policies=policies)

    assert judged("sampler.arguments", trace) == anomaly
