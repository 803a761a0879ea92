"""The law of `spec/lifecycle.md` about the threads that call."""

from __future__ import annotations

from conformance import loading as lo
from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.lifecycle.views import constructed, hangs, text_of, wholes
from conformance.trace import RankTrace, Trace


@law("lifecycle.threads")
def threads(trace: Trace) -> Violation | None:
    """Where a worker is killed an error is right; to wait for ever is not."""
    rank = constructed(trace)
    require(any(isinstance(event.operation, op.Threads) for event in rank.events))
    killed = any(isinstance(step, lo.Strike) for step in trace.case.plan)
    return _failed(rank, killed) or (None if killed else _other(rank, trace))


def _failed(rank: RankTrace, killed: bool) -> Violation | None:
    about = "after the death of a worker" if killed else ""
    for event in rank.events:
        failed = isinstance(event.operation, lo.CALLS) and event.error is not None
        if failed and (hangs(event) or not killed):
            saw = f"called from a thread of its own, {event.operation}: {text_of(event)}"
            return Violation("bound-to-a-thread", saw, about=about)
    return None


def _other(rank: RankTrace, trace: Trace) -> Violation | None:
    finished = [(run, whole) for run, whole in wholes(rank, trace.case) if run.finished]
    require(finished)
    for run, whole in finished:
        if not whole:
            saw = f"called from several threads, a pass gave {run.items}"
            return Violation("bound-to-a-thread", saw[:400])
    return None
