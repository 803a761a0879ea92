"""Law of `spec/workers.md`: which way workers start."""

from __future__ import annotations

from typing import NamedTuple

from conformance import operations as op
from conformance.datasets import HERE
from conformance.laws import Violation, law, require
from conformance.laws.loading import Run, arguments, returned, rows, runs
from conformance.recipes import Raw
from conformance.trace import Error, RankTrace, Trace

OPTION = "multiprocessing_context"


class Way(NamedTuple):
    """A construction that asks for a start method: how it does, what it raised, the passes."""

    method: str
    said: str
    error: Error | None
    found: list[Run]


@law("workers.start-method")
def start_method(trace: Trace) -> Violation | None:
    """A method that is taken by name is taken as a context, and the other way round."""
    require(arguments(trace.case)["dataset"].gives == "local" and OPTION in arguments(trace.case))
    rank = returned(trace)
    ways = asked(trace, rank)
    taken = [way for way in ways if way.error is None]
    require(taken)
    for way in ways:
        if way.error is not None:
            saw = f"{taken[0].said} was taken, and {way.said} raised {way.error}"
            return Violation("refused", saw, about=way.said)
    return next(filter(None, (_started(rank, way, run) for way in ways for run in way.found)), None)


def _started(rank: RankTrace, way: Way, run: Run) -> Violation | None:
    """Whether the items of a pass were made where they should have been."""
    shared = [item >= HERE for item in run.items]
    if way.method == "fork" and not all(shared):
        saw = f"with {way.said}, workers do not hold what this process held"
        return Violation("not-forked", saw, events=rows(rank, run), about=way.said)
    if way.method != "fork" and any(shared):
        saw = f"with {way.said}, workers hold what only this process held"
        return Violation("forked", saw, events=rows(rank, run), about=way.said)
    return None


def asked(trace: Trace, rank: RankTrace) -> list[Way]:
    """The constructions of a rank."""
    given, ways = arguments(trace.case), list[Way]()
    for number, event in enumerate(rank.events):
        if number and not isinstance(event.operation, op.Rebuild):
            continue
        if isinstance(event.operation, op.Rebuild):
            given = {**given, **dict(event.operation.overrides)}
        found = [run for run in runs(rank) if run.begun == number + 1]
        ways.append(Way(*_said(given[OPTION], given["num_workers"]), event.error, found))
    return ways


def _said(start: str | Raw, workers: int) -> tuple[str, str]:
    """The start method, and how it is given."""
    beside = f" and num_workers={workers}"
    if isinstance(start, Raw):
        return start.value, f"a context of {start.value!r}{beside}"
    return start, f"{OPTION}={start!r}{beside}"
