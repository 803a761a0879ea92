"""Laws of `spec/workers.md`: what is delivered in which order, and how far a loader works ahead."""

from __future__ import annotations

from collections import Counter

from conformance.laws import Violation, law, require
from conformance.laws.loading import (
    ahead,
    arguments,
    built,
    expected,
    kinds,
    records,
    rows,
    runs,
    workers,
)  # fmt: skip
from conformance.trace import Trace


def ordered(trace: Trace) -> bool:
    """Whether the case's loader is asked to deliver in order."""
    return bool(arguments(trace.case).get("in_order", True))


@law("workers.same-order")
def same_order(trace: Trace) -> Violation | None:
    require(workers(trace.case) and ordered(trace))
    rank, wanted = built(trace), expected(trace.case)
    require(wanted is not None)
    assert wanted is not None
    for run in runs(rank):
        if run.errors:
            saw = f"the pass raised {run.errors[0]}"
            return Violation("crash", saw, events=rows(rank, run))
        if run.finished and run.items != wanted:
            same = Counter(map(str, run.items)) == Counter(map(str, wanted))
            anomaly = "out-of-order" if same else "other-batches"
            saw = f"{run.items} instead of {wanted}"
            return Violation(anomaly, saw, events=rows(rank, run))
    require(any(run.finished for run in runs(rank)))
    return None


@law("workers.unordered")
def unordered(trace: Trace) -> Violation | None:
    require(workers(trace.case) and not ordered(trace))
    rank, wanted = built(trace), expected(trace.case)
    require(wanted is not None)
    assert wanted is not None
    for run in runs(rank):
        saw = f"{run.items} instead of {wanted} in any order"
        if run.errors:
            saw = f"the pass raised {run.errors[0]}"
            return Violation("crash", saw, events=rows(rank, run))
        if run.finished and sorted(map(str, run.items)) != sorted(map(str, wanted)):
            doubled = len(run.items) > len({str(item) for item in run.items})
            anomaly = "doubled-batch" if doubled else "lost-batch"
            return Violation(anomaly, saw, events=rows(rank, run))
    return None


@law("workers.backpressure")
def backpressure(trace: Trace) -> Violation | None:
    return _too_far(trace, "fetch", "fetched-too-far")


@law("workers.read-ahead")
def read_ahead(trace: Trace) -> Violation | None:
    return _too_far(trace, "draw", "read-too-far")


def _too_far(trace: Trace, kind: str, anomaly: str) -> Violation | None:
    """Count batches begun and batches that the caller has asked for: the one that it waits for
    counts as delivered. Items of a batch are consecutive here."""
    require(workers(trace.case))
    rank, most = built(trace), ahead(trace.case)
    found = kinds(records(rank), kind, "want")
    require(kinds(found, kind))
    size = arguments(trace.case).get("batch_size", 1) or 1
    begun, wanted = 0, 0
    for record in found:
        wanted += record.kind == "want"
        begun += record.kind == kind and record.value % size == 0
        if begun - wanted > most:
            saw = f"{begun} batches begun with {wanted} asked for: more than {most} ahead"
            return Violation(anomaly, saw)
    return None
