"""The laws of `spec/subset.md` on traces written by hand."""

from dataclasses import replace

import numpy as np
import pytest
from by_hand import UNMET, error, items, judged, traced

from conformance.case import Case, parse
from conformance.operations import Iterate, Passes
from conformance.recipes import Values
from conformance.trace import UNREADABLE, Event, RankTrace, Trace

RNG = np.random.default_rng(20)


def case(given, *plan, kind="list"):
    return Case("SubsetRandomSampler", {"indices": Values(given, kind)}, plan or (Iterate(),))


@pytest.mark.parametrize(
    ("order", "anomaly"),
    [
        ([2, 7, 2, 40], ""),
        ([7, 2, 40], "lost-index"),
        ([7, 7, 2, 40], "lost-index"),
        ([0, 1, 2, 3], "foreign-index"),
    ],
)
def test_multiset_counts(order, anomaly):
    """Each index comes as often as it was given."""
    assert judged("subset.multiset", traced(case((7, 2, 2, 40)), order)) == anomaly


@pytest.mark.parametrize(
    ("kinds", "anomaly"),
    [
        (("int",), ""),
        (("numpy.int64",), ""),
        (("numpy.uint8", "int"), ""),
        (("torch.Tensor",), "not-a-whole-number"),
        (("numpy.ndarray",), "not-a-whole-number"),
        (("float",), "not-a-whole-number"),
    ],
)
def test_kinds_are_whole_numbers(kinds, anomaly):
    """Python and numpy integers will do; a 0-d tensor will not."""
    given = case((5,), kind="tensor")
    values = [UNREADABLE] if kinds == ("float",) else [5]
    events = Event(None), Event(Iterate(), replace(items(values), kinds=kinds))

    assert judged("subset.kinds", Trace(given, (RankTrace(0, events),))) == anomaly


@pytest.mark.parametrize(
    ("order", "anomaly"), [([5, 0, 3], ""), ([1, 2], "other-indices"), ([0, 3], "other-indices")]
)
def test_kinds_are_the_indices_given(order, anomaly):
    """An array whose type is taken for something else gives other indices."""
    given = case((0, 3, 5), kind="ndarray.uint8")

    assert judged("subset.kinds", traced(given, order)) == anomaly


def test_every_kind_is_taken():
    """To refuse a range or an array is a violation."""
    refused = traced(case((5,), kind="range"), [], construction=error("TypeError"))

    assert judged("subset.kinds", refused) == "kind-refused"


def test_uniform_goes_by_place_of_the_index():
    """Whatever the values, each is equally likely at each place; a lost one is not judged."""
    given = np.array([9, 4, 30, 0])
    fair = np.array([RNG.permutation(given) for _ in range(1000)])
    sorted_ = np.tile(np.sort(given), 1000)

    assert judged("subset.uniform", traced(case((9, 4, 30, 0), Passes(1000)), fair.ravel())) == ""
    found = traced(case((9, 4, 30, 0), Passes(1000)), sorted_)
    assert judged("subset.uniform", found) == "not-uniform"
    assert judged("subset.uniform", traced(case((9, 8), Passes(2)), [9, 9, 9, 9])) == UNMET


@pytest.mark.parametrize(("together", "anomaly"), [(False, ""), (True, "not-uniform")])
def test_equal_indices_count_as_two(together, anomaly):
    """An index that was given twice is two indices, and they come apart as any two do."""
    made = [RNG.permutation([7, 2, 2, 40]) for _ in range(2000)]
    if together:
        made = [sorted(order, key=list(order).index) for order in made]
    trace = traced(case((7, 2, 2, 40), Passes(2000)), np.ravel(made))

    assert judged("subset.uniform", trace) == anomaly


def test_a_case_with_a_range_is_valid_python():
    """Many indices take few words in a case, and are read back."""
    long = case(range(5, 70_006))

    assert len(repr(long)) < 120
    assert parse(repr(long)) == long
