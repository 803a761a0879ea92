"""Cases of `spec/transfer.md`. Without an accelerator only the first scenario runs.

With one, all cases but two kinds share a process, in which CUDA is started once. Those that judge
who starts CUDA, and those that may hang, have processes of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped, Stream
from conformance.loading import Carry, Contexts, Describe, Devices, Overlap, Pinned
from conformance.machine import has_accelerator
from conformance.operations import Drain, Iterate, Open, Operation, Rebuild, Take
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loader_forms import KNOWN, of
from conformance.scenarios.loading import loader

COLLATED = (
    "tensor",
    "number",
    "dict",
    "ordered",
    "tuple",
    "list",
    "named",
    "nested",
    "text",
    "array",
)
"""Samples that the default collation puts together, two and two."""

KEPT = ("bag", "row", "pair", "range", "nested", "named", "none", "foreign", "array", "scalar")
"""Samples that are delivered as they are."""

KEEP: dict[str, Any] = {"batch_size": None, "collate_fn": Collate("list")}

SHOWN: list[Operation] = [Iterate(), Describe()]

FORMS = tuple(form for form in KNOWN if getattr(form, "layout", "") != "expanded")
"""All but tensors with elements that share memory, which are asked about by themselves."""

LISTED: dict[str, Any] = {"batch_size": 2, "collate_fn": Collate("list")}

PLAIN = Rebuild((("pin_memory", False),))

BOTH: list[Operation] = [Devices(), *SHOWN, Pinned(), PLAIN, *SHOWN]
"""A pass with pinned memory, and one without."""


def _containers() -> Iterator[Case]:
    """The same passes with and without pinned memory; without workers all, with workers some."""
    for workers, gives in itertools.product((0, 2), COLLATED):
        if not workers or gives in ("tensor", "nested", "named"):
            options: dict[str, Any] = {"num_workers": workers, "batch_size": 2}
            yield loader(Mapped(3, gives=gives), BOTH, pin_memory=True, **options)
    for workers, gives in itertools.product((0, 2), KEPT):
        if not workers or gives in ("bag", "row"):
            data = Mapped(2, gives=gives)
            yield loader(data, BOTH, pin_memory=True, num_workers=workers, **KEEP)


def _records() -> Iterator[Case]:
    """Objects that know nothing of pinning, and are not what they were if they are made anew."""
    for options in (KEEP, LISTED):
        data = Mapped(2, gives="record")
        yield loader(data, BOTH, pin_memory=True, num_workers=0, **options)


def _without(setting: Setting) -> Iterator[Case]:
    """Where there is an accelerator the clause cannot be tried, so there is no case."""
    if has_accelerator():
        return
    for workers in (0, 2):
        plan: list[Operation] = [Devices(), *SHOWN, *SHOWN, PLAIN, *SHOWN, *SHOWN]
        options: dict[str, Any] = {"num_workers": workers, "pin_memory": True, "batch_size": 2}
        yield loader(Mapped(9), plan, **options)
        yield loader(Stream(9), plan, **options)
        if workers:
            yield loader(Mapped(9), plan, persistent_workers=True, **options)
        options |= KEEP
        yield loader(Mapped(4, faults=(Fault("item", 2, "unpinnable"),)), plan, **options)
    yield from _containers()
    uncopied = Mapped(4, faults=(Fault("item", 2, "bursting"),))
    yield loader(uncopied, plan, pin_memory=True, num_workers=0, **KEEP)
    sparse = Mapped(2, gives="sparse")  # not every accelerator can pin one
    yield loader(sparse, BOTH, pin_memory=True, num_workers=0, **KEEP)
    yield from _records()


def _pinned(setting: Setting) -> Iterator[Case]:
    """Then whatever a batch may be made of, in a few passes, and containers of rarer kinds."""
    yield from _containers()
    data = of(FORMS, 2 * len(FORMS))
    for options in ({"batch_size": 2}, LISTED):
        for workers in (0, 2):
            yield loader(data, BOTH, pin_memory=True, num_workers=workers, **options)
    for gives in ("mapping", "struct", "views", "wide", "expanded"):
        yield loader(Mapped(2, gives=gives), BOTH, pin_memory=True, num_workers=0, **KEEP)
    yield loader(Stream(5), BOTH, pin_memory=True, num_workers=2, batch_size=2)
    yield from _records()


def _objects(setting: Setting) -> Iterator[Case]:
    """Objects that pin themselves: a batch that is one, in a list, and further inside."""
    for gives, workers in itertools.product(("pinnable", "pinnables"), (0, 2)):
        for options in (KEEP, LISTED):
            data = Mapped(3, gives=gives)
            plan = [Devices(), *SHOWN]
            yield loader(data, plan, pin_memory=True, num_workers=workers, **options)


def _device(setting: Setting) -> Iterator[Case]:
    """The last device is made the current one; workers are forked before and after CUDA starts."""
    data = Mapped(6, gives="device")
    for workers, context in ((0, None), (2, None), (2, "spawn")):
        options: dict[str, Any] = {"num_workers": workers, "pin_memory": True}
        if context:
            options["multiprocessing_context"] = context
        plan = [Contexts(), Devices(-1), Iterate(), Contexts()]
        yield loader(data, plan, "alone", batch_size=None, **options)


def _errors(setting: Setting) -> Iterator[Case]:
    """One item in the middle cannot be pinned; the same in the second pass of lasting workers."""
    data = Mapped(5, faults=(Fault("item", 2, "unpinnable"),))
    plan = [Devices(), Open("a"), Take("a", 2), Take("a"), Drain("a")]
    keep: dict[str, Any] = {**KEEP, "pin_memory": True}
    for workers in (0, 1, 2):
        yield loader(data, plan, "alone", num_workers=workers, **keep)
    options: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
    yield loader(data, [Devices(), Iterate(), Iterate()], "alone", **options, **keep)


def _persistent(setting: Setting) -> Iterator[Case]:
    for workers, factor in ((1, 1), (2, 2), (3, 1)):
        options: dict[str, Any] = {"num_workers": workers, "prefetch_factor": factor}
        options |= {"persistent_workers": True, "pin_memory": True, "batch_size": 2}
        yield loader(Mapped(7), [Devices(), *SHOWN, *SHOWN, *SHOWN], **options)


def _staging(setting: Setting) -> Iterator[Case]:
    """Batches of 16 MiB, of which more are pinned than are ever alive at a time."""
    for workers in (0, 2):
        options: dict[str, Any] = {"num_workers": workers, "batch_size": None, "pin_memory": True}
        yield loader(Mapped(12, gives="large"), [Devices(), Carry(), Carry()], **options)


def _overlap(setting: Setting) -> Iterator[Case]:
    for workers in (0, 2):
        options: dict[str, Any] = {"num_workers": workers, "batch_size": None, "pin_memory": True}
        yield loader(Mapped(2, gives="large"), [Devices(), Overlap()], **options)


WITHOUT = Scenario("no-accelerator", _without)
PINNED = Scenario("pinned", _pinned)
OBJECTS = Scenario("pinning-themselves", _objects)
DEVICE = Scenario("pinning-device", _device)
ERRORS = Scenario("unpinnable", _errors)
PERSISTENT = Scenario("persistent-pinning", _persistent)
STAGING = Scenario("staging", _staging)
OVERLAP = Scenario("overlap", _overlap)
