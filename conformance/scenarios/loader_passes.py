"""Cases of `spec/loader.md` about single passes: errors, iterators side by side, ends, buffers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import Drop, Journal, Ponder, Reread, Settle, Strike
from conformance.operations import Drain, Iterate, Open, Operation, Rebuild, Resize, Take
from conformance.recipes import Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import counted, interleavings, loader, takes
from conformance.worlds.mishaps import ORDINARY

ODD = (
    "Planned", "KeyError", "IndexError", "OSError", "TwoArguments", "KeywordOnly", "WithMessage",
    "Building", "ExceptionGroup", "Local", "Unpicklable", "Explosive", "KeyboardInterrupt",
    "SystemExit",
)  # fmt: skip
"""What may be raised where there is no worker between the dataset and the caller."""


def _errors(setting: Setting) -> Iterator[Case]:
    """Each exception from a dataset; some from `collate_fn`, and from a sampler."""
    for what, size in itertools.product(ODD, (2, None)):
        yield loader(Mapped(5, faults=(Fault("item", 2, what),)), [Iterate()], batch_size=size)
    for number, what in enumerate((*ORDINARY, "Dropped", "Direct", "GeneratorExit")):
        fault = (Fault("item", 2, what),)
        yield loader(Mapped(5, faults=fault), [Iterate()], batch_size=(2, None)[number % 2])
        yield _elsewhere(number // 2, what, batch_size=(2, None)[number % 2])
    for what in ("Planned", "OSError", "IndexError", "KeywordOnly"):
        for size in (2, None):
            function = Collate("list", (Fault("collate", 2, what),))
            yield loader(Mapped(5), [Iterate()], batch_size=size, collate_fn=function)
            for broken in (Fault("sampler", 2, what), Fault("begin", 0, what)):
                order = Order(5, faults=(broken,))
                yield loader(Mapped(5), [Iterate()], batch_size=size, sampler=order)
        batches = Order(4, "batches", (Fault("sampler", 2, what),))
        yield loader(Mapped(9), [Iterate()], batch_sampler=batches)
        many = Mapped(5, faults=(Fault("item", 2, what),), many="all")
        yield loader(many, [Iterate()], batch_size=2)
    for what in ORDINARY:  # nobody asks again, in another way, for what was refused once
        passing = (Fault("item", 2, what, once=True),)
        yield loader(Mapped(5, faults=passing, many="all"), [Iterate()], batch_size=2)
    for size in (2, None):
        passing = (Fault("item", 2, "OSError", once=True),)
        yield loader(Mapped(5, faults=passing), [Iterate()], batch_size=size)
        leaking = Order(5, faults=(Fault("sampler", 2, "Leaked"),))
        yield loader(Mapped(5), [Iterate()], batch_size=size, sampler=leaking)
        unsized = Mapped(5, sized=False, faults=(Fault("item", 2, "IndexError"),))
        yield loader(unsized, [Iterate()], batch_size=size, sampler=Order(5))
        stream = Stream(7, faults=(Fault("item", 3, "Leaked"),))
        yield loader(stream, [Iterate()], batch_size=size)
    for what, size in itertools.product(("Located", "Percent", "Hollow"), (2, None)):
        yield loader(Mapped(5, faults=(Fault("item", 2, what),)), [Iterate()], batch_size=size)


def _elsewhere(number: int, what: str, **options: Any) -> Case:
    """An exception of `collate_fn` or of the sampler, in turn."""
    if number % 2 or what == "GeneratorExit":
        function = Collate("list", (Fault("collate", 2, what),))
        return loader(Mapped(5), [Iterate()], collate_fn=function, **options)
    order = Order(5, faults=(Fault("sampler", 2, what),))
    return loader(Mapped(5), [Iterate()], sampler=order, **options)


STOPPING: list[Operation] = [Open("a"), *[Take("a", 9)] * 4]
"""The first `Take` sees what a loop would see. The others let the pass come to its true end: torch
needs 5 s for each worker of a pass that raised and was then dropped."""


def _stops(setting: Setting) -> Iterator[Case]:
    """A StopIteration from each function, in the main process and in workers."""
    fault, late = ((Fault("item", at, "StopIteration"),) for at in (2, 3))
    collate = Collate("list", (Fault("collate", 2, "StopIteration"),))
    many = Mapped(6, faults=fault, many="all")
    sources: tuple[tuple[Any, dict[str, Any]], ...] = (
        (Mapped(6, faults=fault), {"batch_size": 2}), (many, {"batch_size": 2}),
        (Mapped(6, faults=fault), {"batch_size": None}),
        (Mapped(6, faults=late), {"batch_size": 2}),
        (Mapped(6), {"batch_size": 2, "collate_fn": collate}),
        (Mapped(6), {"batch_size": None, "collate_fn": collate}),
        (Stream(6), {"batch_size": 2, "collate_fn": collate}),
        (Stream(6), {"batch_size": None, "collate_fn": collate}),
    )  # fmt: skip
    for count, (data, options) in itertools.product((0, 1, 2), sources):
        if takes(setting, **counted(count)):
            yield loader(data, STOPPING, **options, **counted(count))
    own = (Fault("item", 2, "ShardDone"),)
    for count in (0, 1):
        if takes(setting, **counted(count)):
            yield loader(Mapped(6, faults=own), STOPPING, batch_size=2, **counted(count))


def _stopped_starts(setting: Setting) -> Iterator[Case]:
    """One from `worker_init_fn`; alone, since torch then waits 5 s for its worker."""
    init = Init("report", (Fault("init", 0, "StopIteration"),))
    if takes(setting, num_workers=1, worker_init_fn=init):
        for data in (Mapped(2), Stream(2)):
            yield loader(data, [*STOPPING, Journal()], "alone", num_workers=1, worker_init_fn=init)


def _after(setting: Setting) -> Iterator[Case]:
    """Broken items at the start, in the middle, at the end, side by side; every `next` apart."""
    counts = _counts(setting)
    for count, size in itertools.product(counts, (None, 2)):
        options: dict[str, Any] = {"batch_size": size, **counted(count)}
        walk = _walk(size)
        for broken in ((1,), (0,), (5,), (2, 3), (0, 1, 2, 3, 4, 5)):
            data = Mapped(6, faults=tuple(Fault("item", at, "ValueError") for at in broken))
            yield loader(data, walk, **options)
        collate = Collate("list", (Fault("collate", 2, "ValueError"),))
        yield loader(Mapped(6), walk * 2, collate_fn=collate, **options)
    for count in counts:
        data = Mapped(14, faults=tuple(Fault("item", at, "ValueError") for at in range(1, 13)))
        steps = [Open("a"), *[Take("a")] * 14, Drain("a")]
        yield loader(data, steps, batch_size=None, **counted(count))
        alike = Mapped(6, faults=tuple(Fault("item", at, "Same") for at in (1, 3, 4)))
        yield loader(alike, _walk(None), batch_size=None, **counted(count))
    free: dict[str, Any] = {"num_workers": 2, "prefetch_factor": 4, "in_order": False}
    if takes(setting, **free):
        burst = [Open("a"), Take("a"), Settle(), *[Take("a")] * 8, Drain("a")]
        for broken in ((1,), (2, 3), (4, 7)):
            data = Mapped(9, faults=tuple(Fault("item", at, "ValueError") for at in broken))
            yield loader(data, burst, **free)
    if takes(setting, num_workers=3):
        data = Mapped(9, faults=tuple(Fault("item", at, "KeyError") for at in (1, 3, 4)))
        yield loader(
            data, [Open("a"), *[Take("a")] * 9, Drain("a")], batch_size=None, num_workers=3
        )
    for size in (None, 2):  # what no handler of Exception sees may be gone on from, too
        data = Mapped(6, faults=(Fault("item", 2, "Direct"),))
        yield loader(data, _walk(size), batch_size=size)


def _counts(setting: Setting) -> tuple[int, ...]:
    """Numbers of workers, as far as the candidate takes any."""
    return (0, 1, 2) if takes(setting, num_workers=1) else (0,)


def _walk(size: int | None) -> list[Operation]:
    """A pass over six items, each `next` apart."""
    return [Open("a"), *[Take("a")] * (6 // (size or 1)), Drain("a")]


def _given_up(setting: Setting) -> Iterator[Case]:
    """A pass is given up at its error, then comes another. To let it go takes torch 5 s for each
    worker, so nobody waits in line."""
    counts = _counts(setting)
    for count, size in itertools.product(counts, (None, 2)):
        data = Mapped(6, faults=(Fault("item", size or 1, "ValueError"),))
        plan = [Open("a"), Take("a"), Take("a"), Drop("a"), *_walk(size)]
        yield loader(data, plan, "alone", batch_size=size, **counted(count))


TURNED = Values((2, 0, 1))


def _beside(setting: Setting) -> Iterator[Case]:
    """Every interleaving of two iterators; nested ones, and one that is opened late."""
    for turns in interleavings(2, 3):
        steps = [Take("ab"[turn]) for turn in turns]
        plan = [Open("a"), Open("b"), *steps, Drain("a"), Drain("b")]
        yield loader(Mapped(3), plan, batch_size=None)
        yield loader(Mapped(5), plan, batch_size=2, sampler=Order(5, "descending"))
    late: list[Operation] = [Open("a"), Take("a"), Open("b"), Take("b", 2), Take("a"), Open("c")]
    late += [Drain("b"), Take("c"), Drain("a"), Drain("c")]
    nested = [Open("a")] + [Take("a"), Open("b"), Drain("b")] * 3 + [Drain("a")]
    for plan, count in itertools.product((late, nested), (0, 1, 2)):
        options = counted(count)
        if takes(setting, **options):
            yield loader(Mapped(5), plan, batch_size=2, **options)
            yield loader(Mapped(3), plan, batch_size=None, sampler=TURNED, **options)
            yield loader(Mapped(40), plan, batch_size=8, shuffle=True, **options)
    heard: list[Operation] = [Open("a"), Settle(), Ponder(0.2), Take("a", 2)]  # who has ended
    started = [Iterate(), *heard, Open("b"), Drain("a"), Drain("b")]
    for count, drop in itertools.product((0, 2), (False, True)):
        options = {"batch_size": 3, "drop_last": drop, **counted(count)}
        if takes(setting, **options):
            yield loader(Stream(10), started, **options)


def _ends(setting: Setting) -> Iterator[Case]:
    """Asked again after its end, at once, once more, and while another pass is under way."""
    plan = [Open("a"), Drain("a"), Take("a", 2), Take("a")]
    other = [Open("a"), Take("a", 9), Take("a"), Open("b"), Take("b"), Take("a", 2), Drain("b")]
    sources = (Mapped(3), Stream(3), Stream(3, again=True))
    counts = _counts(setting)
    for source, size, count in itertools.product(sources, (None, 2), counts):
        options: dict[str, Any] = {"batch_size": size, **counted(count)}
        for steps in (plan, other):
            yield loader(source, steps, **options)
    over: tuple[dict[str, Any], ...] = (
        {"batch_size": None, "sampler": Order(3, "again")},
        {"batch_size": 2, "sampler": Order(3, "again")},
        {"batch_sampler": Order(3, "again-batches")},
    )  # fmt: skip
    for options in over:
        yield loader(Mapped(3), plan, **options)
    kept: dict[str, Any] = {"num_workers": 1, "persistent_workers": True}
    if takes(setting, **kept):
        yield loader(Mapped(3), plan, **kept)
        yield loader(Mapped(3), other, **kept)
    if takes(setting, num_workers=2):  # of each worker something is left over
        yield loader(Stream(4), plan, num_workers=2, batch_size=3, drop_last=True)
    grown = [Open("a"), Drain("a"), Resize(7), Take("a", 2), Take("a")]
    for size in (None, 2):
        yield loader(Mapped(3), grown, batch_size=size)


def _ends_idle(setting: Setting) -> Iterator[Case]:
    """Asked again after its end, when its worker has died that stood idle."""
    kept: dict[str, Any] = {"num_workers": 1, "persistent_workers": True}
    if takes(setting, **kept):
        plan: list[Operation] = [Open("a"), Drain("a"), Strike(0), Settle(), Take("a"), Take("a")]
        yield loader(Mapped(3), plan, "alone", **kept)


def _buffers(setting: Setting) -> Iterator[Case]:
    """One buffer for all items; everything that was delivered is read again at the end.

    Then the same with an item of its own each time: what is overwritten there, the loader did.
    """
    fresh = Rebuild((("dataset", Mapped(4, gives="tensor")),))
    plan: list[Operation] = [Iterate(), Reread(), fresh, Iterate(), Reread()]
    for size, count in itertools.product((1, None, 2), (0, 1)):
        options: dict[str, Any] = {"batch_size": size, **counted(count)}
        if takes(setting, **options):
            yield loader(Mapped(4, gives="buffer"), plan, **options)
            if size is None:
                yield loader(Mapped(4, gives="buffers"), [Iterate(), Reread()], **options)


ERRORS = Scenario("loader-errors", _errors)
STOPS = Scenario("loader-stops", _stops)
STOPPED_STARTS = Scenario("loader-stopped-starts", _stopped_starts)
AFTER = Scenario("loader-after-error", _after)
GIVEN_UP = Scenario("loader-given-up", _given_up)
BESIDE = Scenario("loader-beside", _beside)
ENDS = Scenario("loader-ends", _ends)
ENDS_IDLE = Scenario("loader-ends-idle", _ends_idle)
BUFFERS = Scenario("loader-buffers", _buffers)
