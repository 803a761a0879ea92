"""The laws of `spec/batch.md` on traces written by hand."""

from dataclasses import replace

import pytest
from by_hand import UNMET, error, items, judged, traced

from conformance.case import Case
from conformance.operations import (
    Inspect,
    Iterate,
    Len,
    Open,
    Overwrite,
    Passes,
    Scribble,
    SetEpoch,
    Take,
)  # fmt: skip
from conformance.recipes import Data, Probe, Torch, Values
from conformance.trace import Event, RankTrace, Trace

ONE = Iterate()


def case(inner, size, drop, *plan):
    return Case("BatchSampler", {"sampler": inner, "batch_size": size, "drop_last": drop}, plan)


@pytest.mark.parametrize(
    ("drop", "batches", "concatenation", "sizes"),
    [
        (False, [[4, 1], [3, 0], [2]], "", ""),
        (True, [[4, 1], [3, 0]], "", ""),
        (True, [[4, 1], [3, 0], [2]], "foreign-index", "wrong-size"),
        (False, [[4, 1], [3, 0]], "lost-index", ""),
        (False, [[1, 4], [0, 3], [2]], "reordered", ""),
        (False, [[4, 1, 3], [0, 2]], "", "wrong-size"),
        (False, [[4], [1, 3], [0, 2]], "", "wrong-size"),
        (False, [[4, 1], [3, 0], [2], []], "", "wrong-size"),
        (False, [4, 1, 3, 0, 2], "", "not-a-list"),
    ],
)
def test_batches_are_the_inner_sequence_cut(drop, batches, concatenation, sizes):
    """What is in the batches, and how large they are, are two questions."""
    found = traced(case(Values((4, 1, 3, 0, 2)), 2, drop, ONE), batches)

    assert judged("batch.concatenation", found) == concatenation
    assert judged("batch.sizes", found) == sizes


@pytest.mark.parametrize(
    ("container", "anomaly"),
    [("mine.Batch", ""), ("tuple", "not-a-list"), ("torch.Tensor", "not-a-list")],
)
def test_a_list_may_have_a_class_of_its_own(container, anomaly):
    """Tuples and tensors are no lists; of an unknown class it is taken that it is one."""
    batches = replace(items([[0, 1]]), containers=(container,))
    events = Event(None), Event(ONE, batches)

    found = Trace(case(Probe("Counting", 2), 2, False, ONE), (RankTrace(0, events),))

    assert judged("batch.sizes", found) == anomaly


@pytest.mark.parametrize(
    ("inner", "drop", "length", "anomaly"),
    [
        ("Counting", False, 3, ""),
        ("Counting", True, 2, ""),
        ("Counting", True, 3, "wrong-length"),
        ("Counting", False, error("TypeError"), "wrong-length"),
        ("Unsized", False, error("TypeError"), ""),
        ("Unsized", False, error("AttributeError"), "length-invented"),
        ("Unsized", False, 0, "length-invented"),
        ("Spent", False, error("TypeError"), ""),
        ("Spent", False, 3, "length-invented"),
        ("Lying", False, 9, UNMET),
    ],
)
def test_length_follows_the_inner_length(inner, drop, length, anomaly):
    """Divided, rounded up or down, and TypeError if there is none."""
    assert judged("batch.length", traced(case(Probe(inner, 5), 2, drop, Len()), length)) == anomaly


def test_lazy_counts_what_was_drawn():
    """Two batches of 3 take 6 items at most; before the first batch nothing is judged."""
    plan = [Open("a"), Take("a", 2), Inspect()]
    taken = [[0, 1, 2], [3, 4, 5]]
    endless = case(Probe("Endless"), 3, False, *plan)

    assert judged("batch.lazy", traced(endless, None, taken, {"draws": 6})) == ""
    assert judged("batch.lazy", traced(endless, None, taken, {"draws": 7})) == "draws-ahead"
    assert judged("batch.lazy", traced(endless, None, [], {"draws": 3})) == UNMET


def test_inner_end_is_the_end():
    """Whatever the inner length says, as many items come as there are, and no exception."""
    lying = case(Probe("Lying", 3, 5), 2, False, ONE)

    assert judged("batch.inner-end", traced(lying, [[0, 1], [2]])) == ""
    assert judged("batch.inner-end", traced(lying, [[0, 1]])) == "inner-length-trusted"
    assert judged("batch.inner-end", traced(lying, error("RuntimeError"))) == "inner-length-trusted"


def test_no_poll_is_judged_where_the_suite_does_not_poll():
    """`Iterate` asks again after the end itself, so only `Passes` counts."""
    seen = {"draws": 3, "after_end": 1}
    batches = [[0, 1], [2]]
    inner = Probe("Counting", 3)

    polled = traced(case(inner, 2, False, Passes(1), Inspect()), batches, seen)
    assert judged("batch.no-poll", polled) == "polled-after-end"
    once = traced(case(inner, 2, False, Passes(1), Inspect()), batches, {"after_end": 0})
    assert judged("batch.no-poll", once) == ""
    iterated = traced(case(inner, 2, False, ONE, Inspect()), batches, seen)
    assert judged("batch.no-poll", iterated) == UNMET


@pytest.mark.parametrize(
    ("called", "told", "reaches", "forwards"),
    [
        (None, [3], "", ""),
        (None, [3, 3], "", ""),
        (None, [], "epoch-not-forwarded", ""),
        (None, [4], "epoch-not-forwarded", ""),
        (error("AttributeError"), [], "", "set-epoch-not-offered"),
        (error("TypeError"), [], "set-epoch-raises", ""),
    ],
)
def test_set_epoch_reaches_the_inner_sampler(called, told, reaches, forwards):
    """Who offers `set_epoch` must hand it on; who does not offer it breaks the SHOULD only."""
    plan = [SetEpoch(3), ONE, Inspect()]

    found = traced(case(Probe("Epoched", 2), 2, False, *plan), called, [[0, 1]], {"epochs": told})

    assert judged("batch.set-epoch", found) == reaches
    assert judged("batch.forwards", found) == forwards


@pytest.mark.parametrize(("told", "reaches"), [([3, 3], ""), ([3], "epoch-not-forwarded")])
def test_the_same_epoch_reaches_the_inner_sampler_again(told, reaches):
    """Who tells an epoch twice may have told the inner sampler another one meanwhile."""
    plan = [SetEpoch(3), Inspect(), SetEpoch(3), Inspect()]

    given = case(Probe("Epoched", 2), 2, False, *plan)
    found = traced(given, None, {"epochs": [3]}, None, {"epochs": told})

    assert judged("batch.set-epoch", found) == reaches


def test_set_epoch_is_not_offered_in_vain():
    """Over an inner sampler without `set_epoch` there is none."""
    plain = case(Probe("Counting", 2), 2, False, SetEpoch(3))

    assert judged("batch.forwards", traced(plain, None)) == "set-epoch-offered-in-vain"
    assert judged("batch.forwards", traced(plain, error("AttributeError"))) == ""


@pytest.mark.parametrize(("again", "anomaly"), [(0, ""), (1, "batch-shared")])
def test_no_two_batches_are_one_list(again, anomaly):
    """A batch of a later pass that is the list of an earlier one is not a list of its own."""
    plan = [ONE, ONE, Scribble()]

    found = traced(case(Probe("Counting", 2), 2, False, *plan), [[0, 1]], [[0, 1]], again)

    assert judged("batch.fresh", found) == anomaly


@pytest.mark.parametrize(
    ("kind", "first", "then", "anomaly"),
    [
        ("list", [[4, 1]], [[4, 4]], ""),
        ("list", [[4, 1]], [[4, 1]], "foreign-index"),
        ("backwards", [[1, 4]], [[4, 4]], ""),
        ("backwards", [[4, 1]], [[4, 4]], "reordered"),
    ],
)
def test_an_inner_list_is_iterated_anew(kind, first, then, anomaly):
    """What counts is what the list yields when the pass begins."""
    plan = [ONE, Overwrite(), ONE]

    found = traced(case(Values((4, 1), kind), 2, False, *plan), first, None, then)

    assert judged("batch.concatenation", found) == anomaly


@pytest.mark.parametrize(
    ("batches", "anomaly"),
    [([[1, 0, 1]], ""), ([[0, 1]], "lost-index"), ([[0, 0, 1]], "reordered")],
)
def test_a_random_inner_sampler_is_cut_in_its_own_length(batches, anomaly):
    """More items than there are data are whole permutations, and a part of one."""
    inner = Torch("RandomSampler", data_source=Data(2), num_samples=3)

    found = traced(case(inner, 3, False, ONE), batches)

    assert judged("batch.concatenation", found) == anomaly
