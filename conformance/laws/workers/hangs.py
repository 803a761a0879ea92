"""Laws of `spec/workers.md` about time: calls that do not come back, and the loader's `timeout`."""

from __future__ import annotations

from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults
from conformance.laws import Violation, law, require
from conformance.laws.loading import (
    arguments,
    expected,
    got,
    hung,
    of,
    rows,
    runs,
    tells,
    workers,
)
from conformance.laws.workers.outcomes import wrong
from conformance.trace import Event, RankTrace, Trace

SLACK_S = 2.0
"""How much later than `timeout` its error may come."""

SAYS = ("timeout", "Timeout", "timed out", "time out", "in time", "Empty")
"""What the error of a timeout may say, besides how long it is."""

EARLY = 0.8
"""The part of `timeout` before which its error is certainly early, however clocks are read."""


@law("workers.no-hang")
def no_hang(trace: Trace) -> Violation | None:
    about = wrong(trace.case)
    for rank in trace:
        if rank.fate not in ("done", "stuck"):
            saw = f"the process in which the loader was called ended: {rank.fate}"
            return Violation("main-process-died", saw, about=about)
        where = _stuck(rank)
        if where:
            require(not _endless(trace.case))
            saw = f"{about or 'nothing is wrong'}: {where}"
            last = ((rank.rank, max(0, len(rank.events) - 1)),)
            return Violation("hang", saw, events=last, about=about)
    require(about)
    return None


def _stuck(rank: RankTrace) -> str:
    """What did not return, and where it waits; "" if all came back."""
    last = hung(rank) if rank.events else None
    if last is not None and last.error is not None:
        return f"{last.operation!r} {last.error.message}"
    if rank.fate == "stuck":
        return f"after {len(rank.events)} operations the process did not answer"
    return ""


def _endless(case: Case) -> bool:
    """Whether the dataset itself does not return, and no `timeout` bounds that."""
    waits = any(fault.what == "hang" for fault in faults(case))
    return waits and not arguments(case).get("timeout")


@law("workers.timeout")
def timeout(trace: Trace) -> Violation | None:
    bound = arguments(trace.case).get("timeout", 0)
    wanted = expected(trace.case)
    require(bound and workers(trace.case))
    require(trace.done and len(trace.ranks) == 1)
    rank = trace.ranks[0]
    require(rank.events[0].error is None)
    trickles = any(isinstance(step, lo.Trickle) for step in trace.case.plan)
    if trickles and workers(trace.case) == 1:
        return _in_time(rank, bound)
    stuck = _asked_while_shut(rank)
    require(stuck)
    about = "another worker delivers" if trickles else ""
    found = _late(stuck, bound, about)
    if found is None:
        require(hung(rank) is None)
        goes_on = runs(rank)[0].finished  # who does not may raise at once on every further call
        found = _early(stuck if goes_on else stuck[:1], bound, about)
    found = found or (None if wanted is None else _after_timeout(rank, wanted))
    return found or _vague(stuck[0], bound)


def _late(stuck: list[Event], bound: float, about: str) -> Violation | None:
    """A read that took longer than it may, or did not come back."""
    late = next((event for event in stuck if event.seconds > bound + SLACK_S), None)
    if late is None:
        return None
    called = f"next() with timeout={bound}"
    if late.error is not None and late.error.is_a("Hang"):
        saw = f"{called} did not return within {late.seconds:.0f} s"
        return Violation("no-timeout", saw, about=about)
    saw, certain = f"{called} took {late.seconds:.1f} s", late.rested > bound + SLACK_S
    return Violation("late-timeout", saw, about=about, certain=certain)


def _early(stuck: list[Event], bound: float, about: str) -> Violation | None:
    for event in stuck:
        if event.error is not None and event.seconds < EARLY * bound:
            saw = f"next() with timeout={bound} raised after {event.seconds:.1f} s"
            return Violation("early-timeout", saw, about=about)
    return None


def _vague(first: Event, bound: float) -> Violation | None:
    """The first error must say what it is about; its words are free."""
    if first.error is None or tells(first.error, *SAYS, f"{bound}"):
        return None
    saw = f"next() with timeout={bound} raised {first.error}, which says nothing of a timeout"
    return Violation("unclear-error", saw)


def _in_time(rank: RankTrace, bound: float) -> Violation | None:
    """The only worker goes on, and each batch comes sooner than the timeout.

    An item that takes longer comes in time to a loader that has read ahead, and not to one that
    asks for it when the caller does: it may raise once its time is over, and on each call after.
    """
    pace_s = max(event.operation.pace_s for event in of(rank, lo.Trickle))  # type: ignore[union-attr]
    raised = [event for event in of(rank, op.Take, op.Drain) if event.error is not None]
    judged = raised if runs(rank)[0].finished else raised[:1]
    early = [event for event in judged if pace_s < bound or event.seconds < EARLY * bound]
    if not early:
        return None
    saw = f"each batch came within timeout={bound}, and next() raised {early[0].error}"
    return Violation("early-timeout", saw, events=rows(rank, runs(rank)[0]))


def _asked_while_shut(rank: RankTrace) -> list[Event]:
    """The reads for which no batch came, because the gate was shut."""
    found, shut = [], False
    for event in rank.events:
        did = event.operation
        shut = isinstance(did, (lo.Shut, lo.Trickle)) or (shut and not isinstance(did, lo.Free))
        if shut and isinstance(did, op.Take) and len(got(event)) < did.count:
            found.append(event)
    return found


def _after_timeout(rank: RankTrace, wanted: list[Any]) -> Violation | None:
    run = runs(rank)[0]
    if run.finished and run.items != wanted:
        saw = f"with the gate open again the pass gave {run.items} in all, and ended"
        return Violation("lost-batch", saw, events=rows(rank, run))
    if run.items != wanted[: len(run.items)]:
        saw = f"{run.items} in all, and not {wanted}"
        return Violation("lost-batch", saw, events=rows(rank, run))
    after = [event for event in of(rank, op.Drain) if got(event)]
    if after and not run.finished:
        saw = f"after the timeout it gave {got(after[0])}, and then raised {run.errors[-1]}"
        return Violation("lost-batch", saw, events=rows(rank, run))
    return None
