"""Laws of `spec/batch.md` on what the lists hold: all the inner sampler yields, in its order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Mark, Violation, law, require
from conformance.laws.batch.cuts import (
    count_of,
    cut,
    drops,
    events,
    given,
    inner,
    listed,
    lists,
    permuted,
    wanted,
)  # fmt: skip
from conformance.laws.distributed import same_as_oracle
from conformance.laws.draws import crashed, differing, ended, got
from conformance.laws.inner import retyped
from conformance.laws.views import Pass, rows, size
from conformance.recipes import Probe
from conformance.trace import UNREADABLE, RankTrace, Trace

Numbers = NDArray[np.int64]


@law("batch.concatenation")
def concatenation(trace: Trace) -> Violation | None:
    crash = crashed(trace)
    if crash is not None:
        return crash
    if inner(trace).name == "Turning":
        return _turning(trace)
    for found in ended(trace):
        if inner(trace).name == "RandomSampler":
            if not permuted(trace, found):
                count = count_of(given(trace), found.n)
                return _not_the_inner(found, cut(trace, np.arange(count) % found.n))
            continue
        due = wanted(trace, found)
        if not np.array_equal(found.values, due):
            return _not_the_inner(found, due)
        odd = retyped(listed(trace, found), found.items, count=len(due))
        if odd or _other_lists(trace, found):
            what = f"items of type {odd}" if odd else f"the items {found.items.unreadable}"
            saw = f"rank {found.rank}: {what} are not what the inner sampler yielded"
            return Violation("foreign-index", saw, events=rows(found))
    return None


def _other_lists(trace: Trace, found: Pass) -> bool:
    """Whether inner items that are lists were handed on as something else."""
    due = lists(trace, found)[: len(found.values)]
    return bool(due) and (
        set(found.items.kinds) != {"list"} or list(found.items.unreadable[: len(due)]) != due
    )


def _not_the_inner(found: Pass, due: Numbers) -> Violation:
    same = np.array_equal(np.sort(found.values), np.sort(due))
    short = len(found.values) < len(due)
    anomaly = "reordered" if same else "lost-index" if short else "foreign-index"
    saw = f"rank {found.rank}, pass {found.ordinal + 1}: {got(found)}, not {_told(due)}"
    return Violation(anomaly, saw, differing(found, due), rows(found))


def _told(due: Numbers) -> list[Any]:
    """The first items that are due; what is no number is told by a word."""
    return [int(item) if item != UNREADABLE else "a list" for item in due[:12]]


def _turning(trace: Trace) -> Violation | None:
    """Each inner pass starts further on: one that is shown twice was kept."""
    require(inner(trace).count > 4)
    before: Pass | None = None
    for found in ended(trace):
        start = found.values[0] if len(found.values) else 0
        due = (cut(trace, np.arange(inner(trace).count)) + start) % inner(trace).count
        if not np.array_equal(found.values, due):
            return _not_the_inner(found, due)
        if before and before.rank == found.rank and before.same(found) and len(due):
            saw = f"the inner sampler turns, but pass {found.ordinal + 1} is the one before"
            return Violation("stale-pass", saw, events=rows(before, found))
        before = found
    return None


@law("batch.sizes")
def sizes(trace: Trace) -> Violation | None:
    size = int(trace.case.argument("batch_size"))
    for found in ended(trace):
        foreign = [kind for kind in found.items.containers if _no_list(kind)]
        got_sizes = found.items.sizes if found.items.sizes is not None else np.zeros(0, np.int64)
        if foreign or got_sizes.sum() != len(found.values):
            saw = f"rank {found.rank}: batches are {', '.join(foreign) or 'no lists'}"
            return Violation("not-a-list", saw, events=rows(found))
        full = got_sizes == size
        full[-1:] |= (got_sizes[-1:] > 0) & (got_sizes[-1:] < size) & (not drops(trace))
        if not full.all():
            first = int(np.flatnonzero(~full)[0])
            saw = f"rank {found.rank}: batch {first} of {len(full)} has {got_sizes[first]} items"
            return Violation("wrong-size", saw, _batch_marks(found, first), rows(found))
    return None


def _no_list(kind: str) -> bool:
    """A list of a class of its own is a list too."""
    return kind in ("tuple", "set", "frozenset") or kind.startswith(("numpy.", "torch."))


def _batch_marks(found: Pass, number: int) -> tuple[Mark, ...]:
    assert found.items.sizes is not None
    start = int(found.items.sizes[:number].sum())
    stop = start + int(found.items.sizes[number])
    return tuple(Mark(found.rank, found.event, p, "wrong") for p in range(start, stop)[:50])


@law("batch.length")
def length(trace: Trace) -> Violation | None:
    made = given(trace)
    require(not (isinstance(made, Probe) and made.name == "Lying"))
    unsized = isinstance(made, Probe) and made.name in ("Unsized", "Endless", "Spent")
    size = int(trace.case.argument("batch_size"))
    declared = list(events(trace, op.Len))
    require(declared)
    for rank, number, event in declared:
        count = count_of(made, _count(trace, rank, number))
        due = count // size + (count % size > 0 and not drops(trace))
        shows = ((rank.rank, number),)
        if unsized and (event.error is None or not event.error.is_a("TypeError")):
            told = f"raised {event.error}" if event.error else f"is {event.value}"
            saw = f"the inner sampler has no length; len {told}, and not TypeError"
            return Violation("length-invented", saw, events=shows)
        if not unsized and (event.error is not None or event.value != due):
            told = f"raised {event.error}" if event.error else f"is {event.value}"
            saw = f"rank {rank.rank}: len {told}; {count} inner items make {due} batches"
            return Violation("wrong-length", saw, events=shows)
    return None


def _count(trace: Trace, rank: RankTrace, number: int) -> int:
    """How many items the inner sampler has at an event: it may have been resized."""
    steps = [event.operation for event in rank.events[:number]]
    given = [step.n for step in steps if isinstance(step, op.Resize)]
    return given[-1] if given else size(trace)


@law("batch.fresh")
def fresh(trace: Trace) -> Violation | None:
    """All passes are equal, whether batches were kept, changed, or let go one by one.

    No two batches that the caller keeps, of one pass or of several, are one list.
    """
    scribbled = list(events(trace, op.Scribble))
    require(scribbled or _one_by_one(trace))
    for rank, number, event in scribbled:
        if event.value:
            saw = f"rank {rank.rank}: {event.value} of the batches kept are a list that came before"
            return Violation("batch-shared", saw, events=((rank.rank, number),))
    made = [found for found in ended(trace) if found.whole]
    require(len(made) > 1 and inner(trace).name != "Turning")
    for found in made:
        if not found.same(made[0]):
            saw = f"undisturbed {got(made[0])}; after batches were kept or changed {got(found)}"
            shows = rows(made[0], found)
            return Violation("batch-shared", saw, differing(found, made[0].values), shows)
    return None


def _one_by_one(trace: Trace) -> bool:
    return any(event.operation.count == 1 for _, _, event in events(trace, op.Take))  # type: ignore[union-attr]


@law("batch.inner-end")
def inner_end(trace: Trace) -> Violation | None:
    probe = inner(trace)
    require(probe.name in ("Lying", "Unsized"))
    claims = f"claims {probe.at} items" if probe.name == "Lying" else "claims no length"
    told = f"the inner sampler {claims} and yields {probe.count}"
    crash = crashed(trace)
    if crash is not None:
        return Violation("inner-length-trusted", f"{told}; {crash.saw}", events=crash.events)
    for found in ended(trace):
        due = wanted(trace, found)
        if not np.array_equal(found.values, due):
            saw = f"{told}; the batches hold {got(found)}"
            marks = differing(found, due)
            return Violation("inner-length-trusted", saw, marks, rows(found))
    return None


@law("batch.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)
