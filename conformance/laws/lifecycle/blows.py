"""Laws of `spec/lifecycle.md`: signals, deaths and forks."""

from __future__ import annotations

from collections.abc import Iterator

from conformance import loading as lo
from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.lifecycle.views import constructed, hangs, text_of, wholes
from conformance.laws.loading import (
    READS,
    arguments,
    expected,
    got,
    nobody_struck,
    of,
    runs,
    workers,
)  # fmt: skip
from conformance.trace import RankTrace, Trace

ENDS_S_MAX = 10.0

SUITE = (lo.Strike, lo.Ponder, lo.Settle, lo.Journal, lo.Shut, lo.Free, lo.Schedule)
"""Operations in which nothing of the loader is called."""


@law("lifecycle.interrupt")
def interrupt(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    place = _place(rank, lo.Interrupt)
    event = rank.events[place]
    assert isinstance(event.operation, lo.Interrupt)
    told = "to everybody" if event.operation.everybody else "to the main process"
    starting = event.operation.starting
    told = f"{told} while workers start" if starting else told
    require(event.value or not starting)  # else nobody has sent it
    if event.error is None:
        came = "iter() went on" if starting else f"next() gave {got(event)}"
        saw = f"the signal {told} is lost: {came}"
        return Violation("interrupt-lost", saw, about=told)
    if not event.error.is_a("KeyboardInterrupt"):
        anomaly = "interrupt-lost" if hangs(event) else "interrupt-replaced"
        return Violation(anomaly, f"after the signal {told}: {text_of(event)}", about=told)
    for later in rank.events[place + 1 :]:
        if later.error is not None and later.error.is_a("KeyboardInterrupt"):
            saw = f"one more KeyboardInterrupt in {later.operation}"
            return Violation("interrupted-again", saw, about=told)
    return None if starting else _workers_end(rank, place, told)


def _workers_end(rank: RankTrace, place: int, told: str) -> Violation | None:
    """How long it takes from the drop of the iterator until no worker is left."""
    since = [
        e for e in rank.events[place + 1 :] if isinstance(e.operation, (lo.Drop, lo.Leftovers))
    ]
    left = [e.value for e in since if isinstance(e.operation, lo.Leftovers) and e.error is None]
    seconds = sum(e.seconds for e in since if isinstance(e.operation, lo.Drop))
    if since and hangs(since[-1]):
        saw = f"dropping the iterator was not over after {since[-1].seconds:.0f} s"
        return Violation("late-end", saw, about=told)
    require(left)
    seconds += left[0]["seconds"]
    if left[0]["children"] or seconds > ENDS_S_MAX:
        saw = f"{left[0]['children']} processes are left after {seconds:.1f} s: {left[0]['what']}"
        return Violation("late-end", saw, about=told)
    return None


def _place(rank: RankTrace, kind: type[op.Operation]) -> int:
    """The place of the first event of this operation; requires that there is one."""
    places = [n for n, event in enumerate(rank.events) if isinstance(event.operation, kind)]
    require(places)
    return places[0]


@law("lifecycle.interrupt-quiet")
def interrupt_quiet(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    place = _place(rank, lo.Interrupt)
    printed = [e for e in of(rank, lo.Printed) if e in rank.events[place:] and e.error is None]
    require(printed)
    text = printed[-1].value
    if "Traceback" in text:
        saw = f"printed {text.count('Traceback')} tracebacks: {text[-400:]!r}"
        return Violation("traceback-of-a-worker", saw)
    return None


@law("lifecycle.orphans")
def orphans(trace: Trace) -> Violation | None:
    """A loader without processes of its own leaves no orphan."""
    event = constructed(trace).events[_place(constructed(trace), lo.Orphan)]
    require(event.value is not None)
    if event.value["alive"]:
        saw = f"{event.value['alive']} of {event.value['workers']} workers live on after 10 s"
        sized = arguments(trace.case)["dataset"]
        told, rest = f"items of {getattr(sized, 'gives', '')}", event.value["rest"]
        return Violation("late-orphans", saw, about=told, certain=rest)
    return None


@law("lifecycle.fork")
def fork(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    place, why = _forked(rank)
    for event in rank.events[place:]:
        if isinstance(event.operation, (lo.Fork, *READS)) and event.error is not None:
            saw = f"after the fork, in {event.operation}: {text_of(event)}"
            return Violation("parent-affected", saw, about=why)
    wanted = expected(trace.case)
    for run in runs(rank):
        if run.finished and run.event >= place and wanted not in (None, run.items):
            saw = f"the parent's pass gave {run.items} instead of {wanted}"
            return Violation("parent-affected", saw, about=why)
    ended = rank.events[place].value
    if isinstance(rank.events[place].operation, lo.Fork) and ended != "exit 0":
        return Violation("child-affected", f"the child ended with {ended}", about=why)
    printed = [e.value for e in of(rank, lo.Printed) if e.error is None]
    if printed and printed[-1]:
        return Violation("prints", f"printed {printed[-1][:400]!r}", about=why)
    return None


def _forked(rank: RankTrace) -> tuple[int, str]:
    """Where children are forked while an iterator is alive, and of which kind they are."""
    for place, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, lo.Fork):
            return place, f"a child that ends by {did.how}"
        if isinstance(did, lo.Drop) and not did.collected and event.error is None:
            return place, "workers of the next pass"
    require(False)
    raise AssertionError


@law("lifecycle.again")
def again(trace: Trace) -> Violation | None:
    """The pass in which a worker dies, or the one that finds it dead, may fail; no later one."""
    require(workers(trace.case))
    rank = constructed(trace)
    death = _death(rank)
    if death is None:
        return None
    kind = "persistent" if arguments(trace.case).get("persistent_workers") else "not persistent"
    made = [(run, whole) for run, whole in wholes(rank, trace.case) if run.event > death]
    for run, whole in made[1:]:
        if run.errors or (run.finished and not whole):
            saw = f"the next pass gave {run.errors[0] if run.errors else run.items}"
            return Violation("no-complete-pass", saw[:400], about=f"{kind}, {_how(trace)}")
    require(any(run.finished for run, _ in made[1:]))
    return None


def _death(rank: RankTrace) -> int | None:
    """The place of the event in which the last worker died; None if there are none that could."""
    struck = [
        (place, event) for place, event in enumerate(rank.events)
        if isinstance(event.operation, lo.Strike) and event.operation.how == "SIGKILL"
    ]  # fmt: skip
    if struck:
        return next((place for place, event in struck[::-1] if not nobody_struck(event)), None)
    for event in rank.events:
        did = event.operation
        if isinstance(did, lo.Journal) and any(r.kind == "dies" for r in event.value or ()):
            return next(_reads(rank))
    require(False)
    return None


def _reads(rank: RankTrace) -> Iterator[int]:
    return (n - 1 for n, e in enumerate(rank.events) if isinstance(e.operation, READS))


def _how(trace: Trace) -> str:
    scheduled = any(isinstance(did, lo.Schedule) for did in trace.case.plan)
    return "killed in an item" if scheduled else "killed between items"


@law("lifecycle.no-ambush")
def no_ambush(trace: Trace) -> Violation | None:
    rank = constructed(trace)
    require(any(e.operation == lo.Strike(e.operation.worker) for e in of(rank, lo.Strike)))  # type: ignore[union-attr]
    for event in rank.events:
        if isinstance(event.operation, SUITE) and event.error and not nobody_struck(event):
            saw = f"inside other code, {event.operation}: {text_of(event)}"
            return Violation("ambushed", saw)
    return None
