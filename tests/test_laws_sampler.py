"""What the protocol's laws think of traces that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import error, judged, traced

from conformance.case import Case
from conformance.operations import Iterate, Len
from conformance.recipes import Data, Role, Values

REFUSED = error("TypeError")
INNER = Role("SequentialSampler", data_source=Data(3))
KNOWN = {
    "SequentialSampler": {"data_source": Data(3)},
    "RandomSampler": {"data_source": Data(3)},
    "SubsetRandomSampler": {"indices": Values((4, 5, 6))},
    "WeightedRandomSampler": {"weights": Values((1.0, 1.0, 1.0)), "num_samples": 3},
}
UNKNOWN = {
    "BatchSampler": {"sampler": INNER, "batch_size": 2, "drop_last": False},
    "DatasetFromSampler": {"sampler": INNER},
}


def measured(role: str, arguments: dict[str, Any], told: Any) -> Any:
    """The trace of `len` and a pass of three items."""
    return traced(Case(role, arguments, [Len(), Iterate()]), told, [0, 1, 2])


@pytest.mark.parametrize(("role", "arguments"), KNOWN.items())
def test_a_count_that_is_known_is_told(role: str, arguments: dict[str, Any]) -> None:
    """Where the count follows from the arguments, `len` must not raise TypeError."""
    trace = measured(role, arguments, REFUSED)

    assert judged("sampler.works", trace) == "crash"
    assert judged("sampler.length", trace) == "length-raises"


@pytest.mark.parametrize(("role", "arguments"), UNKNOWN.items())
def test_a_count_that_is_unknown_may_be_refused(role: str, arguments: dict[str, Any]) -> None:
    """Who wraps a sampler may have no length where that has none."""
    trace = measured(role, arguments, REFUSED)

    assert judged("sampler.works", trace) == ""
    assert judged("sampler.length", trace) == ""


@pytest.mark.parametrize(("told", "anomaly"), [(3, ""), (2, "wrong-length"), (4, "wrong-length")])
def test_the_length_is_that_of_the_pass(told: int, anomaly: str) -> None:
    """`len` is compared with what the next pass yields."""
    trace = measured("SequentialSampler", KNOWN["SequentialSampler"], told)

    assert judged("sampler.length", trace) == anomaly


def test_any_other_error_of_len_is_a_violation() -> None:
    """Only TypeError says that a count cannot be known."""
    trace = measured("BatchSampler", UNKNOWN["BatchSampler"], error("ValueError"))

    assert judged("sampler.length", trace) == "length-raises"
