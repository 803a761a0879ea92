"""Cases of `spec/sampler.md` on integer-like values: small types near their limits.

Arithmetic in a small type wraps or overflows where that of an int does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.operations import Iterate, Operation, Rebuild, SetEpoch
from conformance.recipes import Data, Probe, Raw, Values
from conformance.scenarios import Scenario, Setting, subjects
from conformance.scenarios.subjects import SEEDED

Made = dict[str, Any]

FULL = (
    Raw(200, "uint8"), Raw(255, "uint8"), Raw(127, "int8"), Raw(30_000, "int16"),
    Raw(65_535, "uint16"), Raw((1 << 31) - 1, "int32"), Raw((1 << 32) - 1, "uint32"),
    Raw(5, "uint64"),
)  # fmt: skip
"""Values near the limits of their types."""


def _counts(name: str, *values: Raw, **others: Any) -> Iterator[tuple[Made, str, Raw]]:
    yield from ((others, name, value) for value in values)


def _drawn(setting: Setting) -> Iterator[tuple[Made, str, Raw]]:
    given: Made = {"data_source": Data(300)}
    if setting.role == "WeightedRandomSampler":
        given = {"weights": Values(range(1, 301))}
    given = subjects.with_generator(setting, given)
    return _counts("num_samples", Raw(200, "int32"), **given)


def _batches(setting: Setting) -> Iterator[tuple[Made, str, Raw]]:
    given: Made = {"sampler": Probe("Counting", 300), "drop_last": False}
    return _counts("batch_size", Raw(200, "int32"), **given)


def _ranked(setting: Setting) -> Iterator[tuple[Made, str, Raw]]:
    given: Made = {"dataset": Data(300)}
    if setting.role == "DistributedSamplerWrapper":
        given = {"sampler": Probe("Descending", 300)}
    yield from _counts("num_replicas", Raw(2, "int32"), **given, rank=1)
    yield from _counts("rank", Raw(1, "int32"), **given, num_replicas=2)
    if setting.accepts("seed"):
        shuffled: Made = {"shuffle": True} if setting.accepts("shuffle") else {}
        yield from _counts("seed", *FULL, **given, **shuffled)


ARGUMENTS = {
    "RandomSampler": _drawn, "WeightedRandomSampler": _drawn, "BatchSampler": _batches,
    "DistributedSampler": _ranked, "DistributedSamplerWrapper": _ranked,
}  # fmt: skip


def _arguments(setting: Setting) -> Iterator[Case]:
    """An argument of a small type, beside the same with int; a seed meets an epoch."""
    for others, name, value in ARGUMENTS[setting.role](setting):
        passes: list[Operation] = [Iterate()]
        if name == "seed":
            passes = [SetEpoch(1), Iterate()]
        plan = [*passes, Rebuild(((name, value.value),)), *passes]
        yield Case(setting.role, {**others, name: value}, plan)


def _epochs(setting: Setting) -> Iterator[Case]:
    """An epoch of a small type, and the equal int; both meet a seed that is not 0."""
    seeded = [m for m in subjects.small(setting) if m.get("seed") or not setting.accepts("seed")]
    told = [made for made in seeded if made.get("shuffle", True)]
    made = (told or [*subjects.small(setting)])[-1]
    if setting.role.endswith("ClassSampler") and not setting.has_epochs:
        return
    if setting.role not in SEEDED or not subjects.is_private(setting, made):
        return
    if setting.role == "DistributedSamplerWrapper" and setting.accepts("shuffle"):
        made = {**made, "shuffle": True}
    for epoch in FULL:
        plan = [SetEpoch(epoch), Iterate(), SetEpoch(1), Iterate(), SetEpoch(epoch.value)]
        yield Case(setting.role, made, [*plan, Iterate()])


ARGUMENT_TYPES = Scenario("small integer-likes", _arguments)
EPOCH_TYPES = Scenario("small epoch types", _epochs)
