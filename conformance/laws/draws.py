"""What the laws of the drawing samplers share: passes that ended, and passes by their seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Mark, Violation, require
from conformance.laws.views import Pass, option, passes, rows, shown
from conformance.recipes import Generator
from conformance.trace import Trace

ENOUGH = 16
"""From so many places on two equal shuffles are no accident: 1/16! is below 5e-14."""

PASS = (type(None), op.Rebuild, op.Iterate, op.Passes, op.Drain)
"""The operations that make a sampler or read a whole pass."""


def ended(trace: Trace) -> list[Pass]:
    """The passes of all ranks that ended by themselves, or were cut off as endless."""
    found = [made for rank in trace for made in passes(rank, trace) if made.error is None]
    require(found)
    return found


def crashed(trace: Trace) -> Violation | None:
    """Valid arguments that end in an exception instead of a pass, at whatever length."""
    for rank in trace:
        for number, event in enumerate(rank.events):
            if isinstance(event.operation, op.Resize):
                break
            if event.error is not None and isinstance(event.operation, PASS):
                did = event.operation or "the construction"
                saw = f"rank {rank.rank}: {did} raised {event.error} ({event.error.where})"
                shows = ((rank.rank, number),)
                return Violation("crash", saw, events=shows, about=event.error.kind)
    return None


def got(found: Pass) -> str:
    """What a pass yielded, in few words."""
    return ", ".join(found.items.unreadable) or shown(found.values)


def differing(found: Pass, wanted: NDArray[np.int64]) -> tuple[Mark, ...]:
    """Marks on the places at which a pass is not what it should be."""
    width = min(len(wanted), len(found.values))
    bad = np.flatnonzero(found.values[:width] != wanted[:width])
    extra = range(width, len(found.values))
    return tuple(Mark(found.rank, found.event, int(p), "wrong") for p in [*bad[:50], *extra[:50]])


def marked(found: Pass, bad: NDArray[np.bool_], kind: str) -> tuple[Mark, ...]:
    """Marks on the places where `bad` is true."""
    places = np.flatnonzero(bad)[:50]
    return tuple(Mark(found.rank, found.event, int(place), kind) for place in places)


def strayed(found: Pass, saw: str) -> Violation | None:
    """Whether some item of a pass lies outside [0, n)."""
    outside = (found.values < 0) | (found.values >= found.n)
    if not outside.any():
        return None
    return Violation("out-of-range", saw, marked(found, outside, "out-of-range"), rows(found))


def doubled(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the values come more than once."""
    seen, counts = np.unique(values, return_counts=True)
    return np.isin(values, seen[counts > 1])


def seeded(trace: Trace, telling: Callable[[Pass], bool]) -> Violation | None:
    """The k-th passes under equal generators are equal; all others differ.

    telling: whether two equal passes of this kind are no accident.
    """
    judged = False
    known: list[tuple[int, Pass]] = []
    for seed, found in _by_seed(trace):
        for before_seed, before in known:
            again = seed == before_seed and found.ordinal == before.ordinal
            if not (again or telling(found)):
                continue
            judged = True
            if before.same(found) != again:
                return _seed_violation(before_seed, before, seed, found)
        known.append((seed, found))
    require(judged)
    return None


def _by_seed(trace: Trace) -> Iterator[tuple[int, Pass]]:
    for found in ended(trace):
        generator = option(trace, found, "generator", None)
        if isinstance(generator, Generator) and set(found.overrides) <= {"generator"}:
            yield generator.seed + found.rank * generator.by_rank, found


def _seed_violation(one: int, before: Pass, other: int, found: Pass) -> Violation:
    shows: dict[str, Any] = {"events": rows(before, found)}
    if one != other:
        which = " and ".join(f"pass {made.ordinal + 1}" for made in (before, found))
        saw = f"seeds {one} and {other}: {which} are the same: {got(found)}"
        return Violation("seed-ignored", saw, **shows)
    if found.ordinal != before.ordinal:
        told = f"passes {before.ordinal + 1} and {found.ordinal + 1}"
        saw = f"{told} of seed {one} are the same: {got(found)}"
        return Violation("stale-pass", saw, **shows)
    saw = f"seed {one}, pass {found.ordinal + 1}: once {got(before)}, again {got(found)}"
    return Violation("seed-not-fixed", saw, differing(found, before.values), **shows)
