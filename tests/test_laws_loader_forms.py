"""The laws of `spec/loader.md` on traces written by hand: what is in items, and what is kept."""

import pytest
from by_hand import UNMET, error, items, judged, seen, traced

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order
from conformance.items import Leaf, Nest
from conformance.loading import Describe, Reread
from conformance.operations import Iterate, Len, Rebuild, SetEpoch
from conformance.trace import Event

FLOATS, TEXTS = "Tensor(float64, [2], [0.1, 1.1])", "list(str 'text 0', str 'text 1')"
POINT = Nest("named", (Leaf("float"), Leaf("text")))
KEYED = Nest("dict", (Leaf("float"), Leaf("text")), (1, None))


def asked(*forms, size=2, n=2, **options):
    data = Mapped(n, gives="formed", forms=forms, each=size or 1)
    return Case(
        "DataLoader", {"dataset": data, "batch_size": size, **options}, [Iterate(), Describe()]
    )


def told(case, *texts):
    """The trace of a pass whose batches are described by these texts."""
    return seen(case, Event(None, items([])), texts)


@pytest.mark.parametrize(
    ("form", "text", "right"),
    [
        (Leaf("float"), FLOATS, True),
        (Leaf("float"), "Tensor(float32, [2], [0.10000000149011612, 1.100000023841858])", False),
        (Leaf("float"), "Tensor(float64, [2, 1], [[0.1], [1.1]])", False),
        (Leaf("int"), "Tensor(int64, [2], [9007199254740993, 9007199254740994])", True),
        (Leaf("int"), "Tensor(int64, [2], [9007199254740992, 9007199254740994])", False),
        (Leaf("bool"), "Tensor(uint8, [2], [1, 1])", True),
        (Leaf("flagged"), "Tensor(float64, [2], [1.0, 1.5])", True),
        (Leaf("flagged"), "Tensor(bool, [2], [True, True])", False),
        (Leaf("label"), "list(str_ np.str_('text 0'), str_ np.str_('text 1'))", True),
        (Leaf("label"), TEXTS, False),
        (Leaf("word"), "list(Word 'text 0', Word 'text 1')", True),
        (Leaf("word"), "list(list(str 't', str 't'), list(str 'e', str 'e'))", False),
        (Leaf("tensor", "bool"), "Tensor(uint8, [2], [1, 1])", False),
        (Leaf("tensor", "bool"), "Tensor(bool, [2], [True, True])", True),
        (Leaf("tensor", "int8", (0, 3)), "Tensor(int8, [2, 0, 3], [[], []])", True),
        (Leaf("tensor", "int8", (0, 3)), "Tensor(int8, [2, 0], [[], []])", False),
        (POINT, f"Point({FLOATS}, {TEXTS})", True),
        (POINT, f"list({FLOATS}, {TEXTS})", False),
        (Nest("list", (POINT,)), f"list(Point({FLOATS}, {TEXTS}))", True),
        (Nest("list", (POINT,)), f"list(list({FLOATS}, {TEXTS}))", False),
        (Nest("tuple", (Leaf("text"),)), f"list({TEXTS})", True),
        (Nest("list"), "list()", True),
        (Nest("table"), "dict{}", False),
        (KEYED, f"dict{{None: {TEXTS}, 1: {FLOATS}}}", True),
        (KEYED, f"dict{{'None': {TEXTS}, '1': {FLOATS}}}", False),
        (KEYED, f"dict{{1: {FLOATS}}}", False),
        (Nest("ordered", KEYED.parts, KEYED.keys),
         f"OrderedDict{{None: {TEXTS}, 1: {FLOATS}}}", False),
    ],
)  # fmt: skip
def test_forms_are_read_part_by_part(form, text, right):
    """Values, types, shapes and containers count at any depth; what is free is read either way."""
    trace = told(asked(form), text)

    assert judged("loader.collate", trace) == ("" if right else "made-otherwise")
    assert judged("loader.batches", trace) == ("" if right else "other-values")


@pytest.mark.parametrize(
    ("form", "text", "anomaly"),
    [
        (Leaf("None"), "NoneType", ""),
        (Leaf("StopIteration"), "type <class 'StopIteration'>", ""),
        (Leaf("float"), "Tensor(float64, [], 0.1)", "other-values"),
        (Leaf("array", "int16", (1,)), "Tensor(int16, [1], [300])", ""),
        (Leaf("array", "int16", (1,)), "ndarray(int16, [1], [300])", ""),
        (Nest("tuple", (Leaf("None"),)), "tuple(NoneType)", ""),
    ],
)
def test_single_items_stay_what_they_are(form, text, anomaly):
    """With batching off only arrays may become tensors."""
    assert judged("loader.batches", told(asked(form, size=None, n=1), text)) == anomaly


def test_items_that_are_left_out_or_moved():
    """Too few batches, another order, and two that show the same are told apart."""
    case = asked(Leaf("float"), size=None, n=3)

    assert judged("loader.batches", told(case, "float 0.1", "float 1.1")) == "lost-batch"
    moved = told(case, "float 1.1", "float 0.1", "float 2.1")
    assert judged("loader.batches", moved) == "out-of-order"
    kept = told(case, "float 2.1", "float 1.1", "float 2.1")
    assert judged("loader.batches", kept) == "overwritten"
    raised = seen(case, error("ValueError"), ("float 0.1",))
    assert judged("loader.batches", raised) == "crash"


@pytest.mark.parametrize(
    ("text", "anomaly"),
    [
        ("Counter{'a': Tensor(int64, [2], [0, 1]), 'b': Tensor(int64, [2], [2, 2])}", ""),
        ("Counter{'a': Tensor(int64, [2], [0, 1]), 'b': Tensor(int64, [2], [4, 4])}",
         "made-otherwise"),
    ],
)  # fmt: skip
def test_counts_are_not_added(text, anomaly):
    """A Counter is a dict, whatever its `update` does."""
    data = {"dataset": Mapped(2, gives="counter"), "batch_size": 2}
    counted = Case("DataLoader", data, [Iterate(), Describe()])

    assert judged("loader.collate", told(counted, text)) == anomaly


def test_a_batch_of_bools_may_be_one_of_bools():
    """Where all items of a column are bools, their tensor may be one."""
    alone = told(asked(Leaf("flagged"), size=1, n=1), "Tensor(bool, [1], [True])")

    assert judged("loader.collate", alone) == ""


def test_a_collate_fn_may_give_anything():
    """What it gives is delivered, None as well."""
    case = Case(
        "DataLoader", {"dataset": Mapped(2), "collate_fn": Collate("odd")}, [Iterate(), Describe()]
    )

    assert judged("loader.batches", told(case, "NoneType", "bool False")) == ""
    assert judged("loader.batches", told(case, "bool False")) == "lost-batch"


def test_what_cannot_be_collated_is_refused_at_any_depth():
    """By an error that names it; no other clause demands a batch of it."""
    case = asked(Nest("list", (Nest("dict", (Leaf("None"),), ("a",)),)))

    assert judged("loader.collate", told(case, "list(dict{'a': list(NoneType)})")) != ""
    assert judged("loader.batches", told(case)) == UNMET


def test_a_buffer_of_the_loader_is_told_from_one_of_the_dataset():
    """Where each item was a new tensor, nobody but the loader can have written into a batch."""
    fresh = Rebuild((("dataset", Mapped(2, gives="tensor")),))
    plan = [Iterate(), Reread(), fresh, Iterate(), Reread()]
    case = Case("DataLoader", {"dataset": Mapped(2, gives="buffer"), "batch_size": None}, plan)

    own = traced(case, [0, 1], [1, 1], None, [0, 1], [0, 1])
    assert judged("loader.reused-buffer", own) == "overwritten"
    loaders = traced(case, [0, 1], [1, 1], None, [0, 1], [1, 1])
    assert judged("loader.reused-buffer", loaders) == "overwritten-by-loader"


def test_a_length_is_that_of_its_epoch():
    """What `len` says counts until the next epoch is set."""
    plan = [SetEpoch(0), Len(), Iterate(), SetEpoch(1), Len(), Iterate()]
    data = {"dataset": Mapped(3), "batch_size": None, "sampler": Order(2, "growing")}
    case = Case("DataLoader", data, plan)

    assert judged("loader.length", traced(case, None, 2, [0, 1], None, 3, [0, 1, 2])) == ""
    stale = traced(case, None, 2, [0, 1], None, 2, [0, 1, 2])
    assert judged("loader.length", stale) == "wrong-length"


def test_descriptions_are_compared_after_passes():
    """What was described before any pass says nothing of the number of workers."""
    plan = [
        Describe(),
        Iterate(),
        Describe(),
        Rebuild((("num_workers", 0),)),
        Iterate(),
        Describe(),
    ]
    case = asked(Leaf("float"), num_workers=2).with_plan(plan)
    passed = Event(None, items([]))

    alike = seen(case, (), passed, (FLOATS,), None, passed, (FLOATS,))
    assert judged("workers.same-order", alike) == ""
    other = seen(case, (), passed, (FLOATS,), None, passed, ("float 0.1",))
    assert judged("workers.same-order", other) == "other-collation"
