"""Cases of `spec/sampler.md` on integer-like values: `numpy.int64`, and small types near their
limits, in which arithmetic wraps or overflows where that of an int does not; and on epochs that
are no whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.operations import Iterate, Len, Operation, Rebuild, SetEpoch
from conformance.recipes import Data, Probe, Raw, Values
from conformance.scenarios import Scenario, Setting, subjects

Made = dict[str, Any]
Told = Iterator[tuple[Made, str, Raw]]
"""Arguments, and one more with its value."""

FULL = (
    Raw(200, "uint8"), Raw(5, "int16"), Raw(255, "uint8"), Raw(127, "int8"), Raw(30_000, "int16"),
    Raw(65_535, "uint16"), Raw((1 << 31) - 1, "int32"), Raw((1 << 32) - 1, "uint32"),
    Raw(5, "uint64"),
)  # fmt: skip
"""Values near the limits of their types."""

SMALL = ("int16", "uint16", "uint32", "uint64")
"""Types of numpy beside those of usual arithmetic; all of them hold n. A count of ranks that is of
a type too small for the data has not been asked of the published samplers yet."""

SIZES = (
    Raw(200, "int32"), Raw(2, "int8"), Raw(3, "uint16"), Raw(7, "uint32"),
    Raw(200, "uint8"), Raw(100, "int8"), Raw(30_000, "int16"), Raw(7, "uint64"),
)  # fmt: skip
"""Batch sizes to which a length cannot be added in their own type."""


def _drawn(setting: Setting) -> Told:
    counts = (Raw(200, "int32"), Raw(100, "int8"), Raw(200, "uint8"), Raw(299, "uint64"))
    for n, wanted in ((5, Raw(3)), *((300, count) for count in counts)):
        data: Made = {"data_source": Data(n)}
        if setting.role == "WeightedRandomSampler":
            data = {"weights": Values(range(1, n + 1))}
        yield subjects.with_generator(setting, data), "num_samples", wanted


def _batches(setting: Setting) -> Told:
    for count, size in ((5, Raw(2)), *((300, size) for size in SIZES)):
        yield {"sampler": Probe("Counting", count), "drop_last": False}, "batch_size", size


def _ranked(setting: Setting) -> Told:
    shuffled: Made = {"shuffle": True} if setting.accepts("shuffle") else {}
    for n, kind, seeds in ((7, "int64", (Raw(3),)), (300, "int32", FULL)):
        given: Made = {"dataset": Data(n)}
        if setting.role == "DistributedSamplerWrapper":
            given = {"sampler": Probe("Descending", n)}
        if setting.accepts("seed"):
            yield from (({**given, **shuffled}, "seed", seed) for seed in seeds)
        for told in (kind,) if n == 7 else (kind, *SMALL):
            yield {**given, "rank": 0}, "num_replicas", Raw(2, told)
            yield {**given, "num_replicas": 2}, "rank", Raw(1, told)


ARGUMENTS = {
    "RandomSampler": _drawn, "WeightedRandomSampler": _drawn, "BatchSampler": _batches,
    "DistributedSampler": _ranked, "DistributedSamplerWrapper": _ranked,
}  # fmt: skip


def _arguments(setting: Setting) -> Iterator[Case]:
    """An integer-like argument, beside the same with int; a seed meets an epoch."""
    for others, name, value in ARGUMENTS[setting.role](setting):
        passes: list[Operation] = [Len(), Iterate()]
        if name == "seed":
            passes = [SetEpoch(1), *passes]
        plan = [*passes, Rebuild(((name, value.value),)), *passes]
        yield Case(setting.role, {**others, name: value}, plan)


def _refused(setting: Setting) -> Iterator[Case]:
    """Epochs that are no whole numbers, and `numpy.int64`, which is one."""
    small = (m for m in subjects.small(setting) if "seed" not in m or setting.accepts("seed"))
    if not subjects.has_epochs(setting):
        return
    *_, made = small
    for chosen in (made, {**made, "shuffle": False}) if setting.accepts("shuffle") else (made,):
        fixed = subjects.is_private(setting, chosen)  # else no epoch has an order of its own
        before: list[Operation] = [SetEpoch(1), Iterate()] if fixed else []
        for epoch in ("1", None, 1.5):
            yield Case(setting.role, chosen, [*before, SetEpoch(epoch), SetEpoch(1), Iterate()])
        after: list[Operation] = [SetEpoch(3), Iterate()] if fixed else []
        plan: list[Operation] = [SetEpoch(Raw(3)), Iterate(), SetEpoch(1), Iterate(), *after]
        yield Case(setting.role, chosen, plan)
        for epoch in (float("nan"), float("inf")):
            yield Case(setting.role, chosen, [*before, SetEpoch(epoch), SetEpoch(1), Iterate()])


def _epochs(setting: Setting) -> Iterator[Case]:
    """An epoch of a small type, and the equal int; both meet seeds that are not 0, and one that is
    too large for the epoch's type."""
    seeded = [m for m in subjects.small(setting) if m.get("seed") or not setting.accepts("seed")]
    told = [made for made in seeded if made.get("shuffle", True)]
    made = (told or [*subjects.small(setting)])[-1]
    if not subjects.has_epochs(setting) or not subjects.is_private(setting, made):
        return
    if setting.role == "DistributedSamplerWrapper" and setting.accepts("shuffle"):
        made = {**made, "shuffle": True}
    seeds: tuple[Made, ...] = ({}, {"seed": 1000}) if setting.accepts("seed") else ({},)
    for epoch, seed in itertools.product(FULL, seeds):
        plan = [SetEpoch(epoch), Iterate(), SetEpoch(1), Iterate(), SetEpoch(epoch.value)]
        yield Case(setting.role, {**made, **seed}, [*plan, Iterate()])


ARGUMENT_TYPES = Scenario("integer-likes", _arguments)
EPOCH_TYPES = Scenario("epoch types", lambda s: itertools.chain(_refused(s), _epochs(s)))
