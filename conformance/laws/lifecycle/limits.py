"""Laws of `spec/lifecycle.md`: limits that are reached, and what cannot be sent to a worker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import is_forked
from conformance.datasets import Collate, Init, Mapped
from conformance.laws import Violation, law, require
from conformance.laws.lifecycle.views import constructed, hangs, lives, text_of
from conformance.laws.loading import (
    READS,
    arguments,
    expected,
    got,
    kinds,
    of,
    records,
    runs,
    tells,
)  # fmt: skip
from conformance.trace import Event, RankTrace, Trace

TELLS_S_MAX = 10.0

WORDS = {
    "descriptors": ("descriptor", "open files", "EMFILE", "ulimit"),
    "processes": ("process", "fork", "EAGAIN", "temporarily unavailable", "ulimit"),
    "memory": ("memory", "shm", "space left", "too large", "EFBIG"),
}
"""What names a limit. The last two are what the kernel calls a segment that may not grow."""


@law("lifecycle.exhaustion")
def exhaustion(trace: Trace) -> Violation | None:
    rank, exercised = constructed(trace), False
    collates = "collate_fn" in arguments(trace.case)
    for event, what in _limited(rank, trace.case):
        exercised, error = True, event.error
        why = f"{what}, with a collate_fn" if collates else what
        if error is None:
            continue
        if hangs(event) or event.seconds > TELLS_S_MAX:
            saw = f"at the limit of {what}, {event.operation} took {event.seconds:.0f} s: {error}"
            return Violation("hangs" if hangs(event) else "late-error", saw[:400], about=why)
        if not tells(error, *WORDS[what]):
            saw = f"at the limit of {what}: {text_of(event)}"
            return Violation("unclear-error", saw, about=why)
    require(exercised)
    return _lost(trace, rank)


def _limited(rank: RankTrace, case: Case) -> Iterator[tuple[Event, str]]:
    """The calls of the loader that are made under a limit, and which."""
    what = ""
    for event, alive in lives(rank, case):
        did = event.operation
        if isinstance(did, lo.Limit):
            what = did.what if did.spare >= 0 else ""
            continue
        opens = isinstance(did, (op.Open, op.Iterate))
        if what and (opens or (isinstance(did, (op.Take, op.Drain)) and did.name in alive.names)):
            yield event, what


def _lost(trace: Trace, rank: RankTrace) -> Violation | None:
    """A pass that says nothing must be complete."""
    count = len(expected(trace.case) or [])
    for run in runs(rank):
        if run.finished and not run.errors and count and len(run.items) != count:
            saw = f"{len(run.items)} of {count} batches came, and no error"
            return Violation("lost-batch", saw)
    return None


@law("lifecycle.unpicklable")
def unpicklable(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    words = _words(trace.case)
    opened = of(rank, op.Open)
    require(words and opened)
    why, first = words[0], opened[0]
    if hangs(first):
        return Violation("hangs", f"iter(): {text_of(first)}", about=why)
    if first.error is not None:
        if tells(first.error, *words):
            return None
        saw = f"iter() raised {text_of(first)!r}, which says nothing of {why}"
        return Violation("unnamed", saw, about=why)
    asked = itertools.takewhile(lambda e: not isinstance(e.operation, op.Rebuild), rank.events)
    for event in asked:
        if isinstance(event.operation, READS) and event.error is not None:
            saw = f"iter() did not refuse it; then {event.operation}: {text_of(event)}"
            return Violation("not-at-iter", saw, about=why)
    wanted = expected(trace.case)
    for event in of(rank, op.Drain):
        if got(event) != wanted:
            saw = f"iter() did not refuse it, and the pass gave {got(event)}"
            return Violation("not-at-iter", saw, about=why)
    return _left_out(trace.case, rank, why)


def _left_out(case: Case, rank: RankTrace, why: str) -> Violation | None:
    """Whether a pass that was delivered went without what could not be sent."""
    described = [event.value for event in of(rank, lo.Describe)]
    refused = any(event.error for event in of(rank, op.Rebuild))  # it has none without workers
    if len(described) > 1 and not refused and described[0] != described[1]:
        saw = f"iter() did not refuse it, and the pass gave {described[0]}; without workers"
        return Violation("left-out", f"{saw} it gives {described[1]}", about=why)
    reports = records(rank) if why == "worker_init_fn" and of(rank, lo.Journal) else []
    if any(record.worker >= 0 for record in reports) and not kinds(reports, "init"):
        saw = "iter() did not refuse it, and no worker called worker_init_fn"
        return Violation("left-out", saw, about=why)
    return None


def _words(case: Case) -> tuple[str, ...]:
    """What an error may say of what cannot be sent; the first is what it is."""
    if any(isinstance(did, lo.Daemon) for did in case.plan):
        return ("daemon",)
    if is_forked(case):
        return ()
    for name, value in arguments(case).items():
        if isinstance(value, (Collate, Init)) and value.how == "lambda":
            return (name, "lambda", "function")
        if isinstance(value, Mapped) and value.gives == "held":
            return (name, "lambda", "function", "Data")
    return ()
