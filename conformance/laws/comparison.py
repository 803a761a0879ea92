"""Comparisons that laws share: one pass with another, one construction with another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance import operations as op
from conformance.laws import Mark, Violation, require
from conformance.laws.views import Pass, rows, shown, whole_passes
from conformance.recipes import Generator, Role
from conformance.trace import Error, Event, RankTrace, Trace

GLOBAL = ("torch", "numpy", "random")
STATES = (*GLOBAL, "generator")
"""The global random states, and with them the generator that the caller passed."""


def events(trace: Trace) -> Iterator[tuple[RankTrace, int, Event]]:
    for rank in trace:
        for number, event in enumerate(rank.events):
            yield rank, number, event


DRAWN = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
"""Roles that draw from the global state of torch where they are given no generator."""

NO_LENGTH = "cannot be interpreted as an integer"
"""What Python says where `__len__` has returned something that is no length, such as None."""


def is_allowed(event: Event) -> bool:
    """`len` may raise TypeError where the count cannot be known; but not by what it returned."""
    return isinstance(event.operation, op.Len) and is_unknown(event.error)


def is_unknown(error: Error | None) -> bool:
    """Whether `len` says by this that the count cannot be known."""
    return error is not None and error.is_a("TypeError") and NO_LENGTH not in error.message


def is_digest(event: Event) -> bool:
    """Whether the event compares the arguments with what they were when handed over."""
    return isinstance(event.operation, op.Arguments) and event.value is not None


def row(rank: RankTrace, number: int) -> tuple[tuple[int, int], ...]:
    return ((rank.rank, number),)


def circumstances(found: Pass) -> Any:
    """The circumstances that fix the order of a sampler whose order is f(seed, epoch)."""
    return found.epoch, found.n, repr(found.overrides)


def differ(first: Pass, second: Pass, one: str, other: str) -> str:
    return f"rank {second.rank}: {one}: {shown(first.values)}; {other}: {shown(second.values)}"


def differing(wanted: Pass, found: Pass) -> tuple[Mark, ...]:
    """The places at which a pass differs from the one that it should equal."""
    width = min(len(wanted.values), len(found.values))
    bad = np.flatnonzero(wanted.values[:width] != found.values[:width])
    return tuple(Mark(found.rank, found.event, int(place), "wrong") for place in bad[:50])


def twins(
    trace: Trace, anomaly: str, condition: str, cause: type[op.Operation]
) -> Violation | None:
    """The k-th whole pass of each construction must equal the k-th of the first construction.

    cause: the operation whose effect is looked for. What draws from global states is compared only
    where both constructions were made, and used, in the same ones.
    """
    require(trace.done and any(isinstance(e.operation, cause) for _, _, e in events(trace)))
    compared, drawn = False, cause is not op.Reseed and _draws_globally(trace)
    for rank in trace:
        first: dict[int, Pass] = {}
        for found in whole_passes(rank, trace):
            wanted = first.setdefault(found.ordinal, found)
            if wanted.build == found.build or (drawn and not _alike(wanted, found)):
                continue
            compared = True
            if not wanted.same(found):
                saw = differ(wanted, found, "before", condition)
                return Violation(anomaly, saw, differing(wanted, found), rows(found))
    require(compared)
    return None


def _draws_globally(trace: Trace) -> bool:
    """Whether the case gives the sampler no generator, and its role has no seed."""
    given = [value for _, value in trace.case.arguments]
    held = [inner for v in given if isinstance(v, Role) for _, inner in v.arguments]
    roles = {trace.case.role, *(value.name for value in given if isinstance(value, Role))}
    generators = any(isinstance(value, Generator) for value in (*given, *held))
    return not generators and bool(roles & {*DRAWN})


def _alike(one: Pass, other: Pass) -> bool:
    """Whether two constructions were made in the same global states."""
    return one.under is not None and one.under == other.under


def touched(trace: Trace, operations: Any, sources: tuple[str, ...]) -> str:
    """The first of `sources` that changed between two `Globals` with only `operations` between."""
    for rank in trace:
        last: dict[str, int] = {}
        for event in rank.events:
            if isinstance(event.operation, op.Globals) and isinstance(event.value, dict):
                for source in sources:
                    if last.get(source, event.value.get(source)) != event.value.get(source):
                        return "the caller's generator" if source == "generator" else source
                last = event.value
            elif not isinstance(event.operation, operations):
                last = {}
    return ""
