"""Laws of `spec/loader.md`: what is in the batches, how many they are, and what is fetched."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.laws import Violation, law, require
from conformance.laws.comparison import is_allowed
from conformance.laws.loader.due import (
    collated,
    cut_alike,
    flat,
    lacks,
    mapped,
    passes,
    shuffled,
    surplus,
)
from conformance.laws.loader.failures import faults
from conformance.laws.loader.forms import agrees, strange
from conformance.laws.loading import (
    Run,
    arguments,
    as_built,
    built,
    collation,
    expected,
    hung,
    kinds,
    of,
    ordered,
    records,
    returned,
    rows,
    runs,
)  # fmt: skip
from conformance.trace import RankTrace, Trace


@law("loader.batches")
def batches(trace: Trace) -> Violation | None:
    require(trace.done and all(hung(rank) is None for rank in trace.ranks))
    return next(filter(None, (_delivered(trace, rank) for rank in trace.ranks)), None)


def _delivered(trace: Trace, rank: RankTrace) -> Violation | None:
    """What a rank was given: every rank the whole of its loader's data."""
    refused = rank.events[0].error
    require(not lacks(refused))
    if refused is not None:
        return Violation("refused", f"the construction raised {refused}")
    data = arguments(trace.case)["dataset"]
    if getattr(data, "gives", "") == "formed" or collation(trace.case) == "odd":
        return _formed(rank, trace.case)
    before = _before_error(trace.case)
    for run, due in passes(rank, trace.case):
        due = due[:before]
        if run.errors and before is None:
            saw = f"the pass raised {run.errors[0]}"
            return Violation("crash", saw, events=rows(rank, run))
        made = as_built(trace.case, rank, run.begun)
        anomaly = _wrong(run, due, made)
        if anomaly:
            wanted = f"batches cut like {due}" if shuffled(made) else collated(made, due)
            saw = f"{run.items} instead of {wanted}"
            return Violation(anomaly, saw, events=rows(rank, run))
    return None


def _before_error(case: Case) -> int | None:
    """How many batches the sampler gives before it raises; None if it does not."""
    planned = [fault.at for fault in faults(case) if fault.where == "sampler"]
    return planned[0] // (arguments(case).get("batch_size", 1) or 1) if planned else None


def _formed(rank: RankTrace, case: Case) -> Violation | None:
    """A pass whose batches are described when it is over: they must still be what they were."""
    due, described, found = expected(case), of(rank, lo.Describe), runs(rank)
    require(due is not None and described and found and not strange(case))
    assert due is not None
    texts, row = described[-1].value, rows(rank, found[-1])
    if found[-1].errors:
        saw = f"after {len(texts)} batches the pass raised {found[-1].errors[0]}"
        return Violation("crash", f"{saw}: {_made_of(case, due, len(texts))}", events=row)
    if len(texts) != len(due):
        anomaly = "lost-batch" if len(texts) < len(due) else "other-batches"
        return Violation(anomaly, f"{len(texts)} batches instead of {len(due)}", events=row)
    for place, (text, batch) in enumerate(zip(texts, due, strict=True)):
        if not agrees(text, case, batch):
            others = [other for other in due if agrees(text, case, other)]
            moved = "overwritten" if texts.count(text) > 1 else "out-of-order"
            saw = f"{_made_of(case, due, place)}; when the pass was over it was {text}"
            saw += f", as due for {others[0]}" if others else ""
            return Violation(moved if others else "other-values", saw, events=row)
    return None


def _made_of(case: Case, due: list[Any], place: int) -> str:
    """A batch, and what its items are made of."""
    if place >= len(due) or not flat([due[place]]):
        return f"batch {place}"
    return f"batch {place}, {due[place]}, is of {mapped(case).form(flat([due[place]])[0])}"


def _wrong(run: Run, due: list[Any], case: Case) -> str:
    """The name of what is wrong with a pass, or nothing."""
    if shuffled(case):
        return "" if cut_alike(run, due, case) else "other-batches"
    wanted = collated(case, due)
    if not ordered(case):
        lost = run.finished and len(run.items) < len(wanted)
        return "other-batches" if surplus(run.items, wanted) else "lost-batch" if lost else ""
    if run.items == (wanted if run.finished else wanted[: len(run.items)]):
        return ""
    shapes = [{type(item) for item in items} for items in (run.items, wanted)]
    if all(shapes) and shapes[0] != shapes[1]:
        return "batched-otherwise"
    if sorted(map(str, run.items)) == sorted(map(str, wanted)):
        return "out-of-order"
    return "lost-batch" if len(run.items) < len(wanted) else "other-batches"


@law("loader.fetch-once")
def fetch_once(trace: Trace) -> Violation | None:
    """All passes together: the journal has the requests of each, and of the construction."""
    rank = built(trace)
    require(isinstance(rank.events[-1].operation, lo.Journal))
    made = passes(rank, trace.case)
    require(all(run.finished and not run.errors for run, _ in made))
    given = [run.items if shuffled(trace.case) else due for run, due in made]
    due = Counter(index for batches in given for index in flat(batches))
    asked = Counter(record.value for record in kinds(records(rank), "fetch"))
    events = rows(rank, *(run for run, _ in made))
    for index in sorted(due | asked):
        if asked[index] != due[index]:
            more = "fetched-again" if due[index] else "foreign-fetch"
            anomaly = more if asked[index] > due[index] else "not-fetched"
            saw = f"item {index} was asked for {asked[index]} times, and is due {due[index]} times"
            return Violation(anomaly, saw, events=events)
    return None


@law("loader.length")
def length(trace: Trace) -> Violation | None:
    rank = built(trace)
    mapped(trace.case)
    made = [run for run in runs(rank) if run.finished and not run.errors]
    pairs = [(run, value) for run in made for value in _said(rank, run)]
    require(pairs or (made and any(is_allowed(event) for event in rank.events)))
    for run, value in pairs:
        if value != len(run.items):
            saw = f"len(loader) is {value}; a pass delivers {len(run.items)} batches"
            return Violation("wrong-length", saw, events=rows(rank, run))
    return None


def _said(rank: RankTrace, run: Run) -> list[int]:
    """What `len` gave while the epoch of this pass was the one that was set."""
    found: list[int] = []
    for number, event in enumerate(rank.events):
        if isinstance(event.operation, op.SetEpoch):
            if number > run.begun:
                break
            found = []
        if isinstance(event.operation, op.Len) and event.error is None:
            found.append(event.value)
    return found


@law("loader.empty")
def empty(trace: Trace) -> Violation | None:
    rank = returned(trace)
    require(mapped(trace.case).n == 0 and not lacks(rank.events[0].error))
    about = "shuffled" if shuffled(trace.case) else ""
    for number, event in enumerate(rank.events):
        did = event.operation or "the construction"
        if event.error is not None:
            return Violation("empty-raises", f"{did} raised {event.error}", about=about)
        if isinstance(event.operation, op.Len) and event.value != 0:
            return Violation("empty-length", f"len(loader) is {event.value}", about=about)
        if isinstance(event.operation, op.Iterate) and len(event.value):
            saw = f"a pass delivered {len(event.value)} batches"
            return Violation("empty-yields", saw, events=((rank.rank, number),), about=about)
    return None
