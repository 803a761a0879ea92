"""Laws of `spec/lifecycle.md`: what is left of a loader, how long it takes to go, and memory."""

from __future__ import annotations

import itertools
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.lifecycle.views import (
    GROWS,
    constructed,
    hangs,
    lives,
    remains,
    text_of,
    what_befell,
)  # fmt: skip
from conformance.laws.loading import arguments, of, workers
from conformance.trace import Event, RankTrace, Trace

DROP_S_MAX = 6.0

MEMORY_MIB_MAX = 1.0
"""By so much a pass may grow on the average: allocators are not exact."""


@law("lifecycle.leftovers")
def leftovers(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    judged = [
        event for event, alive in lives(rank, trace.case)
        if isinstance(event.operation, lo.Leftovers) and event.error is None
        and alive.ever and alive.at_rest
    ]  # fmt: skip
    require(judged)
    persistent = ["persistent"] if arguments(trace.case).get("persistent_workers") else []
    return remains(judged, ", ".join([*persistent, what_befell(trace.case)]).strip(", "))


FORK_SERVER = "multiprocessing/forkserver.py"
"""It prints what it raises where it has no descriptor left, whoever has started it."""


@law("lifecycle.failed-construction")
def failed_construction(trace: Trace) -> Violation | None:
    rank, failed, why, judged, printed = constructed(trace), "", "", [], ""
    for event, alive in lives(rank, trace.case):
        did = event.operation
        if isinstance(did, (op.Rebuild, op.Open)) and event.error and not hangs(event):
            failed = text_of(event)
            why = _refused(alive.options | dict(getattr(did, "overrides", ())), rank)
        elif isinstance(did, lo.Printed) and event.error is None:
            told = event.value[len(printed) :][:400]
            if failed and told and not (FORK_SERVER in told and "descriptors" in _limits(rank)):
                saw = f"after {failed!r} there was printed {told!r}"
                return Violation("prints", saw, about=why)
            printed = event.value
        elif isinstance(did, lo.Leftovers) and failed and event.error is None and alive.at_rest:
            judged.append(event)
    require(failed and (judged or of(rank, lo.Printed)))
    # Python itself loses a pipe where there is no descriptor left for the end of a worker
    return remains(judged, why, () if "descriptors" in _limits(rank) else GROWS)


def _limits(rank: RankTrace) -> list[str]:
    """What was limited in a case."""
    steps = (event.operation for event in rank.events)
    return sorted({did.what for did in steps if isinstance(did, lo.Limit)})


def _refused(options: dict[str, Any], rank: RankTrace) -> str:
    """What it failed for: an option that is not everybody's, or a limit."""
    held = ["dataset"] if getattr(options["dataset"], "gives", "") == "held" else []
    given = (k for k, v in options.items() if v != "fork")  # workers are forked anyhow
    named = [k for k in given if k not in ("dataset", "num_workers")]
    return ", ".join([*_limits(rank), *held, *named])


@law("lifecycle.shutdown")
def shutdown(trace: Trace) -> Violation | None:
    require(workers(trace.case))
    rank, exercised = constructed(trace), False
    for event, alive in lives(rank, trace.case):
        did = event.operation
        if isinstance(did, lo.End) and event.value:
            exercised = True
            if late := _late_exit(**event.value):
                return late
        if not isinstance(did, lo.Drop) or not did.collected:
            continue
        dropped = did.name in alive.names if did.name else alive.names or alive.used
        if dropped and event.seconds > DROP_S_MAX:
            end = "was not over after" if hangs(event) else "took"
            saw = f"dropping it {end} {event.seconds:.1f} s"
            certain = event.rested > DROP_S_MAX
            return Violation("late-drop", saw, about=what_befell(trace.case), certain=certain)
        exercised = exercised or bool(dropped)
    require(exercised)
    return None


def _late_exit(ended: str, seconds: float, rested: float = 0.0) -> Violation | None:
    """What a program that ends with an iterator has taken."""
    if ended != "stuck" and seconds <= DROP_S_MAX:
        return None
    ends = "had not ended" if ended == "stuck" else "ended"
    saw = f"a program that held an iterator {ends} after {seconds} s"
    return Violation("late-exit", saw, certain=rested > DROP_S_MAX)


@law("lifecycle.memory")
def memory(trace: Trace) -> Violation | None:
    """Growth counts only where it goes on: in every interval between two measurements."""
    rank = constructed(trace)
    if consumed := of(rank, lo.Consume):
        return _keeping(consumed)
    places = [n for n, e in enumerate(rank.events) if isinstance(e.operation, lo.Memory)]
    require(len(places) >= 3 and all(rank.events[n].error is None for n in places))
    rates = []
    for start, end in itertools.pairwise(places):
        passes = [e for e in rank.events[start:end] if isinstance(e.operation, op.Iterate)]
        require(passes and not any(e.error for e in passes))
        rates.append((rank.events[end].value - rank.events[start].value) / len(passes))
    if min(rates) <= MEMORY_MIB_MAX:
        return None
    values = [rank.events[n].value for n in places]
    saw = f"memory went {' -> '.join(map(str, values))} MiB, at each stage of several passes"
    return Violation("growing-memory", saw)


def _keeping(consumed: list[Event]) -> Violation | None:
    """A pass may hold on to a few of the batches that it has delivered, and not to most."""
    require(all(event.error is None and event.value for event in consumed))
    for count, most in (event.value for event in consumed):
        if 2 * most > count:
            saw = f"of {count} batches that the caller let go of at once {most} were kept"
            return Violation("keeps-batches", saw)
    return None
