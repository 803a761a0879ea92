"""Laws of `spec/workers.md`: what is delivered in which order, and how far a loader works ahead."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults
from conformance.datasets import Stream
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import NUMBERS, surplus
from conformance.laws.loading import (
    Run,
    ahead,
    arguments,
    built,
    expected,
    kinds,
    of,
    ordered,
    records,
    rows,
    runs,
    workers,
)  # fmt: skip
from conformance.trace import Event, RankTrace, Record, Trace


def rebuilt(rank: RankTrace) -> list[int]:
    """The events that constructed the loader; requires that none of them was refused."""
    made = [n for n, e in enumerate(rank.events) if n == 0 or isinstance(e.operation, op.Rebuild)]
    require(all(rank.events[number].error is None for number in made))
    return made


@law("workers.same-order")
def same_order(trace: Trace) -> Violation | None:
    require(ordered(trace.case))
    rank = built(trace)
    require(workers(trace.case) or len(rebuilt(rank)) > 1)
    described = _described(rank)
    if len(described) > 1:
        return _other_collation(described, trace.case)
    require(arguments(trace.case)["dataset"].gives in NUMBERS)
    wanted, found = expected(trace.case), runs(rank)
    if wanted is None:
        found = _firsts(rank, found)
        require(len(found) > 1)
        wanted = found[0].items
    for run in found:
        violation = _other_than(wanted, run, rank, trace.case)
        if violation:
            return violation
    require(any(run.finished for run in found))
    return None


def _described(rank: RankTrace) -> list[Event]:
    """What came of each pass: the descriptions that follow one."""
    pairs = zip(rank.events, rank.events[1:], strict=False)
    passed = (b for a, b in pairs if isinstance(a.operation, (op.Iterate, op.Drain)))
    return [event for event in passed if isinstance(event.operation, lo.Describe)]


def _firsts(rank: RankTrace, found: list[Run]) -> list[Run]:
    """The first pass after each construction, right after its seeding: their order is the same."""
    made, firsts = rebuilt(rank), {}
    seeds = {
        n: e.operation.seed for n, e in enumerate(rank.events) if isinstance(e.operation, op.Reseed)
    }
    for start in made:
        run = next((run for run in found if run.begun > start), None)
        if run is not None and run.begun == start + 2 and start + 1 in seeds:
            firsts[run.begun] = run
    require(len(set(seeds.values())) == 1)
    return list(firsts.values())


def _other_than(wanted: list[Any], run: Run, rank: RankTrace, case: Case) -> Violation | None:
    about = _special(case)
    if run.errors:
        saw = f"the pass raised {run.errors[0]}"
        return Violation("crash", saw, events=rows(rank, run), about=about)
    if not run.finished or run.items == wanted:
        return None
    same = Counter(map(str, run.items)) == Counter(map(str, wanted))
    saw = f"{run.items} instead of {wanted}"
    return Violation(
        "out-of-order" if same else "other-batches", saw, events=rows(rank, run), about=about
    )


def _other_collation(described: list[Event], case: Case) -> Violation | None:
    """Batches look alike with any number of workers; they tell of errors by being too few."""
    first = described[0].value
    for event in described[1:]:
        if event.value != first:
            saw = _difference(list(event.value), list(first))
            return Violation("other-collation", saw, about=_special(case))
    return None


def _difference(other: list[str], first: list[str]) -> str:
    """The first batch that is described otherwise."""
    for place, (text, wanted) in enumerate(zip(other, first, strict=False)):
        if text != wanted:
            return f"with other workers batch {place} is {text}, and not {wanted}"
    return f"with other workers {len(other)} batches were delivered, and not {len(first)}"


def _special(case: Case) -> str:
    """What a case puts to the test besides the number of workers."""
    given = arguments(case)
    start = given.get("multiprocessing_context") or ""
    pinned = "pin_memory" if given.get("pin_memory") else ""
    data = given["dataset"].gives
    shuffled = "shuffle" if given.get("shuffle") else ""
    return start or pinned or shuffled or ("" if data in NUMBERS else data)


@law("workers.unordered")
def unordered(trace: Trace) -> Violation | None:
    require(workers(trace.case) and not ordered(trace.case) and trace.done)
    rank, wanted = trace.ranks[0], expected(trace.case)
    require(wanted is not None and len(rebuilt(rank)) == 1)
    assert wanted is not None
    for run in runs(rank):
        if surplus(run.items, wanted) or (run.finished and len(run.items) < len(wanted)):
            doubled = len(run.items) > len({str(item) for item in run.items})
            saw = f"{run.items} instead of {wanted} in any order"
            anomaly = "doubled-batch" if doubled else "lost-batch"
            return Violation(anomaly, saw, events=rows(rank, run))
        if run.errors:
            built(trace)  # a pass that hung is judged by what it had delivered
            saw = f"the pass raised {run.errors[0]}"
            return Violation("crash", saw, events=rows(rank, run))
    return _handed_out(built(trace), wanted) if of(rank, lo.Journal) else None


def _handed_out(rank: RankTrace, wanted: list[Any]) -> Violation | None:
    """Each worker's fetches: it is handed its batches in the order in which they were drawn.

    Threads of the main process (worker -1) may report in any order, and so may those of one batch.
    """
    place = {index: k for k, batch in enumerate(wanted) for index in _members(batch)}
    require(all(run.finished for run in runs(rank)))
    latest: dict[int, int] = {}
    fetched = [r for r in kinds(records(rank), "fetch") if r.value in place]
    for number, record in enumerate(fetched):
        if number % len(place) == 0:
            latest = {}  # another pass
        batch, before = place[record.value], latest.get(record.worker, 0)
        if batch < before and record.worker >= 0:
            saw = f"worker {record.worker} was handed {wanted[before]} before {wanted[batch]}"
            return Violation("handed-out-of-order", saw)
        latest[record.worker] = batch
    return None


def _members(batch: Any) -> list[int]:
    return batch if isinstance(batch, list) else [batch]


@law("workers.backpressure")
def backpressure(trace: Trace) -> Violation | None:
    return _too_far(trace, "fetch", "fetched-too-far")


@law("workers.read-ahead")
def read_ahead(trace: Trace) -> Violation | None:
    return _too_far(trace, "draw", "read-too-far")


def _too_far(trace: Trace, kind: str, anomaly: str) -> Violation | None:
    """Count batches begun and batches that the caller has asked for: the one that it waits for
    counts as delivered, unless it was not. What is asked for after the last batch is none. Indices
    ascend here."""
    require(workers(trace.case))
    rank, wanted = built(trace), expected(trace.case) or _streamed(trace.case)
    require(bool(wanted) and len(rebuilt(rank)) == 1)
    require(wanted == sorted(wanted))
    found = _came(trace.case, kinds(records(rank), kind, "want", "deliver"))
    require(kinds(found, kind))
    most, size = ahead(trace.case), arguments(trace.case).get("batch_size", 1) or 1
    firsts = {batch[0] for batch in wanted or () if isinstance(batch, list)}
    begun, asked = 0, 0
    for record in found:
        asked += record.kind == "want" and record.value < len(wanted)
        first = record.value in firsts if firsts else record.value % size == 0
        begun += record.kind == kind and first
        if begun - asked > most:
            saw = f"{begun} batches begun with {asked} asked for: more than {most} ahead"
            return Violation(anomaly, saw)
    return None


@law("workers.busy")
def busy(trace: Trace) -> Violation | None:
    slowly = [did for did in trace.case.plan if isinstance(did, lo.Trickle)]
    if slowly:
        return _idle(trace, slowly[0])
    return _too_few(trace, workers(trace.case), "late-workers")


def _idle(trace: Trace, slowly: lo.Trickle) -> Violation | None:
    """Where each item takes a while, and there are many batches, each worker makes half of an even
    share at least."""
    rank, count = built(trace), workers(trace.case)
    require(count and slowly.who == -1 and len(expected(trace.case) or ()) >= 4 * count)
    require(all(run.finished and not run.errors for run in runs(rank)))
    made = Counter(record.worker for record in kinds(records(rank), "fetch"))
    fetched = sorted([*made.values(), *[0] * (count - len(made))])
    if 2 * count * fetched[0] < made.total():
        saw = f"of a pass, each item of which took {slowly.pace_s} s, {count} workers fetched"
        return Violation("late-workers", f"{saw} {', '.join(map(str, fetched))} items")
    return None


@law("workers.prefetch")
def prefetch(trace: Trace) -> Violation | None:
    require("prefetch_factor" in arguments(trace.case))
    return _too_few(trace, ahead(trace.case), "late-prefetch")


def _too_few(trace: Trace, least: int, anomaly: str) -> Violation | None:
    """Where the caller waits after some batches until all is quiet, count those begun by then."""
    case = trace.case
    held = any(isinstance(did, (lo.Shut, lo.Trickle, lo.Hold)) for did in case.plan)
    require(workers(case) and not held and not faults(case))
    rank, wanted, rested = built(trace), expected(case) or [], set(rests(case)) - {0}
    require(rested and wanted == sorted(wanted) and "batch_sampler" not in arguments(case))
    size = arguments(case).get("batch_size", 1) or 1
    begun, asked = 0, 0
    for record in kinds(records(rank), "fetch", "want"):
        begun += record.kind == "fetch" and record.value % size == 0
        due = min(len(wanted), asked + least)
        if record.kind == "want" and asked in rested and begun < due:
            saw = f"{begun} batches had been begun when all was quiet, and not {due}"
            return Violation(anomaly, f"with {asked} delivered, {saw}")
        asked += record.kind == "want"
    return None


def rests(case: Case) -> list[int]:
    """How many batches had been taken, each time that the caller waited until all was quiet."""
    taken, found = 0, list[int]()
    for did in case.plan:
        taken += did.count if isinstance(did, op.Take) else 0
        found += [taken] * isinstance(did, lo.Settle)
    return found


def _came(case: Case, found: list[Record]) -> list[Record]:
    """Without the calls after one that gave nothing because time was up, where nothing else goes
    wrong: what was read for the first of them counts for all until something comes."""
    if not arguments(case).get("timeout") or faults(case):
        return found
    calls = kinds(found, "want", "deliver")
    again = {id(b) for a, b in itertools.pairwise(calls) if (a.kind, b.kind) == ("want", "want")}
    return [record for record in found if id(record) not in again]


def _streamed(case: Case) -> list[int]:
    """The batches of a stream, if each is of one element: of others, none can be told apart."""
    data, size = case.argument("dataset"), arguments(case).get("batch_size", 1)
    return list(range(data.n)) if isinstance(data, Stream) and size in (None, 1) else []
