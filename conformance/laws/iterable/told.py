"""Laws of `spec/iterable.md`: what `get_worker_info` tells.

Where a dataset gives "info", its items are rows: element, id, num_workers, seed - id, and whether
`dataset` was the dataset that asked.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance import loading as lo
from conformance.datasets import Init, Stream
from conformance.laws import Violation, law, require
from conformance.laws.iterable.streams import flat, passes
from conformance.laws.loading import (
    Run,
    arguments,
    built,
    rank_by_rank,
    returned,
    rows,
    runs,
    stream,
    workers,
)
from conformance.trace import RankTrace, Trace

COLUMNS = 5


def told(trace: Trace) -> list[Run]:
    """The passes whose items say what workers were told; requires that there are some."""
    require(getattr(arguments(trace.case)["dataset"], "gives", "") in ("info", "inside"))
    found = runs(built(trace))
    require(any(run.items or run.errors for run in found))
    given = [row for run in found for row in run.items]
    require(all(isinstance(row, list) and len(row) == COLUMNS for row in given))
    return found


@law("iterable.worker-info")
def worker_info(trace: Trace) -> Violation | None:
    return rank_by_rank(trace, _informed)


def _informed(trace: Trace) -> Violation | None:
    rank, data = returned(trace), arguments(trace.case)["dataset"]
    require(rank.events[0].error is None)
    for number, event in enumerate(rank.events):
        if isinstance(event.operation, lo.Inform) and event.value is not None:
            saw = f"in the main process it gave {event.value}"
            return Violation("told-in-main", saw, events=((rank.rank, number),))
    if isinstance(arguments(trace.case).get("worker_init_fn"), Init) and data.gives == "marked":
        return _marked(trace, rank)
    for run in told(trace):
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        wrong = next(filter(None, (_misled(row, workers(trace.case)) for row in run.items)), None)
        if wrong is None and isinstance(data, Stream) and data.shard == "none" and run.finished:
            wrong = _not_numbered(run.items, max(1, workers(trace.case)), data.n)
        if wrong:
            return Violation(*wrong, events=rows(rank, run))
    return None


def _misled(row: Any, count: int) -> tuple[str, str] | None:
    """What is wrong with what one worker was told."""
    _, number, told_count, _, own = row
    if not count:
        return ("told-in-main", f"worker {number} without workers") if number != -1 else None
    if number == -1:
        return "not-told", "in a worker it gave None"
    if not 0 <= number < count or told_count != count:
        saw = f"a worker was told id={number}, num_workers={told_count}; the loader has {count}"
        return "wrong-number" if told_count == count else "wrong-count", saw
    return None if own else ("not-its-copy", f"worker {number}: dataset is another object")


def _not_numbered(items: list[Any], count: int, n: int) -> tuple[str, str] | None:
    """Each worker gives every element, so each element comes from each worker once."""
    pairs = Counter((row[0], row[1]) for row in items)
    if len(pairs) == len(items) == count * n:
        return None
    return "number-shared", f"(element, worker): {sorted(pairs.elements())}"


def _marked(trace: Trace, rank: RankTrace) -> Violation | None:
    """`worker_init_fn` has set the mark of `get_worker_info().dataset` to 1 + the number."""
    count, n = workers(trace.case), stream(trace.case).n
    require(count and stream(trace.case).shard == "none")
    wanted = sorted(1000 * (worker + 1) + i for worker in range(count) for i in range(n))
    for run in runs(rank):
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        if run.finished and sorted(flat(run.items)) != wanted:
            saw = f"{run.items}: worker_init_fn was told of another dataset, or of another number"
            return Violation("not-its-copy", saw, events=rows(rank, run))
    passes(rank)
    return None


@law("iterable.shared-seed")
def shared_seed(trace: Trace) -> Violation | None:
    rank, count = built(trace), workers(trace.case)
    require(count > 1)
    met = False
    for run in told(trace):
        require(not run.errors)
        met = met or len({row[1] for row in run.items}) > 1
        seeds = {row[1]: row[3] for row in run.items}
        if len({row[3] for row in run.items}) > 1:
            saw = f"seed - id by worker: {seeds}"
            return Violation("seeds-apart", saw, events=rows(rank, run))
    require(met)
    return None
