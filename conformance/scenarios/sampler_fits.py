"""Which arguments a plan of `spec/sampler.md` is for: as they are, changed, or none at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.classes import size_of
from conformance.recipes import Data, Probe, Role, Values
from conformance.scenarios import Setting, subjects
from conformance.scenarios.subjects import DRAWN, RANKED, SEEDED

Made = dict[str, Any]

Fit = Callable[[Setting, Made], Made | None]


def private(setting: Setting, made: Made) -> Made | None:
    """Randomness fixed by the arguments."""
    made = subjects.with_generator(setting, made)
    return made if subjects.is_private(setting, made) else None


def privately(narrow: Fit) -> Fit:
    """The same, with randomness fixed by the arguments."""

    def narrower(setting: Setting, made: Made) -> Made | None:
        found = narrow(setting, made)
        return None if found is None else private(setting, found)

    return narrower


def global_states(setting: Setting, made: Made) -> Made | None:
    return subjects.without_generator(made) if setting.role in DRAWN else None


def _moves(made: Made) -> bool:
    """Whether an inner sampler draws from a generator, which each pass moves on."""
    inner = made.get("sampler")
    return isinstance(inner, Role) and "generator" in dict(inner.arguments)


def steady(setting: Setting, made: Made) -> Made | None:
    """Order a function of (arguments, seed, epoch): no generator that moves on."""
    moving = _moves(made)
    fixed = setting.role in (*SEEDED, "SequentialSampler", "BatchSampler")
    return made if fixed and not moving and subjects.is_private(setting, made) else None


def listed(setting: Setting, made: Made) -> Made | None:
    """A plain list stands for the inner sampler or the dataset."""
    given = next((name for name in ("sampler", "dataset", "data_source") if name in made), "")
    return {**made, given: Values(range(size_of(made) - 1, -1, -1))} if given else made


def _owned(name: str, given: Values) -> Values:
    """The same in a container that can be overwritten; weights as torch would alias them."""
    kind = "list" if given.kind == "tuple" else given.kind
    return Values(given.items, "float64" if (name, kind) == ("weights", "list") else kind)


def mutable(setting: Setting, made: Made) -> Made | None:
    """Private randomness over sequences that their owner can and does change."""
    changed = {
        name: _owned(name, value) if isinstance(value, Values) else value
        for name, value in made.items()
    }
    differ = any(isinstance(v, Values) and len(set(v.items)) > 1 for v in changed.values())
    return private(setting, changed) if differ else None


def same_shard(setting: Setting, made: Made) -> Made | None:
    """All ranks build one and the same shard."""
    found = private(setting, made)
    if found is None or setting.role not in RANKED:
        return found
    return {**found, "num_replicas": 3, "rank": 1}


def sizable(setting: Setting, made: Made) -> Made | None:
    """What the plan can resize: a dataset, or what is behind a sampler.

    One of which more is drawn than it has is never resized to nothing.
    """
    made = {k: replace(v, kind="") if isinstance(v, Data) else v for k, v in made.items()}
    if ("num_samples" in made or made.get("replacement")) and size_of(made) < 3:
        return None
    inner = made.get("sampler")
    if inner is not None:
        return made if isinstance(inner, Probe) or not _moves(made) else None
    sized = setting.role in ("SequentialSampler", "RandomSampler", "DistributedSampler")
    return made if sized else None


def raising(setting: Setting, made: Made) -> Made | None:
    if "sampler" not in made or not isinstance(made["sampler"], Probe):
        return None
    count = made["sampler"].count
    return {**made, "sampler": Probe("Raising", count, count // 2)} if count else None
