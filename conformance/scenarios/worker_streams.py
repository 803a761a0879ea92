"""Cases of `spec/workers.md` about random streams: of workers, passes, ranks and generators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import GENERATORS, Collate, Init, Mapped, Stream
from conformance.loading import Drop, Printed, Reload, Schedule, Settle, Strike, Trickle
from conformance.operations import Drain, Iterate, Open, Operation, Rebuild, Reseed, Surround, Take
from conformance.recipes import Generator
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import PACE_S, ROLE, loader, takes
from conformance.scenarios.worker_state import KEPT

SINGLE: dict[str, Any] = {"batch_size": None, "collate_fn": Collate("list")}
"""Every item by itself, as the dataset gives it."""

EACH = 3
"""How many items each worker draws for: enough to tell streams apart."""

PASSES = 160
"""Of four workers: two of 640 streams are the same in 19 of 20 runs if there are 2^16 of them."""

MANY = 9
"""More workers than cores or digits that somebody may have had in mind."""


def _passes(workers: int, count: int = 2) -> list[Operation]:
    """Passes in which each worker makes as many items as any other."""
    turns = tuple(range(workers)) * EACH
    return [step for _ in range(count) for step in (Schedule(turns, arrival=False), Iterate())]


def _dice(setting: Setting) -> Iterator[Case]:
    """A loader that is built and iterated twice, after the same seed; all else differs."""
    again = [Reseed(9, "numpy"), Reseed(8, "random"), Reseed(3, "torch"), Rebuild(())]
    for workers, options in ((2, {}), (1, {"persistent_workers": True}), (3, KEPT[1])):
        passes = _passes(workers)
        plan = [Reseed(3, "torch"), Rebuild(()), *passes, *again, *passes]
        data = Mapped(workers * EACH, gives="dice", gated=1)
        yield loader(data, plan, num_workers=workers, **SINGLE, **options)
    passes = _passes(2)
    plan = [Reseed(3, "torch"), Rebuild(()), *passes, *again, *passes]
    yield loader(Stream(2 * EACH, gives="dice", gated=1), plan, num_workers=2, **SINGLE)
    plan = [Reseed(5), Rebuild(()), *passes, Reseed(6), Rebuild(()), *passes]
    data = Mapped(2 * EACH, gives="dice", gated=1)
    yield loader(data, plan, num_workers=2, generator=Generator(3), **SINGLE)
    # A pass that is broken off has drawn too. Then many workers, each with two items.
    broken = [Open("a"), Take("a", 4), Drop("a"), Open("b"), Take("b", 4), Drop("b"), Iterate()]
    for options in KEPT:
        plan = [Reseed(3, "torch"), Rebuild(()), *broken]
        yield loader(Mapped(8, gives="dice"), plan, num_workers=2, **SINGLE, **options)
    plan = [Reseed(3, "torch"), Rebuild(()), Iterate(), Iterate()]
    yield loader(Mapped(2 * MANY, gives="dice"), plan, num_workers=MANY, **SINGLE)
    if setting.accepts("worker_init_fn"):
        early = {"worker_init_fn": Init("dice"), "num_workers": 2, **SINGLE}
        plan = [Reseed(3, "torch"), Rebuild(()), *_passes(2)]
        yield loader(Mapped(2 * EACH, gives="dice", gated=1), plan, **early)
    # A loader for each epoch, over one dataset.
    passes, data = _passes(2), Mapped(2 * EACH, gives="dice", gated=1)
    plan = [Reseed(3, "torch"), Rebuild(()), *passes, Reseed(3, "torch"), Reload(()), *passes]
    yield loader(data, plan, num_workers=2, **SINGLE)
    # Two passes at a time.
    woven = [Open("a"), Open("b"), *[Take("a", 2), Take("b", 2)] * 4, Iterate()]
    for options in KEPT:
        yield loader(Mapped(8, gives="dice"), woven, num_workers=2, **SINGLE, **options)
    # So many that seeds of two bytes would come again.
    plan = [Reseed(3, "torch"), Rebuild(()), *[Iterate()] * PASSES]
    yield loader(Mapped(8, gives="dice"), plan, num_workers=4, **SINGLE, **KEPT[1])


def _dice_again(setting: Setting) -> Iterator[Case]:
    """A pass after the death of a worker, and one that goes on after it."""
    killed: list[Operation] = [Iterate(), Strike(0), Settle(), Iterate()]
    one: dict[str, Any] = {"num_workers": 1, **SINGLE, **KEPT[1]}
    yield loader(Mapped(4, gives="dice"), killed, "alone", **one)
    midway: list[Operation] = [Open("a"), Take("a", 3), Strike(0), Settle(), Drain("a")]
    yield loader(Mapped(12, gives="dice"), midway, "alone", **one)


def _dice_after(setting: Setting) -> Iterator[Case]:
    """Seeded alike, a worker has gone further, or less far, in a pass that was broken off."""
    quick: list[Operation] = [Open("a"), Take("a", 2), Settle(), Drop("a"), *_passes(1, 1)]
    slow = [Trickle(0, PACE_S), Open("a"), Take("a", 2), Drop("a"), *_passes(1, 1)]
    plan = [Reseed(3, "torch"), Rebuild(()), *quick, Reseed(3, "torch"), Rebuild(()), *slow]
    options: dict[str, Any] = {"num_workers": 1, "prefetch_factor": 4, **SINGLE, **KEPT[1]}
    yield loader(Mapped(2 * EACH, gives="dice", gated=1), plan, "alone", **options)


def _dice_elsewhere(setting: Setting) -> Iterator[Case]:
    """The same in two processes that know nothing of each other."""
    plan = [Reseed(3, "torch"), Rebuild(()), *_passes(2)]
    data, forked = Mapped(8, gives="dice", gated=1), {"multiprocessing_context": "fork"}
    for options in KEPT:
        given = {"dataset": data, "num_workers": 2, **SINGLE, **forked, **options}
        yield Case(ROLE, given, plan, 2, world="alone")


def _rank_dice(setting: Setting) -> Iterator[Case]:
    """Ranks that have all set the same seed."""
    for width in setting.world_sizes:
        if width in (2, 3):
            arguments = {
                "dataset": Mapped(2 * EACH, gives="dice", gated=1), "num_workers": 2, **SINGLE
            }  # fmt: skip
            for more in ({}, {"generator": Generator(3)}):
                given = {**arguments, **more}
                yield Case(ROLE, given, _passes(2, 1), width, world="group", alike=True)
            early = [Reseed(6), Rebuild(early=True), *_passes(2, 1)]
            yield Case(ROLE, arguments, early, width, world="group", alike=True)
            # Whoever started these ranks has told each that it is the only one.
            untold = [Surround("float32", 1, launched=(0, 1)), *_passes(2, 1)]
            yield Case(ROLE, arguments, untold, width, world="group", alike=True)


def _rank_dice_spawned(setting: Setting) -> Iterator[Case]:
    """The same of workers that know nothing of the process group."""
    if 2 in setting.world_sizes and not setting.effort.quick:
        spawned: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "spawn", **SINGLE}
        given = {"dataset": Mapped(EACH, gives="dice"), **spawned}
        yield Case(ROLE, given, [Iterate()], 2, world="group", alike=True)


def _own(setting: Setting) -> Iterator[Case]:
    """Generators that the dataset holds; with fresh workers, and with workers that are kept. A
    process that is no fork breaks as it is sent one of torch's, whatever the loader does, and does
    not hold what the class was given here."""
    forked: dict[str, Any] = {"multiprocessing_context": "fork"}
    for number, kind in enumerate(GENERATORS):
        data = Mapped(2 * EACH, gives=f"own-{kind}", gated=1)
        options = dict(KEPT[number % 2])
        if kind in ("torch", "class") and takes(setting, num_workers=1, **forked):
            options |= forked
        yield loader(data, [*_passes(2), Printed()], num_workers=2, **SINGLE, **options)


DICE = Scenario("dice", _dice)
DICE_AGAIN = Scenario("dice-again", _dice_again)
DICE_AFTER = Scenario("dice-after", _dice_after)
DICE_ELSEWHERE = Scenario("dice-elsewhere", _dice_elsewhere)
RANK_DICE = Scenario("rank-dice", _rank_dice)
RANK_DICE_SPAWNED = Scenario("rank-dice-spawned", _rank_dice_spawned, slow=True)
OWN_GENERATORS = Scenario("own-generators", _own)
