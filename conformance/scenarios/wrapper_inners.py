"""Cases of `spec/wrapper.md` with the inner samplers that users have: torch's own, and alike.

What such a sampler yields, its twin tells: another one of the same recipe that nobody wraps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.operations import (
    Epochs,
    Inner,
    Iterate,
    Len,
    Resize,
    SetEpoch,
    Twin,
)  # fmt: skip
from conformance.recipes import Data, Generator, Probe, Recipe, Torch, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.wrapped import ROLE, Plan, wrapped

SINGLE: tuple[Recipe, ...] = (
    Torch("SequentialSampler", data_source=Data(11)),
    Torch("RandomSampler", data_source=Data(14), generator=Generator(5)),
    Torch("RandomSampler", data_source=Data(9), num_samples=5, generator=Generator(1)),
    Torch("RandomSampler", data_source=Data(9), replacement=True, num_samples=20,
          generator=Generator(2)),
    Torch("SubsetRandomSampler", indices=Values((9, 4, 30, 4, 0, 7, 12)), generator=Generator(3)),
    Torch("WeightedRandomSampler", weights=Values((1.0, 0.0, 3.0, 2.0, 5.0)), num_samples=17,
          generator=Generator(4)),
    Probe("Sourced", 13),
)  # fmt: skip
"""Inner samplers of single items; each random one has a generator, alike on all ranks."""


def _batched(sampler: Recipe, size: int, drop: bool) -> Recipe:
    return Torch("BatchSampler", sampler=sampler, batch_size=size, drop_last=drop)


BATCHED: tuple[Recipe, ...] = (
    *(_batched(Torch("SequentialSampler", data_source=Data(n)), size, drop)
      for n, size in ((9, 4), (10, 3), (65, 2), (3, 5)) for drop in (False, True)),
    _batched(SINGLE[1], 4, False), _batched(SINGLE[5], 3, True),
    _batched(Probe("Unsized", 8), 3, True), _batched(Probe("Sourced", 13), 4, False),
    Probe("Bucketed", 5), Probe("Bucketed", 7, 2),
    Values(((4, 1), (0, 3), (5, 2))), Values(((7,), (2,), (7,), (0,), (3,))),
)  # fmt: skip
"""Inner samplers of batches: the last batch may be short, or was dropped."""


def _flags(setting: Setting) -> list[dict[str, Any]]:
    """As it is, dropped, shuffled, and both, where the wrapper takes that."""
    dropped = [{"drop_last": True}] if setting.accepts("drop_last") else []
    shuffled = [{"shuffle": True}] if setting.accepts("shuffle") else []
    both = [{**dropped[0], **shuffled[0]}] if dropped and shuffled else []
    return [{}, *dropped, *shuffled, *both]


def _inners(setting: Setting) -> tuple[Recipe, ...]:
    return (*SINGLE, *BATCHED) if setting.hands_over else SINGLE


def _passes(setting: Setting) -> Iterator[Case]:
    plan: Plan = [Iterate(), Iterate(), SetEpoch(2), Iterate(), Twin(), Twin(), Twin()]
    for inner, width in itertools.product(_inners(setting), (2, 3)):
        for flags in _flags(setting):
            yield wrapped(inner, plan, width, flags)
    for inner, width in itertools.product(_inners(setting), (1, 4)):
        yield wrapped(inner, [Iterate(), Iterate(), Twin(), Twin()], width, {})


def _untouched(setting: Setting) -> Iterator[Case]:
    plan: Plan = [Iterate(), Inner(), SetEpoch(1), Iterate(), Inner(), *[Twin()] * 4]
    for inner, flags in itertools.product(_inners(setting), _flags(setting)):
        yield wrapped(inner, plan, 2, flags)


def _many(setting: Setting) -> Iterator[Case]:
    """A batch that is shorter than the others has no place of its own."""
    if setting.accepts("shuffle") and setting.hands_over:
        plan: Plan = [Epochs(int(2000 * setting.effort.trials)), Twin()]
        yield wrapped(BATCHED[0], plan, 1, {"shuffle": True}, setting.seed)


def _measured(setting: Setting) -> Iterator[Case]:
    """The length around samplers that have none, and around some with more lengths than one."""
    if setting.role != ROLE:
        return
    for count, width in itertools.product((5, 8, 40), (1, 2, 3)):
        plan: Plan = [Len(), Iterate(), Len(), Iterate(), Resize(count + 5), Len(), Iterate()]
        for flags in _flags(setting):
            yield wrapped(Probe("Unsized", count), plan, width, flags)
    for inner, width in itertools.product(_inners(setting), (1, 2, 3)):
        for flags in _flags(setting)[:2]:
            yield wrapped(inner, [Len(), Iterate(), Len(), Iterate()], width, flags)


PASSES = Scenario("inner samplers of torch", _passes)
UNTOUCHED = Scenario("inner samplers of torch by themselves", _untouched)
MANY = Scenario("many passes of wrapped batches", _many)
MEASURED = Scenario("wrapped lengths", _measured)
