"""Cases of `spec/distributed.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import (
    Epochs,
    Forget,
    Group,
    Iterate,
    Len,
    Operation,
    Rebuild,
    SetEpoch,
    Surround,
)
from conformance.recipes import Data, Role
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import LARGEST, ROUNDED, epochs, lengths, seeds

ROLE = "DistributedSampler"


def _grid(setting: Setting) -> Iterator[tuple[int, int]]:
    """All (n, world size), smallest first."""
    effort = setting.effort
    pairs = itertools.product(range(effort.n_max + 1), range(1, effort.world_max + 1))
    return iter(sorted(pairs, key=lambda pair: (sum(pair), pair)))


def _tour(numbers: Iterable[int]) -> list[Operation]:
    return [step for epoch in numbers for step in (SetEpoch(epoch), Len(), Iterate())]


def _epochs_small(setting: Setting) -> Iterator[Case]:
    for n, width in _grid(setting):
        for shuffle, drop_last in itertools.product((False, True), repeat=2):
            arguments = {"dataset": Data(n), "shuffle": shuffle, "drop_last": drop_last}
            yield Case(ROLE, arguments, _tour((0, 1, 2)), width, ambient=setting.seed)
    forgotten: list[Operation] = [Forget(), Len(), *_tour((1,))]
    for shuffle in (False, True):
        yield Case(ROLE, {"dataset": Data(7), "shuffle": shuffle}, forgotten, 2)
    few = (*ROUNDED, (100, 64), (1000, 999), (5, 1024), (200, 3))
    for n, width in (*few, (40_001, 5), (70_001, 3), (1 << 17, 2)):
        for flags in ({"shuffle": True}, {"shuffle": False}, {"drop_last": True}):
            plan = _tour((3, 70_000) if n <= 1000 else (3,))
            yield Case(ROLE, {"dataset": Data(n), **flags}, plan, width)
    yield Case(ROLE, {"dataset": Data(LARGEST)}, [Iterate()], 3)


@st.composite
def _arguments(draw: st.DrawFn, width: int, least: int = 0, most: int = LARGEST) -> dict[str, Any]:
    """Constructor arguments; a default is left out now and then."""
    arguments: dict[str, Any] = {"dataset": Data(draw(lengths(least, most, around=width)))}
    flag = st.sampled_from((None, False, True))
    for name, values in (("shuffle", flag), ("seed", st.none() | seeds()), ("drop_last", flag)):
        value = draw(values)
        if value is not None:
            arguments[name] = value
    return arguments


@st.composite
def _epochs_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    arguments = draw(_arguments(width))
    plan = _tour(draw(epochs()))
    return _in_group(draw, arguments, plan, width)


def _in_group(
    draw: st.DrawFn, arguments: dict[str, Any], plan: list[Operation], width: int
) -> Case:
    return Case(
        ROLE, arguments, plan, width, world="group",
        passed=draw(st.sampled_from([False, False, True])), ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


def _shards_plan(width: int, epoch: int) -> list[Operation]:
    """A rank's own shard, then everybody's as this rank builds it, the last rank's first."""
    plan: list[Operation] = [SetEpoch(epoch), Iterate()]
    for rank in reversed(range(width)):
        plan += [Rebuild((("num_replicas", width), ("rank", rank))), SetEpoch(epoch), Iterate()]
    return plan


def _shards_small(setting: Setting) -> Iterator[Case]:
    few = itertools.product((1, 2, 5, 8, 17), (2, 3, 4, 5))
    for n, width in (*few, (2003, 3), (20_003, 5), (70_001, 2)):
        for arguments in ({}, {"drop_last": True}, {"seed": 3}):
            given = {"dataset": Data(n), **arguments}
            yield Case(ROLE, given, _shards_plan(width, 1), width, ambient=setting.seed)


def _half_given(setting: Setting) -> Iterator[Case]:
    """In a group only one of rank and world size is given, the group's or another; or neither."""
    for width in (found for found in setting.world_sizes if found in (2, 3)):
        plan: list[Operation] = [SetEpoch(1), Iterate()]
        for given in ({"rank": 1}, {"num_replicas": width}, {"num_replicas": width + 2}):
            plan += [Rebuild(tuple(given.items())), SetEpoch(1), Iterate()]
        plan += [Surround("float32", 1, launched=(0, width + 1)), Rebuild(), SetEpoch(1), Iterate()]
        for rank in range(width):
            both = ("num_replicas", width + 2), ("rank", rank)
            plan += [Rebuild(both), SetEpoch(1), Iterate()]
        arguments = {"dataset": Data(23)}
        yield Case(ROLE, arguments, plan, width, "group", passed=False, ambient=setting.seed)


@st.composite
def _shards_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    plan = _shards_plan(width, draw(st.integers(0, 5)))
    return _in_group(draw, draw(_arguments(width, most=200_000)), plan, width)


PERIODS = (64, 100, 128, 256, 1000, 1024, 4096, 10_000, 1 << 16, 1 << 24, 1 << 31)
"""Two seeds, or two epochs, may be so far apart and are different all the same."""


@st.composite
def _shuffled_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    """Several epochs under several seeds, long enough for two shuffles to differ."""
    width = draw(st.sampled_from(setting.world_sizes))
    arguments = {"dataset": Data(draw(lengths(16, 200_000, around=width)))}
    if draw(st.booleans()):
        arguments["drop_last"] = draw(st.booleans())  # type: ignore[assignment]
    first = draw(st.lists(st.integers(0, 30), min_size=2, max_size=4, unique=True))
    first += [first[0] + draw(st.sampled_from(PERIODS))] * draw(st.booleans())
    plan: list[Operation] = [step for e in first for step in (SetEpoch(e), Iterate())]
    others = draw(st.lists(st.integers(1, 2**31), min_size=1, max_size=2, unique=True))
    others += [others[0] + draw(st.sampled_from(PERIODS))] * draw(st.booleans())
    for seed in others if _seeded(setting) else ():
        plan.append(Rebuild((("seed", seed),)))
        plan += [step for e in first for step in (SetEpoch(e), Iterate())]
    return _in_group(draw, arguments, plan, width)


def _seeded(setting: Setting) -> bool:
    """Whether the sampler can be given another seed, or has promised that it can."""
    return ROLE not in setting.candidate.bound or setting.accepts("seed")


NEAR_AND_FAR = (
    0, 1, 2, 0, 3, 10, 100, 101, 128, 255, 256, 257, 1000, 1024, 4096, 65_535, 65_536, 65_537,
    1 << 24, (1 << 31) - 1, 1 << 31,
)  # fmt: skip
"""Epochs as far apart as what a careless sampler takes for the same: periods, and whole words."""

SEEDS = (
    1, -1, -2, 5, 100, 128, 256, 257, 65_536, 65_537, 1 << 31, (1 << 31) + 1,
)  # fmt: skip
"""The same for seeds, besides 0."""


def _shuffled_small(setting: Setting) -> Iterator[Case]:
    for n, width in itertools.product((16, 17, 40, 333), (1, 2, 3, 5)):
        told = NEAR_AND_FAR if n == 16 else (0, 1, 2, 0, 3, 10, 256)
        plan = [step for e in told for step in (SetEpoch(e), Iterate())]
        others = (SEEDS if n == 16 else SEEDS[::2]) if _seeded(setting) else ()
        again = [step for seed in others for step in (Rebuild((("seed", seed),)), *plan[:6])]
        yield Case(ROLE, {"dataset": Data(n)}, [*plan, *again], width, ambient=setting.seed)
    hundreds = range(256)  # a checksum for a hash makes some of these one
    plan = [step for e in hundreds for step in (SetEpoch(e), Iterate())]
    again = [
        step for seed in hundreds for step in (Rebuild((("seed", seed),)), SetEpoch(0), Iterate())
    ]
    for steps in (plan, again) if _seeded(setting) else (plan,):
        yield Case(ROLE, {"dataset": Data(40)}, steps, 1, ambient=setting.seed)
    plan = [step for e in (0, 1, 2, 0, 3) for step in (SetEpoch(e), Iterate())]
    for n, width in ((2003, 4), (20_003, 5), (70_001, 3)):
        few = [*plan[:4], *[Rebuild((("seed", 7),))] * _seeded(setting), *plan[:4]]
        yield Case(ROLE, {"dataset": Data(n)}, few, width, ambient=setting.seed)


def _mixed_small(setting: Setting) -> Iterator[Case]:
    """(seed, epoch) and (seed + k, epoch - k): additive mixing makes them one."""
    few = ((16, 0, 1, 1), (42, 3, 5, 2), (100, 0, 7, 7), (20_000, 9, 3, 3))
    for (n, seed, epoch, k), width in itertools.product(few, (1, 4, 5)):
        later = (Rebuild((("seed", seed + k),)), SetEpoch(epoch - k), Iterate())
        plan = [SetEpoch(epoch), Iterate(), *later]
        yield Case(ROLE, {"dataset": Data(n), "seed": seed}, plan, width, ambient=setting.seed)
    for n, width in ((16, 1), (42, 2), (17, 3)):
        grid: list[Operation] = []
        for seed in SMALL:
            grid.append(Rebuild((("seed", seed),)))
            grid += [step for e in (*SMALL, 256, 1000) for step in (SetEpoch(e), Iterate())]
        yield Case(ROLE, {"dataset": Data(n)}, grid, width, ambient=setting.seed)


SMALL = (0, 1, 2, 3, 4, 10, 11, 12, 21, 100, 101, 111)
"""Seeds and epochs that meet where they are added, multiplied, glued as digits or as bits."""


@st.composite
def _mixed_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    seed, epoch, k = draw(st.integers(0, 99)), draw(st.integers(1, 50)), draw(st.integers(1, 50))
    later = Rebuild((("seed", seed + k),)), SetEpoch(max(0, epoch - k)), Iterate()
    arguments = {"dataset": Data(draw(lengths(16, 200_000, around=width))), "seed": seed}
    return _in_group(draw, arguments, [SetEpoch(max(epoch, k)), Iterate(), *later], width)


def _widths_small(setting: Setting) -> Iterator[Case]:
    for n in (2, 4, 6, 8, 12, 24, 60, 840, 5040, 20_160, 70_560):
        for shuffle in (True, False):
            plan: list[Operation] = []
            for width in (w for w in range(1, 9) if n % w == 0):
                for rank in range(width):
                    plan.append(Rebuild((("num_replicas", width), ("rank", rank))))
                    plan += [SetEpoch(1), Iterate()]
            yield Case(ROLE, {"dataset": Data(n), "shuffle": shuffle}, plan)


def _groupless(setting: Setting) -> Iterator[Case]:
    binding = setting.candidate.binding(ROLE)
    if binding.needs or binding.ambient:
        return  # the rank cannot be left out, or is never given
    for given in ({}, {"rank": 0}, {"num_replicas": 2}):
        yield Case(ROLE, {"dataset": Data(4), **given}, [Iterate()], passed=False)


def _group_gone(setting: Setting) -> Iterator[Case]:
    """Built in a process group that has then ended, as before an evaluation or in a worker."""
    binding = setting.candidate.binding(ROLE)
    if binding.needs or binding.ambient:
        return
    asked = [SetEpoch(1), Len(), Iterate(), Iterate()]
    untold = Rebuild((("num_replicas", None), ("rank", None)))
    plan = [Group(), untold, *asked, Group(begins=False), *asked]
    given = {"dataset": Data(7), "num_replicas": 1, "rank": 0}
    yield Case(ROLE, given, plan, world="alone", passed=False, ambient=setting.seed)


def _batched(arguments: dict[str, Any], size: int, drop: bool) -> dict[str, Any]:
    return {"sampler": Role(ROLE, **arguments), "batch_size": size, "drop_last": drop}


def _batches_small(setting: Setting) -> Iterator[Case]:
    for n, width in itertools.product((*range(8), 23), (1, 2, 3, 4, 5)):
        for size, drop, inner in itertools.product((1, 2, 3), (False, True), (False, True)):
            arguments = _batched({"dataset": Data(n), "drop_last": inner}, size, drop)
            yield Case("BatchSampler", arguments, [Len(), Iterate()], width)


@st.composite
def _batches_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    inner = draw(_arguments(width, most=3000))
    arguments = _batched(inner, draw(st.integers(1, 40)), draw(st.booleans()))
    return Case("BatchSampler", arguments, [Iterate()], width, world="group", passed=False)


def _many(setting: Setting) -> Iterator[Case]:
    """Enough epochs to see a biased shuffle, short and long; one rank sees the whole order."""
    trials = int(6000 * setting.effort.trials)
    short = ((40, trials // 20), (2, trials // 2), (5, trials), (16, trials))
    for n, count in (*short, (3001, 8), (70_001, 2)):
        yield Case(ROLE, {"dataset": Data(n), "seed": setting.seed}, [Epochs(count)])
    for n, width in ((6, 2), (6, 3), (16, 2)):
        yield Case(ROLE, {"dataset": Data(n), "seed": setting.seed}, [Epochs(trials // 2)], width)
    cut = {"dataset": Data(5), "seed": setting.seed, "drop_last": True}
    yield Case(ROLE, cut, [Epochs(trials // 2)], 3)
    plan = [SetEpoch(3), Epochs(1, start=3)]
    yield Case(ROLE, {"dataset": Data((1 << 20) + 3), "seed": setting.seed + 1}, plan)
    yield Case(ROLE, {"dataset": Data(2000), "seed": setting.seed + 2}, [Epochs(40)])
    yield Case(ROLE, {"dataset": Data(100), "seed": setting.seed + 3}, [Epochs(48)])


EPOCHS = Scenario("epochs", _epochs_small, lambda s: _epochs_drawn(s))
SHARDS = Scenario("shards", _shards_small, lambda s: _shards_drawn(s))
HALF_GIVEN = Scenario("shards, half given", _half_given)
SHUFFLED = Scenario("shuffled", _shuffled_small, lambda s: _shuffled_drawn(s))
MIXED = Scenario("mixed", _mixed_small, lambda s: _mixed_drawn(s))
WIDTHS = Scenario("widths", _widths_small)
GROUPLESS = Scenario("groupless", _groupless)
GROUP_GONE = Scenario("group gone", _group_gone)
BATCHES = Scenario("batches", _batches_small, lambda s: _batches_drawn(s))
MANY = Scenario("many", _many)
