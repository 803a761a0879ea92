"""Laws of `spec/loader.md`: what a loader does to the global states of the main process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance import operations as op
from conformance.datasets import Mapped, Order, Stream
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import shuffled
from conformance.laws.loading import READS, arguments, built, workers
from conformance.recipes import Values
from conformance.trace import Event, RankTrace, Trace

GLOBAL = ("torch", "numpy", "random")

States = dict[str, int]
"""A digest for each global state."""


def _between(rank: RankTrace) -> Iterator[tuple[States, list[Event], States]]:
    """Two looks at the states, and what was done in between; a `Reseed` parts them."""
    before: States | None = None
    events: list[Event] = []
    for event in rank.events:
        if isinstance(event.operation, op.Globals) and event.error is None:
            if before is not None:
                yield before, events, event.value
            before, events = event.value, []
        elif isinstance(event.operation, op.Reseed):
            before = None
        else:
            events.append(event)


def _changed(before: States, after: States) -> list[str]:
    return [name for name in GLOBAL if before[name] != after[name]]


def _constructs(events: list[Event]) -> bool:
    return bool(events) and all(isinstance(e.operation, op.Rebuild) for e in events)


def _quiet(trace: Trace) -> bool:
    """Whether dataset and sampler of the case draw nothing."""
    given = arguments(trace.case)
    chosen = given.get("sampler", given.get("batch_sampler"))
    data = given["dataset"]
    silent = isinstance(data, (Mapped, Stream)) and data.gives == "number"
    return silent and isinstance(chosen, (Order, Values, type(None)))


@law("loader.global-rng")
def global_rng(trace: Trace) -> Violation | None:
    rank = built(trace)
    require(arguments(trace.case).get("generator") is not None and _quiet(trace))
    found = list(_between(rank))
    require(found)
    for before, events, after in found:
        for name in _changed(before, after):
            when = "construction" if _constructs(events) else "a pass"
            about = f"{name}, {when}"
            saw = f"with a generator given, {when} changed the global state of {name}"
            return Violation("global-state-changed", saw, about=about)
    return None


@law("loader.draws-nothing")
def draws_nothing(trace: Trace) -> Violation | None:
    rank = built(trace)
    require(not shuffled(trace.case) and _quiet(trace))
    found = [(b, events, a) for b, events, a in _between(rank) if _reads(events)]
    require(found)
    for before, _, after in found:
        for name in _changed(before, after):
            about = f"{name}, {'with' if workers(trace.case) else 'without'} workers"
            saw = f"a pass that does not shuffle changed the global state of {name}"
            return Violation("pass-draws", saw, about=about)
    return None


def _reads(events: list[Event]) -> bool:
    """Whether only passes of one loader were made: a construction is another clause's."""
    return any(isinstance(e.operation, READS) for e in events) and not any(
        isinstance(e.operation, op.Rebuild) for e in events
    )


@dataclass
class _Build:
    """A construction and the states after so many passes, all begun from the same seed."""

    overrides: dict[str, object]
    states: dict[int, States] = field(default_factory=dict)


@law("loader.draws-alike")
def draws_alike(trace: Trace) -> Violation | None:
    rank = built(trace)
    require(all(event.error is None for event in rank.events))
    for before, events, after in _between(rank):
        if _constructs(events) and _changed(before, after):
            names = ", ".join(_changed(before, after))
            saw = f"a construction changed the global state of {names}"
            return Violation("construction-draws", saw, about=names)
    found = _builds(rank)
    require(len(found) > 1)
    for build in found[1:]:
        for number in sorted(build.states.keys() & found[0].states):
            for name in _changed(found[0].states[number], build.states[number]):
                saw = f"with {build.overrides} the state of {name} after pass {number} differs"
                return Violation("draws-otherwise", saw, about=_what(build))
    return None


def _builds(rank: RankTrace) -> list[_Build]:
    """The constructions whose passes began with a `Reseed`."""
    found: list[_Build] = []
    seeded, passes = False, 0
    for event in rank.events:
        did = event.operation
        if isinstance(did, op.Rebuild):
            found.append(_Build(dict(did.overrides)))
            seeded, passes = False, 0
        seeded |= isinstance(did, op.Reseed)
        passes += isinstance(did, op.Iterate)
        if isinstance(did, op.Globals) and seeded and passes and found:
            found[-1].states.setdefault(passes, event.value)
    return [build for build in found if build.states]


def _what(build: _Build) -> str:
    kept = build.overrides.get("persistent_workers")
    return "persistent_workers" if kept else "num_workers"
