"""Laws of `spec/workers.md`: workers that die."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conformance import loading as lo
from conformance.case import Case
from conformance.classes import faults
from conformance.datasets import Stream
from conformance.laws import Violation, law, require
from conformance.laws.loading import (
    arguments,
    built,
    first_pass,
    kinds,
    nobody_struck,
    ordered,
    reads,
    records,
    workers,
)  # fmt: skip
from conformance.laws.workers.outcomes import (
    COUNTED_AS_DEATH,
    Step,
    first_error,
    items,
    kills,
    text,
    unfaithful,
    walks,
)  # fmt: skip
from conformance.trace import Event, RankTrace, Record, Trace

SOON_S, BOUND_S = 2.0, 10.0

REPORTS = {"item": "leave", "collate": "collate", "init": "init", "iter": "iter"}
"""What a worker has reported last when it dies in one of these places."""

EXITED = r"(code|status|exit\w*)\b[^\d\n]{0,20}\d"
"""An exit, with whatever code."""

SIGNALS = {
    "SIGKILL": r"SIGKILL|killed|-9\b|\b137\b|(signal|by)\W{0,3}9\b",
    "SIGSEGV": r"SIGSEGV|segmentation fault|-11\b|\b139\b|(signal|by)\W{0,3}11\b",
    "SIGTERM": r"SIGTERM|terminated|-15\b|\b143\b|(signal|by)\W{0,3}15\b",
    "SIG37": r"real-time|SIGRTMIN|-37\b|\b165\b|(signal|by)\W{0,3}37\b",
    "SystemExit": f"SystemExit|{EXITED}",
    "CleanExit": f"SystemExit|{EXITED}",
    "KeyboardInterrupt": f"KeyboardInterrupt|SIGINT|{EXITED}",
}
"""How an error may say what has ended a worker."""


@dataclass(frozen=True)
class Death:
    """A worker that died. seconds: when, on the clock of the journal; 0.0 for before the call.

    idle: it had delivered all that it was asked for.
    """

    worker: int
    pid: int
    how: str
    seconds: float = 0.0
    idle: bool = False

    @property
    def about(self) -> str:
        return f"{self.how} of an idle worker" if self.idle else self.how


def _deaths(case: Case, rank: RankTrace) -> list[Death]:
    """The workers that died, as they or their murderers have reported."""
    found = records(rank)
    mains = {record.pid for record in kinds(found, "want")}
    struck = [
        Death(event.operation.worker, _struck(event), event.operation.how, idle=True)
        for event in rank.events
        if isinstance(event.operation, lo.Strike) and not nobody_struck(event)
    ]
    dead = [one for one in (*_own(case, found), *struck) if one.pid not in (-1, *mains)]
    require(dead)
    return dead


def _own(case: Case, found: list[Record]) -> Iterator[Death]:
    """The deaths in a fault, or at the gate."""
    planned = [fault for fault in faults(case) if kills(fault)]
    turns = [step for step in case.plan if isinstance(step, lo.Schedule) and step.dies >= 0]
    for record in found:
        if record.kind == "dies" and turns:
            yield Death(record.worker, record.pid, turns[0].how, record.seconds)
        for fault in planned:
            at = record.worker if fault.where == "iter" else record.value
            if record.kind == REPORTS.get(fault.where) and at == fault.at:
                yield Death(record.worker, record.pid, fault.what, record.seconds)


def _struck(event: Event) -> int:
    """The process id of a worker that was struck, as the strike told; -1 if it did not."""
    return event.value if isinstance(event.value, int) else -1


def _names(told: str, death: Death) -> bool:
    """Whether a text names the worker that died, by its process id or by its number."""
    words = r"(?:id|ids|number|no|num|rank|process|index|with|s|\d+)"
    number = rf"(?:worker|process)s?[\W_]*(?:{words}[\W_]+|{words}=)*{death.worker}\b"
    return re.search(rf"\b{death.pid}\b|{number}", told, re.IGNORECASE) is not None


def _explains(told: str, death: Death) -> bool:
    """Whether a text says how the worker ended."""
    code = death.how.removeprefix("exit ")
    ended = rf"(code|status|exit\w*|return\w*)\b[^\d\n-]{{0,20}}{code}\b"
    return re.search(SIGNALS.get(death.how, ended), told, re.IGNORECASE) is not None


def _rows(rank: RankTrace, step: Step) -> tuple[tuple[int, int], ...]:
    return ((rank.rank, step.event),)


@law("workers.death")
def death(trace: Trace) -> Violation | None:
    require(workers(trace.case))
    rank = built(trace)
    dead, judged = _deaths(trace.case, rank), False
    for walk in walks(rank):
        place = first_error(walk)
        judged = judged or place is not None or any(step.ended for step in walk)
        if place is not None:
            violation = _reported(trace, rank, walk[place], dead)
        else:
            violation = _unreported(trace, rank, walk, dead)
        if violation:
            return violation
    require(judged)
    return None


def _unreported(
    trace: Trace, rank: RankTrace, walk: list[Step], dead: list[Death]
) -> Violation | None:
    """An end without an error is right only if nothing is missing."""
    if _whole(trace.case, items(walk)) or not any(step.ended for step in walk):
        return None
    saw = f"worker {dead[0].worker} died ({dead[0].how}); the pass gave {items(walk)} and ended"
    return Violation("silent-end", saw, events=_rows(rank, walk[-1]), about=dead[0].about)


def _whole(case: Case, given: list[object]) -> bool:
    """Whether nothing is missing and nothing came twice, in whatever order."""
    wanted, data = first_pass(case), arguments(case)["dataset"]
    if wanted is None and isinstance(data, Stream):
        count = workers(case)
        wanted = [element for worker in range(count) for element in data.share(worker, count)]
        given = [i for item in given for i in (item if isinstance(item, list) else [item])]
    return wanted is not None and sorted(map(str, given)) == sorted(map(str, wanted))


def _reported(trace: Trace, rank: RankTrace, step: Step, dead: list[Death]) -> Violation | None:
    assert step.error is not None
    told, about = text(step.error), dead[0].about
    if about in COUNTED_AS_DEATH:
        planned = [fault for fault in faults(trace.case) if kills(fault)]
        if planned and not unfaithful(step.error, planned[0]):
            return None
    saw = f"worker {dead[0].worker} (pid {dead[0].pid}) died of {about}; {step.error}"[:600]
    named = [one for one in dead if _names(told, one)]
    if not named:
        return Violation("worker-unnamed", saw, events=_rows(rank, step), about=about)
    if not any(_explains(told, one) for one in named):
        return Violation("reason-unnamed", saw, events=_rows(rank, step), about=about)
    return _late(rank, step, dead, BOUND_S)


@law("workers.death-soon")
def death_soon(trace: Trace) -> Violation | None:
    require(workers(trace.case))
    rank = built(trace)
    dead, judged = _deaths(trace.case, rank), False
    for walk in walks(rank):
        place = first_error(walk)
        if place is not None:
            judged = True
            violation = _late(rank, walk[place], dead, SOON_S)
            if violation:
                return violation
    require(judged)
    return None


def _late(rank: RankTrace, step: Step, dead: list[Death], bound_s: float) -> Violation | None:
    """Seconds from the death or the call of `next()`, whichever is later, to the error.

    Only where each `next()` is an operation of its own. Of a worker that was started again and died
    once more, the last death counts.
    """
    asked = [number for number, _ in reads(rank)]
    single = all(getattr(rank.events[number].operation, "count", 0) == 1 for number in asked)
    wants = kinds(records(rank), "want")
    if step.event not in asked or not single or len(wants) != len(asked):
        return None
    want = wants[asked.index(step.event)].seconds
    died = min({one.worker: one.seconds for one in dead}.values())
    waited = rank.events[step.event].seconds - max(0.0, died - want)
    if waited <= bound_s:
        return None
    saw = f"the error came {waited:.1f} s after worker {dead[0].worker} died of {dead[0].how}"
    told, certain = dead[0].about, rank.events[step.event].rested > bound_s
    return Violation("late-report", saw, events=_rows(rank, step), about=told, certain=certain)


@law("workers.dead-iterator")
def dead_iterator(trace: Trace) -> Violation | None:
    require(workers(trace.case))
    rank = built(trace)
    dead, wanted, judged = _deaths(trace.case, rank), first_pass(trace.case), False
    require(not any(one.how in COUNTED_AS_DEATH for one in dead))
    for walk in walks(rank):
        place = first_error(walk)
        given = items(walk)
        hole = ordered(trace.case) and wanted is not None and given != wanted[: len(given)]
        after = walk[place + 1 :] if place is not None else []
        judged = judged or bool(after)
        bad = next((step for step in after if step.error is None), None)
        if hole:
            saw = f"worker {dead[0].worker} died of {dead[0].how}; the iterator gave {given}"
            return Violation("batch-after-hole", saw, events=_rows(rank, walk[-1]))
        if bad is not None:
            gave = "an ordinary end" if bad.ended else bad.item
            saw = f"the death of worker {dead[0].worker} was reported; then next() gave {gave}"
            anomaly = "ends" if bad.ended else "goes-on"
            return Violation(anomaly, saw, events=_rows(rank, bad))
    require(judged)
    return None
