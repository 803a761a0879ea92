"""Laws of `spec/loader.md`: iterators are independent of each other, and stay ended."""

from __future__ import annotations

from typing import Any

from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Stream
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import collated, cut_alike, passes, shuffled
from conformance.laws.loading import Run, arguments, built, got, of, rows, runs, workers
from conformance.trace import Event, Items, RankTrace, Trace


@law("loader.independent")
def independent(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    require(not arguments(case).get("persistent_workers") and len(of(rank, op.Open)) > 1)
    for number, event in enumerate(rank.events):
        if isinstance(event.operation, op.Open) and event.error is not None:
            saw = f"beside another iterator, iter() raised {event.error}"
            return Violation("second-refused", saw, events=((rank.rank, number),))
    for run, due, wanted in _alone(rank, case):
        if run.errors:
            saw = f"an iterator beside another raised {run.errors[0]}"
            return Violation("iterators-entangled", saw, events=rows(rank, run))
        taken = wanted if run.finished else wanted[: len(run.items)]
        if run.items != taken and not (shuffled(case) and cut_alike(run, due, case)):
            saw = f"beside another, an iterator gave {run.items} instead of {wanted}"
            saw += " in any order" * shuffled(case)
            return Violation("iterators-entangled", saw, events=rows(rank, run))
    return None


def _alone(rank: RankTrace, case: Case) -> list[tuple[Run, list[Any], list[Any]]]:
    """Each pass, its batches of indices, and what it delivers with no other beside it: of a stream,
    what the first pass has delivered."""
    if not isinstance(arguments(case).get("dataset"), Stream):
        return [(run, due, collated(case, due)) for run, due in passes(rank, case)]
    first, *others = runs(rank)
    require(first.finished and not first.errors)
    return [(run, first.items, first.items) for run in others]


@law("loader.ends")
def ends(trace: Trace) -> Violation | None:
    """`Drain` asks three times more than needed, and what is asked after it is beyond the end."""
    rank, judged = built(trace), False
    opened: set[str] = set()
    ended: set[str] = set()
    for number, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, op.Open) and event.error is None:
            opened.add(did.name)
            ended.discard(did.name)
        if not isinstance(did, (op.Take, op.Drain)) or did.name not in opened:
            continue
        more = _more(event, did.name in ended)
        if more:
            row = ((rank.rank, number),)
            return Violation("started-over", more, events=row, about=_about(trace.case))
        judged |= did.name in ended or isinstance(did, op.Drain)
        if event.error is None and (isinstance(did, op.Drain) or len(got(event)) < did.count):
            ended.add(did.name)
    require(judged)
    return None


def _more(event: Event, ended: bool) -> str:
    """What came after the end, if something did."""
    if ended and got(event):
        return f"an iterator that had ended gave {got(event)}"
    if ended and event.error is not None:
        return f"an iterator that had ended raised {event.error}"
    if isinstance(event.operation, op.Drain) and event.error is not None and event.value is None:
        return f"asked after its end, an iterator raised {event.error}"
    extra = event.value.extra if isinstance(event.value, Items) else 0
    return f"asked three times after its end, an iterator gave {extra} more items" if extra else ""


def _about(case: Case) -> str:
    given = arguments(case)
    words = ["iterable" if isinstance(given["dataset"], Stream) else "map-style"]
    words += ["batching off"] * (given.get("batch_size", 1) is None)
    words += ["workers"] * bool(workers(case))
    words += ["persistent_workers"] * bool(given.get("persistent_workers"))
    return ", ".join(words)
