"""Laws of `spec/sampler.md` about passes: they start, end, restart, and say how long they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance import operations as op
from conformance.laws import Mark, Violation, law, require
from conformance.laws.comparison import (
    STATES,
    circumstances,
    differ,
    differing,
    events,
    is_allowed,
    is_unknown,
    row,
    touched,
    twins,
)
from conformance.laws.views import Pass, passes, rows, shown, size, whole_passes
from conformance.recipes import Values
from conformance.trace import Error, Event, RankTrace, Trace

OUTPUT_BYTES = 1 << 20

ENTANGLED = "interleaved with another iterator"


@law("sampler.works")
def works(trace: Trace) -> Violation | None:
    require(trace.done and max(rank.printed for rank in trace) < OUTPUT_BYTES)
    for rank, number, event in events(trace):
        if event.error and size(trace) and not is_allowed(event):
            did = event.operation or "the construction"
            saw = f"rank {rank.rank}: {did} raised {event.error} ({event.error.where})"
            return Violation("crash", saw, events=row(rank, number), about=event.error.kind)
    return None


@law("sampler.returns")
def returns(trace: Trace) -> Violation | None:
    fates = {rank.rank: rank.fate for rank in trace if rank.fate != "done"}
    if not fates:
        return None
    told = "; ".join(f"rank {rank}: {fate}" for rank, fate in fates.items())
    if "out of step" in fates.values():
        counts = [rank.collectives for rank in trace]
        return Violation("ranks-out-of-step", f"collectives that each rank took part in: {counts}")
    died = [fate for fate in fates.values() if fate != "stuck"]
    return Violation("rank-died" if died else "rank-stuck", told)


@law("sampler.quiet")
def quiet(trace: Trace) -> Violation | None:
    printed = max(rank.printed for rank in trace)
    if printed < OUTPUT_BYTES:
        return None
    return Violation("output-flood", f"{printed:,} bytes were printed")


@law("sampler.ends")
def ends(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace)]
    require(made)
    for found in made:
        if found.items.cut:
            saw = f"a pass was cut off after {len(found.items)} items"
            return Violation("endless", saw, events=rows(found))
        if found.items.extra:
            saw = f"after StopIteration the iterator gave {found.items.extra} more items"
            return Violation("not-exhausted", saw, events=rows(found))
    for rank in trace:
        for number, event in _asked_again(rank):
            if event.value is not None and len(event.value):
                saw = f"after StopIteration the data grew, and the iterator gave {event.value}"
                return Violation("not-exhausted", saw, events=row(rank, number))
    return None


def _asked_again(rank: RankTrace) -> Iterator[tuple[int, Event]]:
    """The reads of iterators that had come to their end."""
    ended: set[str] = set()
    for number, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, op.Open):
            ended.discard(did.name)
        elif isinstance(did, op.Drain) and event.error is None and not event.value.cut:
            ended.add(did.name)
        elif isinstance(did, op.Take) and did.name in ended:
            yield number, event


@law("sampler.length")
def length(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        for number, declared, error, found in _lengths(rank, trace):
            judged = True
            if error is not None and not is_unknown(error):
                saw = f"rank {rank.rank}: len raised {error}"
                return Violation("length-raises", saw, events=row(rank, number))
            if error is None and found is not None and declared != len(found.items):
                saw = f"rank {rank.rank}: len is {declared}, the pass yields {len(found.items)}"
                return Violation("wrong-length", saw, events=rows(found))
    require(judged)
    return None


CHANGES = (op.SetEpoch, op.Rebuild, op.Resize, op.Overwrite, op.Lengthen)
"""After these a length may be another one."""


def _lengths(rank: RankTrace, trace: Trace) -> Iterator[tuple[int, Any, Error | None, Pass | None]]:
    """Each `Len` with the first whole pass that began after it in the same circumstances.

    Who refuses a dataset of another length may say so here: `sampler.resize` judges how.
    """
    ended = {found.event: found for found in whole_passes(rank, trace)}
    resized = False
    for number, event in enumerate(rank.events):
        resized |= isinstance(event.operation, (op.Resize, op.Lengthen))
        if isinstance(event.operation, op.Len):
            found = None
            for later in range(number + 1, len(rank.events)):
                did = rank.events[later].operation
                if isinstance(did, CHANGES):
                    break
                if isinstance(did, op.Iterate) and later in ended:
                    found = ended[later]
                    break
            if found is not None or (event.error is not None and not resized):
                yield number, event.value, event.error, found


@law("sampler.length-silent")
def length_silent(trace: Trace) -> Violation | None:
    changed = touched(trace, op.Len, STATES)
    if changed:
        return Violation("length-draws", f"len changed the state of {changed}")
    return twins(trace, "length-changes-order", "after len was called", op.Len)


@law("sampler.restart")
def restart(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        made = [found for found in passes(rank, trace) if found.error is None]
        for first, second in itertools.pairwise(made):
            if first.build != second.build or first.n != second.n or first.items.cut:
                continue
            judged = True
            if len(first.items) != len(second.items):
                saw = (
                    f"rank {rank.rank}: pass {first.ordinal + 1} has {len(first.items)} items, "
                    f"pass {second.ordinal + 1} has {len(second.items)}"
                )
                return Violation("no-restart", saw, events=rows(second))
    require(judged)
    return None


@law("sampler.interleave")
def interleave(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        made = whole_passes(rank, trace)
        quiet = [found for found in made if found.alone and not found.beside]
        for found in (found for found in made if not found.alone or found.beside):
            undisturbed = [p for p in quiet if circumstances(p) == circumstances(found)]
            for other in undisturbed[:1]:
                judged = True
                if not found.same(other):
                    condition = "beside another sampler" if found.beside else ENTANGLED
                    saw = differ(other, found, "alone", condition)
                    return Violation(
                        "iterators-entangled", saw, differing(other, found), rows(found)
                    )
    require(judged)
    return None


@law("sampler.interleave-generator")
def interleave_generator(trace: Trace) -> Violation | None:
    require(any(not p.alone for rank in trace for p in whole_passes(rank, trace)))
    return twins(trace, "iterators-entangled", ENTANGLED, op.Open)


@law("sampler.idle-iter")
def idle_iter(trace: Trace) -> Violation | None:
    changed = touched(trace, op.Open, STATES)
    if changed:
        return Violation("iter-draws", f"iter() alone changed the state of {changed}")
    return twins(trace, "iter-changes-order", "after an iterator was opened and not used", op.Open)


@law("sampler.index")
def index(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace) if len(found.values)]
    require(made)
    for found in made:
        foreign = [kind for kind in found.items.kinds if not _whole(kind)]
        if found.items.unreadable or foreign:
            what = found.items.unreadable[:1] or foreign
            saw = f"rank {found.rank} yields {what[0]} (of type {', '.join(foreign)})"
            return Violation("not-an-index", saw, events=rows(found), about=", ".join(foreign))
        bad = np.flatnonzero(_outside(trace, found))
        if len(bad):
            saw = f"rank {found.rank} yields {shown(found.values[bad])} of n = {found.n}"
            marks = tuple(Mark(found.rank, found.event, int(b), "out-of-range") for b in bad[:50])
            return Violation("out-of-range", saw, marks, rows(found))
    return None


def _outside(trace: Trace, found: Pass) -> Any:
    """Which items are no index of the data; a declared sentinel is none, but allowed."""
    values = found.values
    given = trace.case.argument("indices")
    if isinstance(given, Values):
        return ~np.isin(values, np.array(given.items, dtype=np.int64))
    outside = (values < 0) | (values >= found.n)
    if trace.policies.get("pads") == "sentinel":
        outside &= values != trace.policies["sentinel"]
    return outside


def _whole(kind: str) -> bool:
    return kind == "int" or kind.startswith(("numpy.int", "numpy.uint"))


@law("sampler.index-int")
def index_int(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace) if len(found.values)]
    require(made)
    for found in made:
        foreign = [kind for kind in found.items.kinds if kind != "int"]
        if foreign:
            saw = f"rank {found.rank} yields {', '.join(foreign)}"
            return Violation("not-an-int", saw, events=rows(found), about=", ".join(foreign))
    return None
