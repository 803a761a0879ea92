"""Cases of `spec/workers.md`: state, epochs, and workers that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Fault, Init, Mapped, Order, Stream
from conformance.loading import (
    Drop,
    Free,
    Journal,
    Ponder,
    Settle,
    Shut,
    Strike,
    Tell,
    Trickle,
)  # fmt: skip
from conformance.operations import (
    Drain,
    Iterate,
    Len,
    Open,
    Operation,
    SetEpoch,
    Take,
)
from conformance.recipes import Role, Torch
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import ROLE, STRAGGLER_S, loader

KEPT: tuple[dict[str, Any], ...] = ({}, {"persistent_workers": True})


# State and epochs.


def _told(setting: Setting) -> Iterator[Case]:
    """State of the dataset that is set before each pass; after one that was broken off, too."""
    whole = [step for mark in (1, 2, 3) for step in (Tell(mark), Iterate())]
    broken = [Tell(1), Open("a"), Take("a", 2), Drop("a"), Tell(2), Iterate()]
    ended = [Tell(1), Open("a"), Drain("a"), Tell(2), Open("b"), Drain("b")]
    for options in KEPT:
        for plan in (whole, broken):
            yield loader(Mapped(9, gives="marked"), plan, num_workers=2, batch_size=2, **options)
        yield loader(Mapped(3, gives="marked"), ended, num_workers=1, **options)
        yield loader(Stream(6, gives="marked"), whole, num_workers=3, **options)
        turns = Stream(4, shard="told", gives="marked")
        yield loader(turns, [Iterate(), *whole], num_workers=2, **options)
        forked = {"multiprocessing_context": "fork", **options}
        yield loader(Mapped(3, gives="held-marked"), whole, num_workers=1, **forked)
        yield loader(Mapped(4, gives="listed"), whole, num_workers=1, **options)
    for number, how in enumerate(("method", "list", "dict", "tensor", "inner", "array")):
        changed = [step for mark in (1, 2, 3) for step in (Tell(mark, how), Iterate())]
        data = (Mapped(4, gives="marked"), Stream(4, gives="marked"))[number % 2]
        yield loader(data, changed, num_workers=1 + number % 2, **KEPT[1])
    # Two passes at a time, and two more: whose workers are taken over has seen another state.
    both = [Tell(1), Open("a"), Tell(2), Open("b"), Drain("a"), Drain("b"), Open("c"), Open("d")]
    yield loader(
        Mapped(3, gives="marked"), [*both, Drain("c"), Drain("d")], num_workers=1, **KEPT[1]
    )
    # Of a large array the pickle of the dataset may only say where it lies.
    yield loader(Mapped(4, gives="marked"), changed, num_workers=2, **KEPT[1])
    # Its epoch is set on the dataset itself, as of a run that goes on where another ended.
    resumed = [step for epoch in (5, 5, 7) for step in (Tell(epoch, "method"), Iterate())]
    for options in KEPT:
        yield loader(Mapped(3, gives="epoched"), [*resumed, Iterate()], num_workers=1, **options)
    # A list of the user's own that holds the same is equal, whatever else has changed.
    for options in KEPT:
        yield loader(Mapped(4, gives="marked", poses="list"), whole, num_workers=1, **options)
    # An attribute that is gone is gone for the workers, too.
    gone = [Iterate(), Tell(1), Iterate(), Tell(0, "deleted"), Iterate()]
    for options in KEPT:
        yield loader(Mapped(3, gives="marked"), gone, num_workers=1, **options)


def _told_spawned(setting: Setting) -> Iterator[Case]:
    """The same of workers that get their dataset by pickle."""
    plan = [step for mark in (1, 2) for step in (Tell(mark), Iterate())]
    spawned: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "spawn"}
    yield loader(Mapped(2, gives="marked"), plan, "alone", **spawned)


def _told_late(setting: Setting) -> Iterator[Case]:
    """Workers that are kept are within an item of a pass that was broken off, for long, when they
    are to hear of the next one's state."""
    broken = [Tell(1), Trickle(-1, STRAGGLER_S), Open("a"), Ponder(0.2), Drop("a")]
    plan = [*broken, Tell(2), Open("b"), Ponder(1.0), Free(), Drain("b")]
    yield loader(Mapped(6, gives="marked", gated=1), plan, "alone", num_workers=2, **KEPT[1])


def _epochs(setting: Setting) -> Iterator[Case]:
    """Epochs that are announced in time, too late, and in the middle of a pass."""
    in_time = [step for epoch in (0, 1, 2) for step in (SetEpoch(epoch), Iterate())]
    late = [SetEpoch(1), Open("a"), SetEpoch(2), Drain("a"), Open("b"), SetEpoch(4), Drain("b")]
    midway = [SetEpoch(1), Open("a"), Take("a", 3), SetEpoch(3), Drain("a"), Iterate()]
    broken = [SetEpoch(1), Open("a"), Take("a", 2), Drop("a"), SetEpoch(2), Iterate()]
    ways: tuple[dict[str, Any], ...] = (
        {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True},
        {"num_workers": 1, "batch_size": None}, {"num_workers": 0},
        {"num_workers": 0, "batch_size": None},
    )  # fmt: skip
    for options in ways:
        for plan in (in_time, [*late, Iterate()], midway, broken):
            yield loader(Mapped(10), plan, sampler=Order(10, "epochs"), **options)
    for workers in (0, 2):
        batches = Order(6, "epochs-batches")
        yield loader(Mapped(6), [*late, Iterate()], batch_sampler=batches, num_workers=workers)
    spread = Role("DistributedSampler", dataset=Mapped(10), shuffle=True)
    plan = [SetEpoch(1), Iterate(), Open("a"), SetEpoch(5), Drain("a"), SetEpoch(1), Iterate()]
    for workers in (0, 2, 3):
        yield loader(Mapped(10), plan, sampler=spread, num_workers=workers, batch_size=2)
    plain = Torch("BatchSampler", sampler=spread, batch_size=2, drop_last=False)  # no set_epoch
    for workers in (0, 2):
        yield loader(Mapped(10), plan, batch_sampler=plain, num_workers=workers)


def _epochs_late(setting: Setting) -> Iterator[Case]:
    """Items of a pass that was broken off are still being made when the next one begins, or when
    another does, of as many as would be alike to who keeps one bit or two of their number."""
    slow = [SetEpoch(1), Trickle(0, 0.5), Open("a"), Take("a"), Ponder(0.1), Drop("a")]
    options = {"num_workers": 1, "prefetch_factor": 4, "persistent_workers": True}
    for between in (0, 1, 3):
        left = [step for e in range(between) for step in (SetEpoch(2 + e), Open("b"), Drop("b"))]
        plan = [*slow, *left, SetEpoch(5), Open("b"), Take("b"), Free(), Drain("b")]
        yield loader(Mapped(8, gated=1), plan, "alone", sampler=Order(8, "epochs"), **options)


# Two iterators.


def _pairs(setting: Setting) -> Iterator[Case]:
    """Two iterators at a time: in turns, one inside the other, and one after the other."""
    zipped = [Open("a"), Open("b"), *[Take("a"), Take("b")] * 4, Drain("a"), Drain("b")]
    nested = [Open("a"), Take("a"), Open("b"), Drain("b"), Take("a"), Open("c"), Drain("c")]
    after = [Open("a"), Drain("a"), Open("b"), Take("b"), Drop("b"), Open("c"), Drain("c")]
    before = [Open("a"), Drain("a"), Open("b"), Take("b"), Drop("a"), Open("c"), Drain("b")]
    ways: tuple[dict[str, Any], ...] = (
        {"num_workers": 1}, {"num_workers": 2, "batch_size": 2},
        {"num_workers": 3, "batch_size": None},
    )  # fmt: skip
    for options in ways:
        for plan in (zipped, [*nested, Drain("a")], after, [*before, Drain("c")]):
            yield loader(Mapped(5), plan, persistent_workers=True, **options)
    # The last batch has come, and nobody has asked for another yet.
    last: list[Operation] = [Open("a"), Take("a", 3), Open("b"), Take("b"), Drain("a"), Drain("b")]
    for workers in (1, 2):
        yield loader(Mapped(3), last, persistent_workers=True, num_workers=workers)
    names = ("a", "b", "c", "d")
    woven = [step for name in names for step in (Open(name), Take(name))]
    plan = [*woven, *map(Take, names), *map(Drain, names)]
    yield loader(Mapped(5), plan, persistent_workers=True, num_workers=1)


# The sampler, and the ranks.


def _asked(setting: Setting) -> Iterator[Case]:
    """Samplers that report each call of `__iter__`, in every place where a sampler can stand."""
    plan = [Journal(), Iterate(), Journal(), Open("a"), Take("a", 2), Drop("a"), Journal()]
    plan += [Iterate(), Journal()]
    ways: tuple[dict[str, Any], ...] = (
        {"sampler": Order(6)}, {"sampler": Order(6), "batch_size": None},
        {"batch_sampler": Order(4, "batches")}, {"sampler": Order(6, sized=False)},
        {"batch_sampler": Order(4, "batches", sized=False)},
    )  # fmt: skip
    for options in ways:
        given = ({"num_workers": 2}, {"num_workers": 3, **KEPT[1]})
        for workers in ({"num_workers": 0}, {"num_workers": 1}, *given):
            yield loader(Mapped(8), plan, **workers, **options)
        yield loader(Mapped(8), [Journal(), Len(), Len(), Journal(), *plan[1:]], **options)


def _asked_again(setting: Setting) -> Iterator[Case]:
    """A standing worker is killed between two passes: who starts it again has asked already."""
    killed = [Iterate(), Journal(), Strike(0), Settle(), Iterate(), Journal(), Iterate(), Journal()]
    kept: dict[str, Any] = {"num_workers": 2, "sampler": Order(6), **KEPT[1]}
    yield loader(Mapped(6), killed, "alone", **kept)


def _ranks(setting: Setting) -> Iterator[Case]:
    """Every rank loads its share, epoch after epoch; in the last case one is broken off."""
    epochs = [step for epoch in (0, 1, 2) for step in (SetEpoch(epoch), Iterate())]
    broken = [SetEpoch(0), Open("a"), Take("a"), Drop("a"), SetEpoch(1), Iterate()]
    for width in setting.world_sizes:
        for plan, options in ((epochs, KEPT[0]), (epochs, KEPT[1]), (broken, KEPT[1])):
            if width in (2, 3):
                spread = Role("DistributedSampler", dataset=Mapped(13), shuffle=True)
                options = {"sampler": spread, "batch_size": 2, "num_workers": 2, **options}
                yield Case(ROLE, {"dataset": Mapped(13), **options}, plan, width, world="group")


# A timeout.

SEVEN_WEEKS_S = 4_233_600


def _timeouts(setting: Setting) -> Iterator[Case]:
    """A gate that is shut for longer than the timeout: from the start, in the middle, and for one
    of two workers."""
    opened = [Free(), Settle(), Drain("a"), Drain("a"), Drain("a")]
    start = [Shut(), Open("a"), Take("a"), Take("a"), *opened]
    middle = [Open("a"), Take("a"), Settle(), Shut(), *[Take("a")] * 3, *opened]
    once = [Shut(), Open("a"), Take("a"), *opened]
    ways: tuple[tuple[list[Operation], int, float, dict[str, Any]], ...] = (
        (start, 2, 0.5, {}), (middle, 1, 1, {}), (once, 1, 1.5, KEPT[1]),
    )  # fmt: skip
    for plan, workers, timeout, options in ways:
        data = Mapped(8, gated=1)
        yield loader(data, plan, "alone", num_workers=workers, timeout=timeout, **options)
    # The batch that is due does not come, while another worker delivers and delivers.
    late = [Trickle(1, 0.3), Open("a"), Take("a"), *opened]
    options = {"num_workers": 2, "prefetch_factor": 9, "timeout": 0.4}
    yield loader(Mapped(20, gated=1), late, "alone", **options)
    # One worker after the other tells that its data have ended.
    ends = Stream(32, shard="uneven", lengths=(1, 2, 3, 4, 5), gated=1)
    told = [Trickle(-1, 0.6), Open("a"), Take("a"), *opened]
    options = {"num_workers": 6, "batch_size": 16, "drop_last": True, "timeout": 1.2}
    yield loader(ends, told, "alone", **options)
    # Each batch comes in time; all of them, or all that are under way, take longer than one may.
    slow = [Trickle(0, 0.2), Open("a"), Drain("a")]
    options = {"num_workers": 1, "prefetch_factor": 8, "timeout": 0.9}
    yield loader(Mapped(8, gated=1), slow, "alone", **options)
    # The caller is slow, too: from batch to batch it takes longer than a call may.
    later = [Open("a"), Take("a"), Settle(), Trickle(0, 1.6), Take("a"), Ponder(1.2), Take("a")]
    options = {"num_workers": 1, "prefetch_factor": 1, "timeout": 1.0}
    yield loader(Mapped(4, gated=1), [*later, Free(), Drain("a")], "alone", **options)
    # Another worker delivers and delivers, with time to spare where the machine is slow.
    late = [Trickle(1, 0.25), Open("a"), Take("a"), *opened]
    options = {"num_workers": 2, "prefetch_factor": 11, "timeout": 0.8}
    yield loader(Mapped(24, gated=1), late, "alone", **options)
    # Who looks after workers each 5 s must not wait for whole ones of these.
    yield loader(Mapped(8, gated=1), once, "alone", num_workers=1, timeout=5.5)
    # Seven weeks are more milliseconds than an int holds.
    soon = [Trickle(0, 0.02), Open("a"), Drain("a")]
    yield loader(Mapped(3, gated=1), soon, "alone", num_workers=1, timeout=SEVEN_WEEKS_S)
    # A worker does not come to its first item, as its start does not return.
    never = Init(faults=(Fault("init", 0, "hang"),))
    starting = [Shut(), Open("a"), Take("a"), Take("a")]
    options = {"num_workers": 1, "timeout": 1.0, "worker_init_fn": never}
    yield loader(Mapped(3), starting, "alone", **options)
    # Each batch comes in time, and two of them together do not.
    slow = [Trickle(0, 1.1), Open("a"), Drain("a")]
    options = {"num_workers": 1, "prefetch_factor": 2, "timeout": 1.7}
    yield loader(Mapped(3, gated=1), slow, "alone", **options)


TOLD = Scenario("told", _told)
TOLD_SPAWNED = Scenario("told-spawned", _told_spawned, slow=True)
TOLD_LATE = Scenario("told-late", _told_late)
EPOCHS = Scenario("worker-epochs", _epochs)
EPOCHS_LATE = Scenario("worker-epochs-late", _epochs_late)
PAIRS = Scenario("pairs", _pairs)
ASKED = Scenario("asked", _asked)
ASKED_AGAIN = Scenario("asked-again", _asked_again)
RANKS = Scenario("ranks", _ranks)
TIMEOUTS = Scenario("timeouts", _timeouts)
