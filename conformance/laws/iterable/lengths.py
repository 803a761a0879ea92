"""Laws of `spec/iterable.md`: lengths, incomplete batches, and streams that come several times."""

from __future__ import annotations

from bisect import bisect
from typing import Any

from conformance import operations as op
from conformance.case import Case
from conformance.laws import Violation, law, require
from conformance.laws.iterable.streams import (
    DIVIDED,
    dropping,
    elements,
    flat,
    passes,
    shares,
    thinned,
    undisturbed,
)
from conformance.laws.loading import arguments, built, of, rows, runs, workers
from conformance.trace import RankTrace, Trace


@law("iterable.length")
def length(trace: Trace) -> Violation | None:
    data, case = elements(trace), trace.case
    require(data.sized and (data.shard in DIVIDED or workers(case) < 2))
    rank = built(trace)
    found = passes(rank)
    told = [(at, e) for at, e in enumerate(rank.events) if isinstance(e.operation, op.Len)]
    resized = [at for at, e in enumerate(rank.events) if isinstance(e.operation, op.Resize)]
    require(told and not of(rank, op.Rebuild))
    about = ("with" if workers(case) else "without") + " workers"
    about += ", drop_last" if dropping(case) else ""
    for at, event in told:
        if event.error is not None:
            if not event.error.is_a("TypeError"):
                saw = f"len() raised {event.error}, not TypeError"
                return Violation("length-error", saw, about=about)
            continue
        for run in found:
            one_size = bisect(resized, at) == bisect(resized, run.begun)
            if one_size and event.value != len(run.items):
                saw = f"len() is {event.value}, and {len(run.items)} batches came"
                return Violation("wrong-length", saw, events=rows(rank, run), about=about)
    return None


@law("iterable.drop-last")
def drop_last(trace: Trace) -> Violation | None:
    data, rank, size = undisturbed(trace, *DIVIDED), built(trace), _batch_size(trace.case)
    if thinned(trace.case):
        return _thinned(trace, rank, size)
    for run in passes(rank):
        lost = set(range(data.n)) - set(flat(run.items))
        wrong = _wrongly_dropped(trace.case, run.items, lost, size)
        if wrong:
            about = "drop_last" if dropping(trace.case) else "no drop_last"
            saw = f"{run.items}: {wrong[1]}"
            return Violation(wrong[0], saw, events=rows(rank, run), about=about)
    return None


def _thinned(trace: Trace, rank: RankTrace, size: int) -> Violation | None:
    """What the workers' complete batches have become, by the caller's function, comes."""
    require(dropping(trace.case))
    complete = sum(len(part) // size for part in shares(trace.case))
    for run in passes(rank):
        if len(run.items) < complete:
            saw = f"{run.items}: {complete} complete batches were made shorter by collate_fn"
            return Violation("complete-batch-dropped", saw, events=rows(rank, run))
    return None


def _wrongly_dropped(
    case: Case, batches: list[Any], lost: set[int], size: int
) -> tuple[str, str] | None:
    if not dropping(case):
        return ("dropped", f"{sorted(lost)[:5]} never came") if lost else None
    if any(not isinstance(batch, list) or len(batch) != size for batch in batches):
        short = next(b for b in batches if not isinstance(b, list) or len(b) != size)
        return "incomplete-batch", f"the batch {short} does not have {size} elements"
    parts = shares(case)
    if any(len(lost.intersection(part)) >= size for part in parts):
        return "dropped-too-much", f"of one worker {size} or more of {sorted(lost)[:5]} never came"
    if len(lost) > sum(len(part) % size for part in parts):
        told = f"{sorted(lost)[:5]} never came: more than the workers' incomplete batches hold"
        return "complete-batch-dropped", told
    return None


def _batch_size(case: Case) -> int:
    size = arguments(case).get("batch_size", 1)
    require(isinstance(size, int))
    return int(size)


@law("iterable.drop-total")
def drop_total(trace: Trace) -> Violation | None:
    data, rank, size = elements(trace, *DIVIDED), built(trace), _batch_size(trace.case)
    require(dropping(trace.case))
    for run in passes(rank):
        lost = set(range(data.n)) - set(flat(run.items))
        if len(lost) >= size:
            saw = f"{len(lost)} of {data.n} elements were dropped: {sorted(lost)[:8]}"
            return Violation("dropped-for-each-worker", saw, events=rows(rank, run))
    return None


@law("iterable.unsharded")
def unsharded(trace: Trace) -> Violation | None:
    """What is also told of a map-style dataset, built later in the plan, tells nothing here."""
    data, case = elements(trace, "none"), trace.case
    require(data.sized and workers(case) > 1)
    rank = built(trace)
    rebuilt = [n for n, event in enumerate(rank.events) if isinstance(event.operation, op.Rebuild)]
    end = rebuilt[0] if rebuilt else len(rank.events)
    events, usual = rank.events[:end], {w for e in rank.events[end:] for w in e.warnings}
    first = runs(RankTrace(rank.rank, events))[:1]
    require(first and (first[0].errors or len(flat(first[0].items)) > data.n))
    if first[0].errors or any(w not in usual for event in events for w in event.warnings):
        return None
    asked = "len asked" if of(RankTrace(0, events), op.Len) else "len not asked"
    batches = ", batches" if (arguments(case).get("batch_size", 1) or 1) > 1 else ""
    saw = f"{len(flat(first[0].items))} elements of {data.n}, and no warning"
    return Violation("not-told", saw, events=rows(rank, first[0]), about=f"{asked}{batches}")
