"""Cases of `spec/workers.md` in which nothing goes wrong: completion orders, and working ahead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped, Order, Stream
from conformance.loading import (
    Crowd,
    Describe,
    Drop,
    Free,
    Journal,
    Ponder,
    Schedule,
    Settle,
    Shut,
    Trickle,
)
from conformance.operations import Drain, Iterate, Len, Open, Operation, Rebuild, Reseed, Take
from conformance.recipes import Generator, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loader_forms import KNOWN, SIGNALS, SINGLE, SINGLES, of
from conformance.scenarios.loading import (
    PACE_S,
    PONDER_S,
    ROLE,
    STRAGGLER_S,
    chunked,
    interleavings,
    loader,
    parcels,
    schedules,
    takes,
)  # fmt: skip

TOGETHER = 140
"""Schedules in one case: persistent workers are started once for all of them."""

FAR = 12
"""So many batches under way for each worker are more than somebody may have had in mind."""

BRIEF_S = 0.03
"""How long each item takes where all workers have something to do for a second."""

LATE_S = 0.7
"""An item that takes longer than somebody may let other workers be idle."""

QUICK = 6
"""A quick effort tries every so many of the 1680 orders of three workers."""


def _exhaustive(setting: Setting) -> Iterator[Case]:
    """Every completion order of 2 workers x 4 batches."""
    yield from _ordered(2, 4)


def _of_three(setting: Setting) -> Iterator[Case]:
    """Every completion order of 3 workers x 3 batches."""
    yield from _ordered(3, 3, QUICK if setting.effort.quick else 1)


def _ordered(workers: int, batches: int, step: int = 1) -> Iterator[Case]:
    options = {"num_workers": workers, "prefetch_factor": batches, "persistent_workers": True}
    arguments = parcels(workers * batches, **options)
    orders = itertools.islice(interleavings(workers, batches), None, None, step)
    for plan in chunked(orders, TOGETHER):
        yield Case(ROLE, arguments, [*plan, Journal()])


def _fresh(setting: Setting) -> Iterator[Case]:
    """A few orders with fresh workers, and other ways to be given the order of the batches."""
    for turns in ((0, 0, 1, 1), (1, 1, 0, 0), (1, 0, 0, 1)):
        arguments = parcels(8, 2, num_workers=2)
        yield Case(ROLE, arguments, [Schedule(turns), Iterate(), Journal()])
    # One is slow, and waits at its first batch until all that is under way has come.
    for count in (4, 3):  # what is counted round in fours, or in threes, meets its own kind only
        far = parcels(FAR * count, num_workers=count, prefetch_factor=FAR)
        others = tuple(worker for worker in range(1, count) for _ in range(FAR))
        yield Case(ROLE, far, [Schedule(others), Iterate(), Journal()])
    ways: tuple[dict[str, Any], ...] = (
        {"batch_size": None}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True},
        {"sampler": Order(5, "descending")}, {"batch_sampler": Order(4, "batches")},
        {"sampler": Order(5, "descending"), "batch_size": None},
    )  # fmt: skip
    for options in ways:
        n = 5 if "batch_sampler" not in options else 8
        plan = _with_other_workers([Len(), Iterate()])
        yield loader(Mapped(n), plan, num_workers=3, **options)
    for n in (0, 1):
        yield loader(Mapped(n), _with_other_workers([Iterate()]), num_workers=2)
    yield loader(Mapped(6), [Iterate()], num_workers=2, pin_memory=True)


def _with_other_workers(steps: list[Operation]) -> list[Operation]:
    """The same steps with the workers of the case, with none, and with one that works ahead."""
    one = (("num_workers", 1), ("prefetch_factor", 3))
    return [*steps, Rebuild((("num_workers", 0),)), *steps, Rebuild(one), *steps]


def _alike(setting: Setting) -> Iterator[Case]:
    """What only a comparison tells: shuffled orders, seeded alike, and collated batches."""
    for options in ({}, {"batch_size": None}, {"generator": Generator(4)}):
        plan = _with_other_workers([Reseed(7), Iterate()])
        yield loader(Mapped(9), plan, num_workers=2, shuffle=True, **options)
    for gives in ("nested", "array", "named", "text"):
        plan = _with_other_workers([Iterate(), Describe()])
        yield loader(Mapped(3, gives=gives), plan, num_workers=2, batch_size=2)
    plan = _with_other_workers([Iterate(), Describe()])
    yield loader(of(KNOWN, 2 * len(KNOWN)), plan, num_workers=2, batch_size=2)
    single = (*KNOWN, *SIGNALS)
    yield loader(of(single, len(single), 1), plan, num_workers=2, batch_size=None)
    kept: dict[str, Any] = {"collate_fn": Collate("list")}
    for gives in ("views", "wide"):
        yield loader(Mapped(3, gives=gives), plan, num_workers=2, **kept)
    for size in (3, None):
        data = of(SINGLE, SINGLES * len(SINGLE), SINGLES)
        yield loader(data, plan, num_workers=2, batch_size=size)
    yield loader(Mapped(4, gives="wide"), plan, num_workers=2, batch_size=2)
    for gives in ("lazy", "many"):
        yield loader(Mapped(2, gives=gives), plan, num_workers=1, **kept)
    for size in (2, None):  # items that stay where they are: only what is made of them is sent
        made: dict[str, Any] = {"batch_size": size, "collate_fn": Collate("called")}
        yield loader(Mapped(5, gives="called"), plan, num_workers=2, **made)


def _started(setting: Setting) -> Iterator[Case]:
    """Other ways to start a process; each worker imports torch anew."""
    if not setting.effort.quick:
        for workers, start in ((1, "spawn"), (2, "forkserver")):
            options: dict[str, Any] = {"num_workers": workers, "multiprocessing_context": start}
            gives = "counted" if start == "spawn" else "number"
            options |= {"sampler": Order(6, "rooted")} if start == "forkserver" else {}
            yield loader(Mapped(6, gives=gives), [Iterate()], "alone", **options)


def _crowded(setting: Setting) -> Iterator[Case]:
    """In a process that has more files open than `select` can tell apart, or less than most."""
    for below in (1024, 0):
        yield loader(Mapped(4), [Crowd(below), Iterate()], "alone", num_workers=1)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting) -> Case:
    workers, ahead = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    size, n = draw(st.integers(1, 3)), draw(st.integers(0, 14))
    options: dict[str, Any] = {"num_workers": workers, "prefetch_factor": ahead}
    if draw(st.booleans()):
        options["persistent_workers"] = True
    if takes(setting, in_order=1) and draw(st.integers(0, 3)) == 0:
        options["in_order"] = False
    # Only whole batches stop at the gate: the turn of a batch is that of its last item.
    whole = n // size
    steps = [
        step for _ in range(draw(st.integers(1, 2)))
        for step in (Schedule(draw(schedules(workers, whole, workers * ahead))), Iterate())
    ]  # fmt: skip
    return Case(ROLE, parcels(n, size, **options), [*steps, Journal()])


def _unordered(setting: Setting) -> Iterator[Case]:
    """Orders of completion where the loader may deliver batches as they come."""
    if not takes(setting, in_order=1):
        return
    for turns in sorted(set(itertools.permutations((0, 0, 1, 1)))):
        options = {"num_workers": 2, "prefetch_factor": 2, "in_order": False}
        yield Case(ROLE, parcels(4, **options), [Schedule(turns), Iterate(), Journal()])
    uneven: dict[str, Any] = {"batch_sampler": Order(12, "batches"), "in_order": False}
    yield loader(Mapped(24), [Iterate(), Journal()], num_workers=2, **uneven)
    passes = [
        step for turns in ((2, 1, 0, 2, 1, 0), (0, 0, 1, 1, 2, 2), (2, 2, 0, 1, 1, 0))
        for step in (Schedule(turns), Iterate())
    ]  # fmt: skip
    options = {"num_workers": 3, "in_order": False, "persistent_workers": True}
    yield Case(ROLE, parcels(13, 2, **options), [*passes, Journal()])


def _unordered_after(setting: Setting) -> Iterator[Case]:
    """Batches of a pass that was broken off are still being made when the next one begins."""
    if takes(setting, in_order=1):
        options = {"num_workers": 2, "in_order": False, "persistent_workers": True}
        again = [Open("b"), Take("b", 6), Drain("b")]
        plan = [Trickle(-1, PACE_S), Open("a"), Take("a"), Drop("a"), *again]
        yield Case(ROLE, parcels(6, **options), plan, world="alone")


def _ahead(setting: Setting) -> Iterator[Case]:
    """Workers that run free, and workers that wait at the shut gate, while the caller takes."""
    steps = [Open("a"), Settle(), Take("a"), Settle(), Take("a", 2), Settle(), Drain("a")]
    for workers, factor, size in ((1, 1, 1), (1, 3, 2), (2, 1, 1), (2, 2, 2), (3, 1, 1)):
        yield loader(
            Mapped(24, gated=1), [*steps, Journal()], batch_size=size, sampler=Order(24),
            num_workers=workers, prefetch_factor=factor,
        )  # fmt: skip
    yield loader(
        Mapped(80, gated=1), [*steps, Journal()], batch_size=None, sampler=Order(80), num_workers=2
    )
    singly: tuple[dict[str, Any], ...] = (
        {"batch_size": None, "prefetch_factor": 1}, {"batch_size": 1, "prefetch_factor": 2},
    )  # fmt: skip
    for options in singly:
        yield loader(Stream(24), [*steps, Journal()], num_workers=2, **options)
    for workers, factor in ((1, 1), (2, 2)):  # errors, too, are delivered once
        data = Mapped(24, gated=1, faults=tuple(Fault("item", at, "KeyError") for at in range(6)))
        failing = [Open("a"), *[Take("a")] * 5, Settle(), Take("a"), Settle(), Drain("a")]
        yield loader(
            data, [*failing, Journal()], sampler=Order(24), num_workers=workers,
            prefetch_factor=factor,
        )  # fmt: skip
    again = [Open("b"), Settle(), Drain("b"), Journal()]
    plan = [Shut(), Open("a"), Settle(), Free(), Drain("a"), *again]
    options = {"num_workers": 2, "persistent_workers": True}
    yield loader(Mapped(12, gated=1), plan, sampler=Order(12), **options)
    free: dict[str, Any] = {"num_workers": 2, "prefetch_factor": 2, "in_order": False}
    if takes(setting, **free):
        yield loader(Mapped(24, gated=1), [*steps, Journal()], sampler=Order(24), **free)
    uneven = Values((tuple(range(8)), *((index,) for index in range(8, 20))))
    yield loader(Mapped(20), [*steps, Journal()], batch_sampler=uneven, num_workers=1)
    slowly = [Trickle(-1, BRIEF_S), Iterate(), Journal()]
    for workers in (2, 3):  # whose batches all begin alike, modulo the number of workers
        options = {"batch_size": workers, "num_workers": workers, "sampler": Order(24)}
        yield loader(Mapped(24, gated=1), slowly, **options)


def _bulky(setting: Setting) -> Iterator[Case]:
    """Neither what workers are asked for nor what they give goes into a pipe at once."""
    plan = [Open("a"), Settle(), Take("a"), Settle(), Take("a", 2), Settle(), Drain("a"), Journal()]
    long: dict[str, Any] = {"sampler": Order(12, "long"), "num_workers": 2, "prefetch_factor": 1}
    yield loader(Mapped(12), plan, batch_size=None, **long)
    ahead: dict[str, Any] = {"sampler": Order(12), "num_workers": 2, "prefetch_factor": 3}
    yield loader(Mapped(12, gives="bulk"), plan, batch_size=None, **ahead)


def _late(setting: Setting) -> Iterator[Case]:
    """One batch is late, the caller waits for it, and all other workers have nothing to do; or he
    does not wait as long. Alone, because they mostly wait."""
    for workers, factor in ((2, 1), (3, 2)):
        slow = [Trickle(-1, LATE_S), Open("a"), Take("a", workers), Free(), Drain("a")]
        options = {"num_workers": workers, "prefetch_factor": factor, "sampler": Order(24)}
        yield loader(Mapped(24, gated=workers), [*slow, Journal()], "alone", **options)
    shut = [Shut(), Open("a"), Take("a"), Take("a"), Settle(), Free(), Drain("a"), Journal()]
    options = {"num_workers": 2, "prefetch_factor": 1, "timeout": 0.3, "sampler": Order(12)}
    if takes(setting, **options):
        yield loader(Mapped(12, gated=1), shut, "alone", **options)


def _late_item(setting: Setting) -> Iterator[Case]:
    """One item takes long, and the other workers have done all that there is: of the first items,
    or in the middle of a pass."""
    last = Order(4, "descending")
    plan = [Trickle(-1, STRAGGLER_S), Iterate(), Journal()]
    yield loader(Mapped(4, gated=4), plan, "alone", num_workers=2, sampler=last)
    for workers, factor in ((2, 2), (3, 1)):
        ahead = workers * factor
        middle = Values((*range(ahead + 1), ahead + 4, *range(ahead + 1, ahead + 4)))
        options = {"num_workers": workers, "prefetch_factor": factor, "sampler": middle}
        yield loader(Mapped(ahead + 5, gated=ahead + 5), plan, "alone", **options)


def _pondered(setting: Setting) -> Iterator[Case]:
    """The caller computes for long, and the workers have more to send than a pipe holds."""
    crewed: tuple[tuple[str, Any], ...] = (("num_workers", 2),)
    looked = [Iterate(), Describe(), Rebuild(crewed), Open("a"), Take("a")]
    plan = [*looked, Ponder(PONDER_S), Drain("a"), Describe()]
    yield loader(Mapped(6, gives="bulk"), plan, "alone")


EXHAUSTIVE = Scenario("completion-orders", _exhaustive)
OF_THREE = Scenario("completion-orders-of-three", _of_three, slow=True)
ORDERS = Scenario("orders", _fresh, lambda s: _drawn(s), share=0.4)
ALIKE = Scenario("alike", _alike)
STARTED = Scenario("started", _started, slow=True)
UNORDERED = Scenario("unordered", _unordered)
UNORDERED_AFTER = Scenario("unordered-after", _unordered_after)
CROWDED = Scenario("crowded", _crowded)
AHEAD = Scenario("ahead", _ahead)
BULKY = Scenario("ahead-in-bulk", _bulky)
LATE = Scenario("late-batches", _late)
LATE_ITEM = Scenario("late-item", _late_item)
PONDERED = Scenario("pondered", _pondered)
