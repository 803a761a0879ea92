"""The laws of `spec/transfer.md` on traces written by hand: no accelerator is needed for these."""

from dataclasses import replace

import pytest
from by_hand import UNMET, error, items, judged

from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped
from conformance.loading import Carry, Contexts, Describe, Devices, Overlap, Pinned
from conformance.operations import Iterate, Open, Rebuild, Take
from conformance.trace import Event, RankTrace, Trace

ONE, TEXT = Iterate(), Describe()

PLAIN = Rebuild((("pin_memory", False),))

NOBODY, ONE_DEVICE, TWO_DEVICES = (0, -1), (1, 0), (2, 1)
"""What `Devices` gives: how many there are, and the current one."""


def trace(data, plan, results, **options):
    """A trace of a loader that pins; errors are errors, lists are items, all else values."""
    of = Case("DataLoader", {"dataset": data, "pin_memory": True, **options}, plan)
    events = [Event(None)]
    for operation, result in zip(plan, results, strict=True):
        failed = hasattr(result, "message")
        value = items(result) if isinstance(result, list) else result
        events.append(Event(operation, None if failed else value, result if failed else None))
    return Trace(of, (RankTrace(0, tuple(events)),))


def compared(devices, ours, theirs, gives="tensor", passed=()):
    """The same pass with pinned memory and without it, described."""
    plan = [Devices(), ONE, TEXT, PLAIN, Iterate(), Describe()]
    passed = passed or []
    return trace(Mapped(2, gives=gives), plan, [devices, passed, ours, None, [], theirs])


TENSOR, PINNED = "Tensor(int64, [1], [0])", "Tensor(int64, [1], [0], pinned)"


def test_without_accelerator_nothing_changes():
    """Neither values nor types; an exception is a change as well."""
    assert judged("transfer.no-accelerator", compared(NOBODY, (TENSOR,), (TENSOR,))) == ""
    other = compared(NOBODY, (f"list({TENSOR})",), (f"tuple({TENSOR})",))
    assert judged("transfer.no-accelerator", other) == "changed"
    raised = compared(NOBODY, (), (TENSOR,), passed=error("RuntimeError"))
    assert judged("transfer.no-accelerator", raised) == "crash"
    assert judged("transfer.no-accelerator", compared(ONE_DEVICE, (PINNED,), (TENSOR,))) == UNMET


@pytest.mark.parametrize(
    ("ours", "theirs", "anomaly"),
    [
        ((), (), ""),
        (("no accelerator",), (), ""),
        (("no accelerator",) * 2, (), "warned-again"),
        (("no accelerator", "few processors"), ("few processors",), ""),
    ],
)
def test_one_warning_is_enough(ours, theirs, anomaly):
    """Those that come without `pin_memory` as well do not count."""
    found = compared(NOBODY, (TENSOR,), (TENSOR,))
    events = list(found.ranks[0].events)
    events[2] = replace(events[2], warnings=ours)
    events[5] = replace(events[5], warnings=theirs)
    found = replace(found, ranks=(RankTrace(0, tuple(events)),))

    assert judged("transfer.no-accelerator", found) == anomaly


@pytest.mark.parametrize(
    ("texts", "anomaly"),
    [
        (("Pinnable 0, pinned", "Pinnable 1, pinned"), ""),
        (("Pinnable 0, pinned", "Pinnable 1"), "not-asked"),
        (("dict{'x': list(Pinnable 0, pinned), 'y': tuple(Pinnable -1)}",), "not-asked"),
        (("NoneType",), "not-asked"),
    ],
)
def test_objects_that_pin_themselves_are_asked(texts, anomaly):
    """What such a method gives is delivered, at any depth; an exception is told as one."""
    plan = [Devices(), ONE, TEXT]

    found = trace(Mapped(2, gives="pinnable"), plan, [ONE_DEVICE, [], texts])
    raised = trace(Mapped(2, gives="pinnable"), plan, [ONE_DEVICE, error("TypeError"), texts])

    assert judged("transfer.objects", found) == anomaly
    assert judged("transfer.objects", raised) == "crash"
    assert judged("transfer.objects", trace(Mapped(2), plan, [ONE_DEVICE, [], texts])) == UNMET


@pytest.mark.parametrize(
    ("ours", "containers", "values"),
    [
        (f"Point({PINNED}, int 1)", "", ""),
        (f"Point({TENSOR}, int 1)", "", ""),
        (f"list({PINNED}, int 1)", "container-changed", ""),
        (f"Point({PINNED}, int 2)", "container-changed", ""),
        (f"Point<label 'x'>({PINNED}, int 1)", "container-changed", ""),
        ("Point(Tensor(int64, [1], [9], pinned), int 1)", "", "value-changed"),
        ("Point(Tensor(int32, [1], [0], pinned), int 1)", "", "value-changed"),
    ],
)
def test_pinning_changes_neither_containers_nor_values(ours, containers, values):
    """What is around the tensors is one question, what is in them another."""
    found = compared(ONE_DEVICE, (ours,), (f"Point({TENSOR}, int 1)",), gives="named")

    assert judged("transfer.containers", found) == containers
    assert judged("transfer.values", found) == values
    assert judged("transfer.containers", compared(NOBODY, (ours,), (ours,))) == UNMET


def test_batches_keep_their_order():
    """The same tensors in another order are another pass."""
    two = TENSOR, TENSOR.replace("[0]", "[1]")

    assert judged("transfer.values", compared(ONE_DEVICE, two[::-1], two)) == "out-of-order"


@pytest.mark.parametrize(
    ("found", "anomaly"),
    [((3, ()), ""), ((3, ("batches[0]['x']",)), "not-pinned"), ((0, ()), UNMET)],
)
def test_every_tensor_is_pinned(found, anomaly):
    """At any depth; a batch without tensors tells nothing."""
    plan = [Devices(), ONE, Pinned()]

    assert judged("transfer.pinned", trace(Mapped(1), plan, [ONE_DEVICE, [0], found])) == anomaly


@pytest.mark.parametrize(
    ("devices", "before", "rows", "after", "anomaly"),
    [
        (TWO_DEVICES, (), [[0, 0, 0]], (1,), ""),
        (TWO_DEVICES, (0,), [[0, 0, 0]], (0, 1), ""),
        (TWO_DEVICES, (), [[0, 0, 0]], (0, 1), "context-elsewhere"),
        (TWO_DEVICES, (), [[0, 0, 1]], (1,), "context-in-worker"),
        (TWO_DEVICES, (), [[0, -1, 1]], (1,), ""),
        (ONE_DEVICE, (), [[0, 0, 0]], (0,), ""),
        (ONE_DEVICE, (), error("RuntimeError"), (0,), "crash"),
    ],
)
def test_contexts_are_on_the_current_device_only(devices, before, rows, after, anomaly):
    """Rows: element, worker, and whether a device was in use where it was made."""
    plan = [Contexts(), Devices(-1), ONE, Contexts()]
    results = [before, devices, rows, after]

    found = trace(Mapped(1, gives="device"), plan, results, num_workers=1)

    assert judged("transfer.device", found) == anomaly


def test_one_device_and_no_workers_tell_nothing():
    """There is no other device, and no other process."""
    plan = [Contexts(), Devices(-1), ONE, Contexts()]
    results = [(), ONE_DEVICE, [[0, -1, 1]], (0,)]

    assert judged("transfer.device", trace(Mapped(1, gives="device"), plan, results)) == UNMET


UNPINNABLE = Mapped(3, faults=(Fault("item", 1, "unpinnable"),))


def failing(*results, devices=ONE_DEVICE):
    plan = [Devices(), Open("a"), Take("a", 1), Take("a", 1)]
    keep = {"batch_size": None, "collate_fn": Collate("list"), "num_workers": 2}
    return trace(UNPINNABLE, plan, [devices, None, *results], **keep)


def test_what_cannot_be_pinned_is_an_error():
    """It reaches the caller; it is neither lost nor waited for."""
    assert judged("transfer.error", failing([0], error("Planned"))) == ""
    assert judged("transfer.error", failing([0], [1])) == "error-lost"
    assert judged("transfer.error", failing([0], error("Hang"))) == "hang"
    assert judged("transfer.error", failing([0], error("Hang"), devices=NOBODY)) == UNMET
    assert judged("transfer.error", failing([0], [1], devices=NOBODY)) == UNMET


def test_an_error_that_comes_late():
    """The bound is ten seconds."""
    found = failing([0], error("Planned"))
    events = found.ranks[0].events
    slow = (*events[:-1], replace(events[-1], seconds=10.5))

    late = replace(found, ranks=(RankTrace(0, slow),))

    assert judged("transfer.error", late) == "late-error"


@pytest.mark.parametrize(
    ("second", "text", "anomaly"),
    [
        ([0, 1], (PINNED,), ""),
        ([0, 1], (), "another-pass"),
        (error("ValueError"), (), "crash"),
    ],
)
def test_later_passes_are_like_the_first(second, text, anomaly):
    """With workers that stay alive."""
    plan = [Devices(), ONE, TEXT, Iterate(), Describe()]
    results = [ONE_DEVICE, [0, 1], (PINNED,), second, text]
    options = {"num_workers": 2, "persistent_workers": True}

    assert judged("transfer.persistent", trace(Mapped(2), plan, results, **options)) == anomaly
    assert judged("transfer.persistent", trace(Mapped(2), plan, results, num_workers=2)) == UNMET


@pytest.mark.parametrize(
    ("copies", "anomaly"),
    [
        (((0, 0), (1, 1)), ""),
        (((1, 1), (1, 1)), "overwritten"),
        (((0, 1), (1, 1)), "overwritten"),
    ],
)
def test_copies_hold_their_own_batch(copies, anomaly):
    """The least and the greatest number in the copy of batch k are k."""
    plan = [Devices(), Carry()]
    found = trace(Mapped(2, gives="large"), plan, [ONE_DEVICE, copies], batch_size=None)

    assert judged("transfer.staging", found) == anomaly


@pytest.mark.parametrize(
    ("both", "anomaly"), [(4.1, ""), (7.0, ""), (7.5, "late-copy"), (8.2, "late-copy")]
)
def test_copy_and_computation_overlap(both, anomaly):
    """Of 4 ms each, at least a fifth runs beside the other."""
    timed = {"copy": 4.0, "compute": 4.0, "both": both}
    found = trace(Mapped(2, gives="large"), [Devices(), Overlap()], [ONE_DEVICE, timed])

    assert judged("transfer.overlap", found) == anomaly
