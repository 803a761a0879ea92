"""Plans of `spec/sampler.md` in two surroundings: the same sampler in another process or thread,
under other settings, after others, and over sequences that hold something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.operations import (
    Drain,
    Iterate,
    Len,
    Open,
    Rebuild,
    Refill,
    Reseed,
    Surround,
    Take,
    Threads,
    Validate,
    Within,
)  # fmt: skip
from conformance.recipes import Data, Probe, Values
from conformance.scenarios import Setting
from conformance.scenarios.besides import akin, flagged
from conformance.scenarios.sampler_plans import Made, Plan, at


def anywhere(setting: Setting, made: Made) -> Plan:
    return [*at(setting, 1), Iterate(), Rebuild(), Surround(), *at(setting, 1), Iterate()]


def anywhere_built(setting: Setting, made: Made) -> Plan:
    """Built, too, under dtypes that hold few digits, which other code may have made the default."""
    passed = [*at(setting, 1), Iterate()]
    narrow: Plan = [Surround("bfloat16"), Rebuild(), *passed, Surround("float16", 1, 3), Rebuild()]
    return [*passed, *narrow, *passed]


def anywhere_in_threads(setting: Setting, made: Made) -> Plan:
    """Built in one thread, told the epoch in another, and read in a third."""
    passed = [*at(setting, 1), Iterate()]
    woven: Plan = [*at(setting, 1), Open("a"), Take("a"), Drain("a")]
    return [*passed, Threads(), Rebuild(), *passed, Rebuild(), *woven]


def anywhere_akin(setting: Setting, made: Made) -> Plan | None:
    """Samplers of the same seed and epoch have been made, and read, before the second: one that
    drops what does not divide, and a longer one."""
    passed = [*at(setting, 1), Iterate()]
    others = [flagged(setting, made, 1), akin(setting, made, 1)]
    beside: Plan = [other for other in others if other]
    return [*passed, *beside, Rebuild(), *passed] if beside else None


def anywhere_seeded(setting: Setting, made: Made) -> Plan:
    """Without a generator, the seed is that of the global states, whichever is drawn from."""
    seeded: Plan = [Reseed(3), Iterate()]
    return [*seeded, Rebuild(), Surround(), *seeded]


def anywhere_in_a_worker(setting: Setting, made: Made) -> Plan:
    """Built and read in the process of a loader's worker, where a dataset may have samplers."""
    passed = [*at(setting, 1), Iterate()]
    return [*passed, Rebuild(), Surround(worker=(1, 2)), *passed, Rebuild(), *passed]


def validated(setting: Setting, made: Made) -> Plan | None:
    """Passes under inference mode, the first among them, and others: what is kept of the ones may
    not be changed in the others."""
    passed: Plan = [*at(setting, 1), Validate(), *at(setting, 2), Iterate()]
    again: Plan = [*at(setting, 1), Iterate(), Rebuild(), *at(setting, 2), Iterate(), Len()]
    return None if setting.role == "DatasetFromSampler" else [*passed, *again, *passed]


def anywhere_within(setting: Setting, made: Made) -> Plan:
    """Read in a notebook's cell, and where numbers are computed with few digits."""
    passed: Plan = [*at(setting, 1), Iterate()]
    for where in ("loop", "autocast"):
        passed += [Rebuild(), *at(setting, 1), Within(where)]
    return passed


def held_open(setting: Setting, made: Made) -> Plan:
    """A pass that one thread has begun is open still while others make passes of their own."""
    opened: Plan = [*at(setting, 1), Open("a"), Take("a")]
    return [*opened, Threads(), Len(), Iterate(), Iterate(), Drain("a")]


def refilled(setting: Setting, made: Made) -> Plan | None:
    """Sequences that were handed over hold something else, and are handed over again."""
    other = tuple(_other_content(made))
    passes: Plan = [*at(setting, 1), Iterate()]
    return [*passes, Refill(other), *passes, Rebuild(other), *passes] if other else None


def _other_content(made: Made) -> Iterator[tuple[str, Any]]:
    """Values in reverse, and other lengths; of what can be overwritten."""
    for name, value in made.items():
        if isinstance(value, Values) and value.kind not in ("tuple", "range"):
            if value.items[::-1] != value.items:
                yield name, Values(value.items[::-1], value.kind)
        elif isinstance(value, Data) and not value.kind:
            yield name, Data(value.n + 3)
        elif isinstance(value, Probe):
            yield name, Probe(value.name, value.count + 3, value.at)
