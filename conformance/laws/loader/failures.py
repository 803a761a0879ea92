"""Laws of `spec/loader.md`: errors reach the caller, none ends a pass, and it goes on after one."""

from __future__ import annotations

from typing import Any

from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Fault, Mapped, Stream
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import flat, mapped
from conformance.laws.loading import about as said
from conformance.laws.loading import (
    arguments,
    built,
    expected,
    got,
    kinds,
    ordered,
    records,
    rows,
    runs,
    workers,
)  # fmt: skip
from conformance.trace import Error, Event, RankTrace, Trace
from conformance.worlds.mishaps import EXCEPTIONS
from conformance.worlds.observe import error_of


def faults(case: Case) -> list[Fault]:
    """All that goes wrong in a case."""
    return [f for _, value in case.arguments for f in getattr(value, "faults", ())]


@law("loader.errors")
def errors(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    planned = faults(case)
    require(not workers(case) and len(planned) == 1)
    require(planned[0].what in EXCEPTIONS and planned[0].what != "StopIteration")
    wanted = error_of(EXCEPTIONS[planned[0].what](f"planned {planned[0].at}"))
    judged = [run for run in runs(rank) if run.errors or run.finished]
    for run in judged:
        saw = f"{wanted} was raised; the caller got {run.errors[0] if run.errors else 'no error'}"
        anomaly = _lost(wanted, run.errors)
        if anomaly:
            return Violation(anomaly, saw, events=rows(rank, run), about=said(case))
    require(judged)
    return None


def _lost(wanted: Error, found: list[Error]) -> str:
    """What of the error did not reach the caller, by name."""
    if not found:
        return "error-lost"
    if found[0].kinds != wanted.kinds:
        return "error-changed"
    same = found[0].message == wanted.message and set(wanted.held) <= set(found[0].held)
    return "" if same else "arguments-lost"


STOPS = ("StopIteration", "ShardDone")
"""What ends a loop: StopIteration, and what derives from it."""


@law("loader.stop-iteration")
def stop_iteration(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    where = {fault.where for fault in faults(case) if fault.what in STOPS}
    require(where and where <= {"item", "collate", "init"})
    require("item" not in where or not isinstance(arguments(case)["dataset"], Stream))
    require("init" not in where or kinds(records(rank), "init"))
    for number, event in enumerate(rank.events[1:], start=1):
        row = ((rank.rank, number),)
        if event.error is not None and event.error.is_a("StopIteration"):
            saw = f"{event.operation} raised {event.error}"
            return Violation("stop-leaks", saw, events=row, about=_place(case))
        if event.error is not None:
            return None
        if _ended(event):
            saw = f"the pass ended without an error after {got(event)}"
            return Violation("pass-cut-short", saw, events=row, about=_place(case))
    require(False)
    return None


def _ended(event: Event) -> bool:
    """Whether a pass came to its end here."""
    did = event.operation
    short = isinstance(did, op.Take) and len(got(event)) < did.count
    return short or isinstance(did, (op.Iterate, op.Drain))


def _place(case: Case) -> str:
    """Where a StopIteration comes from: a function, and whether that runs in a worker."""
    names = {"item": "__getitem__", "collate": "collate_fn", "init": "worker_init_fn"}
    data = arguments(case)["dataset"]
    if isinstance(data, Mapped) and data.many not in ("", "none"):
        names["item"] = "__getitems__"
    found = sorted({names[fault.where] for fault in faults(case)})
    return ", ".join(found) + (" in a worker" if workers(case) else "")


@law("loader.after-error")
def after_error(trace: Trace) -> Violation | None:
    """Every `next` of a pass is an event of its own: `Open`, `Take` for each batch, and `Drain`."""
    case, rank = trace.case, built(trace)
    due, planned = expected(case), faults(case)
    require(due is not None and planned and mapped(case).gives == "number")
    require(all(fault.where in ("item", "collate") for fault in planned))
    wanted = [_outcome(batch, planned) for batch in due or []]
    for number, outcomes in _walks(rank):
        if not ordered(case):
            outcomes, wanted = sorted(outcomes, key=str), sorted(wanted, key=str)
        if outcomes != wanted:
            return Violation(
                _after(outcomes, wanted), f"{outcomes} instead of {wanted}",
                events=((rank.rank, number),), about=_with(case),
            )  # fmt: skip
    return None


ERROR = "error"


def _outcome(batch: Any, planned: list[Fault]) -> Any:
    """What the request for a batch has to give."""
    return ERROR if any(fault.at in flat([batch]) for fault in planned) else batch


def _walks(rank: RankTrace) -> list[tuple[int, list[Any]]]:
    """For each pass, its last event and what came of each request."""
    found: dict[str, tuple[int, list[Any]]] = {}
    walks = []
    for number, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, op.Open):
            found[did.name] = number, [ERROR] * (event.error is not None)
        elif isinstance(did, (op.Take, op.Drain)) and did.name in found:
            _, outcomes = found[did.name]
            outcomes += got(event) + [ERROR] * (event.error is not None)
            if isinstance(did, op.Drain):
                walks.append((number, outcomes))
    require(walks)
    return walks


def _after(outcomes: list[Any], wanted: list[Any]) -> str:
    if outcomes.count(ERROR) < wanted.count(ERROR) and ERROR not in outcomes:
        return "error-lost"
    if outcomes == wanted[: len(outcomes)]:
        return "pass-ended"
    lost = outcomes.count(ERROR) > wanted.count(ERROR) and set(map(str, outcomes[-2:])) == {ERROR}
    return "pass-lost" if lost else "other-batches"


def _with(case: Case) -> str:
    return "with workers" if workers(case) else "without workers"
