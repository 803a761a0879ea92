"""The laws of `spec/loader.md` on traces written by hand: batches, fetches, lengths, collation."""

from dataclasses import replace

import pytest
from by_hand import UNMET, error, journal, judged, seen, traced

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order
from conformance.loading import Describe, Journal, Reload, Reread
from conformance.operations import Iterate, Len, SetEpoch
from conformance.recipes import Values
from conformance.trace import Error, Event, RankTrace, Trace


def case(data, *plan, **options):
    return Case("DataLoader", {"dataset": data, **options}, plan)


@pytest.mark.parametrize(
    ("options", "batches", "anomaly"),
    [
        ({"batch_size": 2}, [[0, 1], [2, 3], [4]], ""),
        ({"batch_size": 2}, [[0, 1], [2, 3]], "lost-batch"),
        ({"batch_size": 2}, [[2, 3], [0, 1], [4]], "out-of-order"),
        ({"batch_size": 2}, [0, 1, 2, 3, 4], "batched-otherwise"),
        ({"batch_size": 2}, [[1, 0], [2, 3], [4]], "other-batches"),
        ({"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]], ""),
        ({"batch_size": None}, [0, 1, 2, 3, 4], ""),
        ({"batch_size": None}, [[0], [1], [2], [3], [4]], "batched-otherwise"),
        ({"batch_size": None, "sampler": Values((4, 0, 4))}, [4, 0, 4], ""),
        ({"batch_sampler": Values(((3, 1), (2,)))}, [[3, 1], [2]], ""),
        ({"batch_size": 2, "collate_fn": Collate("sum")}, [1, 5, 4], ""),
        ({"batch_size": 2, "collate_fn": Collate("double")}, [[0, 2], [4, 6], [8]], ""),
        ({"batch_size": None, "collate_fn": Collate("double")}, [0, 1, 2, 3, 4], "other-batches"),
        ({"batch_size": 2, "shuffle": True}, [[3, 1], [0, 4], [2]], ""),
        ({"batch_size": 2, "shuffle": True}, [[3, 1], [3, 4], [2]], "other-batches"),
        ({"batch_size": 2, "shuffle": True}, [[3], [1, 0], [4, 2]], "other-batches"),
        ({}, error("ValueError"), "crash"),
    ],
)
def test_batches_are_cut_as_they_were_asked_for(options, batches, anomaly):
    """From the sampler by size, or given; single items; collated by the function that was given."""
    assert (
        judged("loader.batches", traced(case(Mapped(5), Iterate(), **options), batches)) == anomaly
    )


def test_batches_follow_the_epoch():
    """Each pass has the order of the epoch that was set before it."""
    plan = [SetEpoch(1), Iterate(), SetEpoch(2), Iterate()]
    asked = case(Mapped(3), *plan, sampler=Order(3, "epochs"), batch_size=None)

    assert judged("loader.batches", traced(asked, None, [1, 2, 0], None, [2, 0, 1])) == ""
    stale = traced(asked, None, [1, 2, 0], None, [1, 2, 0])
    assert judged("loader.batches", stale) == "out-of-order"


def test_a_pass_goes_by_the_loader_that_was_built_last():
    """Another loader over the same data has a sampler and a `collate_fn` of its own."""
    given = (("collate_fn", Collate("double")), ("sampler", Order(3, "descending")))
    asked = case(Mapped(3), Iterate(), Reload(given, beside=True), Iterate(), batch_size=2)

    assert judged("loader.batches", traced(asked, [[0, 1], [2]], None, [[4, 2], [0]])) == ""
    as_before = traced(asked, [[0, 1], [2]], None, [[0, 1], [2]])
    assert judged("loader.batches", as_before) == "other-batches"


def test_a_refused_construction():
    """A mode that is refused is a violation; an option that the candidate does not have is none."""
    refused = traced(case(Mapped(3)), construction=error("ValueError"))
    unknown = Error(("TypeError",), "__init__() got an unexpected keyword argument 'in_order'")

    assert judged("loader.batches", refused) == "refused"
    assert judged("loader.batches", traced(case(Mapped(3)), construction=unknown)) == UNMET


@pytest.mark.parametrize(
    ("fetched", "anomaly"),
    [
        ((4, 0, 4), ""),
        ((0, 4, 4), ""),
        ((4, 0), "not-fetched"),
        ((4, 0, 4, 0), "fetched-again"),
        ((4, 0, 4, 1), "foreign-fetch"),
    ],
)
def test_fetches_are_counted(fetched, anomaly):
    """As often as the batches hold an index, in any order."""
    asked = case(Mapped(5), Iterate(), Journal(), sampler=Values((4, 0, 4)), batch_size=None)

    found = seen(asked, [4, 0, 4], journal(*(f"fetch {index}" for index in fetched)))

    assert judged("loader.fetch-once", found) == anomaly


def test_fetches_of_a_broken_pass_are_not_counted():
    """Without a journal, or after an error, nobody can tell."""
    asked = case(Mapped(2), Iterate(), Journal(), batch_size=None)

    broken = seen(asked, error("ValueError"), journal("fetch 0"))

    assert judged("loader.fetch-once", broken) == UNMET
    assert judged("loader.fetch-once", traced(asked.with_plan([Iterate()]), [0, 1])) == UNMET


@pytest.mark.parametrize(
    ("length", "anomaly"),
    [(3, ""), (2, "wrong-length"), (error("TypeError"), ""), (error("ValueError"), UNMET)],
)
def test_length_is_that_of_a_pass(length, anomaly):
    """If it returns at all."""
    found = traced(case(Mapped(5), Len(), Iterate(), batch_size=2), length, [[0, 1], [2, 3], [4]])

    assert judged("loader.length", found) == anomaly


@pytest.mark.parametrize(
    ("options", "passed", "anomaly"),
    [
        ({}, Error(("TypeError",), "object of type 'X' has no len()"), ""),
        ({}, Error(("TypeError",), "'NoneType' object is not iterable"), "length-not-named"),
        ({}, Error(("AttributeError",), "no __len__"), "length-not-named"),
        ({}, [0, 1, 2], ""),
        ({}, [], "length-invented"),
        ({"shuffle": True}, [2, 0, 1], "length-invented"),
        ({"sampler": Values((2, 2))}, [2, 2], ""),
        ({"sampler": Values((2, 2))}, Error(("TypeError",), "no len()"), "length-demanded"),
    ],
)
def test_a_missing_length(options, passed, anomaly):
    """It is no matter with a sampler of its own, and named where it is needed."""
    asked = case(Mapped(3, sized=False), Iterate(), batch_size=None, **options)

    assert judged("loader.unsized", traced(asked, passed)) == anomaly


ITEMS = ("fetch 0", "fetch 1", "fetch 2")


@pytest.mark.parametrize(
    ("many", "passed", "told", "anomaly"),
    [
        ("all", [[0, 1], [2]], ("collate 2", *ITEMS[:2], "collate 1", *ITEMS[2:]), ""),
        ("all", [[0, 1], [2]], ITEMS, "asked-one-by-one"),
        ("all", [[0, 1], [2]], ("collate 3", *ITEMS), "asked-otherwise"),
        ("fewer", [[0]], (), "wrong-count-accepted"),
        ("more", [], (), "wrong-count-accepted"),
        ("fewer", error("RuntimeError"), (), ""),
        ("none", [[0, 1], [2]], ITEMS, ""),
        ("none", error("TypeError"), (), "none-asked"),
        ("none", [[0, 1]], ITEMS[:2], "none-asked"),
    ],
)
def test_several_items_at_once(many, passed, told, anomaly):
    """One call for each batch, an error for an answer of another length, no call of None."""
    asked = case(Mapped(3, many=many), Iterate(), Journal(), batch_size=2)

    assert judged("loader.getitems", seen(asked, passed, journal(*told))) == anomaly


@pytest.mark.parametrize(
    ("told", "anomaly"), [(ITEMS, ""), (("collate 1", "fetch 0", *ITEMS[1:]), "asked-together")]
)
def test_without_batches_items_are_asked_for_alone(told, anomaly):
    """An index that is a list stands for one item."""
    order = Order(3, "lists")
    asked = case(Mapped(3, many="all"), Iterate(), Journal(), batch_size=None, sampler=order)

    assert judged("loader.getitems", seen(asked, [0, 1, 2], journal(*told))) == anomaly


@pytest.mark.parametrize(("last", "anomaly"), [(9, ""), (7, "answer-doubled")])
def test_each_place_has_an_answer_of_its_own(last, anomaly):
    """Random items of one index differ, so that one which came twice is seen."""
    options = {"batch_size": 2, "sampler": Values((4, 4))}
    asked = case(Mapped(6, gives="dice", many="all"), Iterate(), Describe(), **options)
    text = f"list(tuple(int 4, int -1, int 7), tuple(int 4, int -1, int {last}))"

    assert judged("loader.getitems", seen(asked, [], (text,))) == anomaly


def test_calls_of_two_workers_are_told_apart():
    """Each process has calls of its own, whose requests may alternate with another's."""
    asked = case(Mapped(4, many="all"), Iterate(), Journal(), batch_size=2, num_workers=2)
    first, second = journal("collate 2", *ITEMS[:2]), journal("collate 2", "fetch 2", "fetch 3")
    others = [replace(record, pid=2) for record in second]

    mixed = tuple(record for pair in zip(first, others, strict=True) for record in pair)

    assert judged("loader.getitems", seen(asked, [[0, 1], [2, 3]], mixed)) == ""


POINT = "(Tensor(int64, [2, 1, 1], [[[0]], [[1]]]), Tensor(int64, [2], [0, 1]))"
FIRST = "'x': Tensor(int64, [2, 2], [[0, 1], [1, 2]])"
FLOATS = "Tensor(float32, [2], [0.0, 1.0])"


@pytest.mark.parametrize(
    ("gives", "described", "anomaly"),
    [
        ("number", "Tensor(int64, [2], [0, 1])", ""),
        ("number", "Tensor(float32, [2], [0, 1])", ""),
        ("number", "list(int 0, int 1)", "made-otherwise"),
        ("tensor", "Tensor(float32, [2], [0, 1])", "made-otherwise"),
        ("text", "tuple(str 'text 0', str 'text 1')", ""),
        ("text", "str 'text 0 text 1'", "made-otherwise"),
        ("named", f"Point{POINT}", ""),
        ("named", f"tuple{POINT}", "made-otherwise"),
        ("dict", f"dict{{'y': Tensor(int64, [2], [0, 1]), {FIRST}}}", ""),
        ("ordered", f"OrderedDict{{'b': Tensor(int64, [2], [0, 1]), 'a': {FLOATS}}}", ""),
        ("ordered", f"dict{{'b': Tensor(int64, [2], [0, 1]), 'a': {FLOATS}}}", "made-otherwise"),
        ("tuple", "tuple(Tensor(int64, [2], [0, 1]), Tensor(float32, [2, 1], [[0.0], [1.0]]))", ""),
        ("flag", "Tensor(bool, [2], [True, False])", ""),
    ],
)
def test_collation_keeps_structure(gives, described, anomaly):
    """And stacks what can be stacked; a tuple may become a list, and keys may change places."""
    asked = case(Mapped(2, gives=gives), Iterate(), Describe(), batch_size=2)

    assert judged("loader.collate", seen(asked, [[0, 1]], (described,))) == anomaly


@pytest.mark.parametrize(
    ("passed", "anomaly"),
    [
        (Error(("TypeError",), "found <class 'Foreign'>"), ""),
        (Error(("TypeError",), "cannot be collated"), "type-not-named"),
        ([[0, 1]], "foreign-accepted"),
    ],
)
def test_collation_refuses_by_name(passed, anomaly):
    """What cannot be collated is refused, and its type named."""
    asked = case(Mapped(2, gives="foreign"), Iterate(), batch_size=2)

    assert judged("loader.collate", traced(asked, passed)) == anomaly


def test_a_buffer_that_is_overwritten():
    """What was delivered is read again; a warning that speaks of it is enough."""
    asked = case(Mapped(2, gives="buffer"), Iterate(), Reread(), batch_size=None)
    found = traced(asked, [0, 1], [1, 1])
    events = found.ranks[0].events
    warned = [*events[:1], replace(events[1], warnings=("UserWarning: reused",)), *events[2:]]

    assert judged("loader.reused-buffer", found) == "overwritten"
    assert judged("loader.reused-buffer", traced(asked, [0, 1], [0, 1])) == ""
    assert judged("loader.reused-buffer", Trace(asked, (RankTrace(0, tuple(warned)),))) == ""


def test_an_empty_dataset():
    """Length 0, empty passes, and no error."""
    asked = case(Mapped(0), Len(), Iterate(), shuffle=True)

    assert judged("loader.empty", traced(asked, 0, [])) == ""
    assert judged("loader.empty", traced(asked, 1, [])) == "empty-length"
    assert judged("loader.empty", traced(asked, 0, [0])) == "empty-yields"
    refused = traced(asked.with_plan([]), construction=error("ValueError"))
    assert judged("loader.empty", refused) == "empty-raises"
    assert judged("loader.empty", traced(case(Mapped(1), Len()), 1)) == UNMET


def test_a_hang_is_judged_elsewhere():
    """No law of this chapter accuses a loader that did not come back."""
    asked = case(Mapped(2), Iterate(), batch_size=None)
    hung = Event(asked.plan[0], None, Error(("Hang",), "it waits"))

    found = Trace(asked, (RankTrace(0, (Event(None), hung)),))

    assert judged("loader.batches", found) == UNMET
