"""Laws of `spec/workers.md`: state, epochs, workers that are kept, the sampler, the ranks."""

from __future__ import annotations

from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Order, Stream
from conformance.laws import Violation, law, require
from conformance.laws.loading import (
    Run,
    arguments,
    built,
    expected,
    hung,
    kinds,
    of,
    rows,
    runs,
    workers,
)  # fmt: skip
from conformance.laws.workers.seeds import gives
from conformance.recipes import Role
from conformance.trace import Event, RankTrace, Record, Trace


def kept(case: Case) -> str:
    """Whether workers live on, as the `about` of a violation."""
    return "persistent_workers" if arguments(case).get("persistent_workers") else ""


# What workers see.


@law("workers.state")
def state(trace: Trace) -> Violation | None:
    require(gives(trace) in ("marked", "held-marked", "listed", "epoched") and workers(trace.case))
    rank = built(trace)
    require(of(rank, lo.Tell))
    data = trace.case.argument("dataset")
    found = [run for run in runs(rank) if run.items or (run.finished and not run.errors)]
    require(found)
    for run in found:
        if not run.items and isinstance(data, Stream) and data.shard == "told":
            saw = f"nobody gave anything, where {_told(rank, run)[0]} was set before iter()"
            return Violation("stale-state", saw, events=rows(rank, run), about=kept(trace.case))
        first, *later = _told(rank, run)
        seen = [value // 1000 for item in run.items for value in _values(item)]
        wrong = [mark for mark in seen if mark not in (first, *later)]
        if wrong:
            saw = f"items made with {wrong[0]}, where {first} was set before iter()"
            return Violation("stale-state", saw, events=rows(rank, run), about=kept(trace.case))
    return None


def _told(rank: RankTrace, run: Run) -> list[int]:
    """What was set before a pass began, and then what was set while it went on."""
    steps = enumerate(event.operation for event in rank.events)
    told = [(number, step.mark) for number, step in steps if isinstance(step, lo.Tell)]
    before = [mark for number, mark in told if number < run.begun]
    return [*(before[-1:] or [0]), *(mark for n, mark in told if run.begun < n < run.event)]


def _values(item: Any) -> list[int]:
    return item if isinstance(item, list) else [item]


# Epochs.


@law("workers.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    """An order of a known sampler is compared with what it gives for that epoch, that of another
    with the other passes of the same epoch."""
    rank = built(trace)
    require(of(rank, op.SetEpoch))
    about = "no workers" if workers(trace.case) == 0 else "workers"
    passes: dict[int, list[Any]] = {}
    compared = False
    for run in runs(rank):
        if run.errors or not run.items:
            continue
        epoch = _epoch(rank, run)
        wanted = expected(trace.case, epoch) or passes.get(epoch)
        compared = compared or wanted is not None
        if wanted is not None and run.items != wanted[: len(run.items)]:
            saw = f"{run.items} in a pass of epoch {epoch}, whose order is {wanted}"
            return Violation("epoch-leaked", saw, events=rows(rank, run), about=about)
        if run.finished:
            passes[epoch] = run.items
    require(compared)
    return None


def _epoch(rank: RankTrace, run: Run) -> int:
    """The epoch that was set last before a pass began."""
    events = rank.events[: run.begun]
    found = [e.operation.epoch for e in events if isinstance(e.operation, op.SetEpoch)]
    return int(str(found[-1])) if found else 0


# Processes that live on.


@law("workers.two-iterators")
def two_iterators(trace: Trace) -> Violation | None:
    rank, wanted = built(trace), expected(trace.case)
    require(workers(trace.case) and kept(trace.case) and wanted is not None)
    assert wanted is not None
    found = runs(rank)
    require(len(found) > 1)
    for run in found:
        refused = rank.events[run.begun].error is not None and not run.items
        if refused and _live(rank, run):
            continue
        if run.errors:
            saw = f"an iterator raised {run.errors[0]}"
            return Violation("refused" if refused else "crash", saw, events=rows(rank, run))
        if run.items != wanted[: len(run.items)] or (run.finished and run.items != wanted):
            saw = f"an iterator gave {run.items} while another was live, and not {wanted}"
            return Violation("iterators-entangled", saw, events=rows(rank, *found))
    return None


def _live(rank: RankTrace, run: Run) -> bool:
    """Whether another iterator was live when this one was asked for."""
    live: set[str] = set()
    for event in rank.events[: run.begun]:
        did = event.operation
        if isinstance(did, op.Open) and event.error is None:
            live.add(did.name)
        elif isinstance(did, (lo.Drop, op.Drain)):
            live.discard(did.name)
    return bool(live)


# The sampler.


@law("workers.sampler-once")
def sampler_once(trace: Trace) -> Violation | None:
    """Between two looks at the journal there are as many calls of `iter` as passes; those of
    the construction are no pass's."""
    rank = built(trace)
    given = dict(trace.case.arguments)
    require(any(isinstance(given.get(name), Order) for name in ("sampler", "batch_sampler")))
    judged = False
    for window in _windows(rank):
        calls = len(kinds(_reported(window[-1]), "begin"))
        passes = sum(isinstance(event.operation, (op.Iterate, op.Open)) for event in window)
        if passes and any(event.error for event in window):
            continue
        judged = judged or passes > 0
        asked = any(isinstance(event.operation, op.Len) for event in window)
        if calls != passes and (passes or asked):
            more = "sampler-restarted" if passes else "sampler-asked-beside"
            anomaly = more if calls > passes else "sampler-not-asked"
            saw = f"iter() of the sampler was called {calls} times for {passes} pass(es)"
            about = "no workers" if workers(trace.case) == 0 else "workers"
            return Violation(anomaly, saw, about=about)
    require(judged)
    return None


def _windows(rank: RankTrace) -> list[list[Event]]:
    """The events up to each look at the journal, that one included."""
    windows: list[list[Event]] = [[]]
    for event in rank.events:
        windows[-1].append(event)
        if isinstance(event.operation, lo.Journal):
            windows.append([])
    return windows[:-1]


def _reported(event: Event) -> tuple[Record, ...]:
    return event.value or ()


# Ranks.


@law("workers.ranks")
def ranks(trace: Trace) -> Violation | None:
    sampler, data = (dict(trace.case.arguments).get(name) for name in ("sampler", "dataset"))
    require(isinstance(sampler, Role) and sampler.name == "DistributedSampler")
    require(trace.done and len(trace.ranks) > 1 and workers(trace.case))
    require(trace.policies.get("pads") != "none")
    require(all(rank.events[0].error is None and hung(rank) is None for rank in trace))
    epochs = list(zip(*(runs(rank) for rank in trace), strict=True))
    require(epochs)
    for shares in epochs:
        violation = _uneven(trace, shares, set(range(data.n)))  # type: ignore[union-attr]
        if violation:
            return violation
    return None


def _uneven(trace: Trace, shares: tuple[Run, ...], whole: set[int]) -> Violation | None:
    """What is wrong with one epoch; nothing is, as long as it was not read to its end."""
    places = tuple((rank.rank, run.event) for rank, run in zip(trace, shares, strict=True))
    for run in shares:
        if run.errors:
            return Violation("crash", f"a rank raised {run.errors[0]}", events=places)
    if not all(run.finished for run in shares):
        return None
    counts = [len(run.items) for run in shares]
    if len(set(counts)) > 1:
        return Violation("unequal-batches", f"the ranks made {counts} batches", events=places)
    seen = {index for run in shares for item in run.items for index in _values(item)}
    if seen != whole:
        odd = sorted(seen ^ whole)
        saw = f"the ranks together gave {sorted(seen)}: {odd} is wrong"
        return Violation("uncovered", saw, events=places, about=kept(trace.case))
    return None
