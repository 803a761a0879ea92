"""Views of a loader's trace that laws share: what was expected, what was reported, what hung."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults
from conformance.datasets import Collate, Mapped, Order, Stream
from conformance.laws import Violation, require
from conformance.laws.inner import inner_pass
from conformance.recipes import Probe, Raw, Role, Values, part
from conformance.trace import Error, Event, Items, RankTrace, Record, Trace

READS = (op.Iterate, op.Take, op.Drain)
"""The operations that ask a loader for items."""


def arguments(case: Case) -> dict[str, Any]:
    """The arguments of the case's loader."""
    return dict(case.arguments)


def ordered(case: Case) -> bool:
    """Whether the case's loader is asked to deliver in order."""
    return bool(arguments(case).get("in_order", True))


def as_built(case: Case, rank: RankTrace, number: int) -> Case:
    """The case whose loader was the last to be constructed before the event of this number."""
    built = (event.operation for event in rank.events[number::-1])
    last = next((step for step in built if isinstance(step, op.Rebuild)), op.Rebuild())
    return case.changed(arguments={**arguments(case), **dict(last.overrides)})


def workers(case: Case) -> int:
    """num_workers."""
    given = arguments(case).get("num_workers", 0)
    return int(given.value if isinstance(given, Raw) else given)


def ahead(case: Case) -> int:
    """prefetch_factor * num_workers: how many batches may be under way."""
    return int(arguments(case).get("prefetch_factor", 2)) * workers(case)


def collation(case: Case) -> str:
    """What the case's `collate_fn` does; "" if none is given."""
    function = arguments(case).get("collate_fn")
    return function.how if isinstance(function, Collate) else ""


ASCENDING = ("ascending", "descending", "again", "understated", "rooted")
"""Orders whose indices are 0, 1, ..., up or down."""

KEYED = (
    "texts", "tuples", "named", "lists", "pairs", "arrays", "odd", "flags", "labels", "far", "long",
    "below", "scalars", "tensors",
)  # fmt: skip
"""Orders whose indices stand for 0, 1, ... and are no numbers."""


def indices(case: Case, epoch: int = 0) -> list[int] | None:
    """The order that the case's sampler gives in its first pass; None if that is not known.

    epoch: the one that was set before the pass, for an order of "epochs".
    """
    given = arguments(case)
    sampler, data = given.get("sampler"), given["dataset"]
    if sampler is None:
        plain = isinstance(data, Mapped) and not given.get("shuffle")
        return list(range(data.n)) if plain and "batch_sampler" not in given else None
    if isinstance(sampler, Probe):
        return [*map(int, inner_pass(sampler, sampler.count))]
    if isinstance(sampler, Order) and sampler.how in ASCENDING:
        up = list(range(sampler.n))
        return up[::-1] if sampler.how == "descending" else up
    if isinstance(sampler, Order) and sampler.how in KEYED:
        return list(range(sampler.n))
    if isinstance(sampler, Order) and sampler.how == "growing":
        return list(range(sampler.n + epoch))
    if isinstance(sampler, Order) and sampler.how == "epochs":
        return [(place + epoch) % sampler.n for place in range(sampler.n)]
    return [int(i) for i in sampler.items] if isinstance(sampler, Values) else None


def expected(case: Case, epoch: int = 0) -> list[Any] | None:
    """The batches of the first pass over a map-style dataset, or items if batching is off."""
    given = arguments(case)
    batches = given.get("batch_sampler")
    if isinstance(batches, Order) and batches.how == "batches":
        return [part(place) for place in range(batches.n)]
    if isinstance(batches, Order) and (batches.how == "gaps" or batches.how.endswith("-batches")):
        return _listed(batches, epoch)
    if isinstance(batches, Probe) and batches.name == "Bucketed":
        return [part(place, batches.at) for place in reversed(range(batches.count))]
    if isinstance(batches, Values):
        return [[*batch] for batch in batches.items if isinstance(batch, tuple)]
    if isinstance(batches, Role):
        inner = {"dataset": given["dataset"], **dict(batches.arguments)}
        return expected(Case(case.role, inner, ()), epoch)
    order, size = indices(case, epoch), given.get("batch_size", 1)
    if order is None or size is None:
        return order
    cut = [order[start : start + size] for start in range(0, len(order), size)]
    return [b for b in cut if len(b) == size or not given.get("drop_last")]


def first_pass(case: Case) -> list[Any] | None:
    """The same, also where later passes have another order than the first."""
    sampler = arguments(case).get("sampler")
    if not isinstance(sampler, Order) or sampler.how != "turning":
        return expected(case)
    given = arguments(case) | {"sampler": replace(sampler, how="ascending")}
    return expected(Case(case.role, given, ()))


def _listed(batches: Order, epoch: int) -> list[Any]:
    """The batches of an order that gives lists of one index, or of none."""
    n, how = batches.n, batches.how
    if how == "gaps":
        return [[place // 2] if place % 2 else [] for place in range(n)]
    if how == "epochs-batches":
        return [[(place + epoch) % n] for place in range(n)]
    return [[place] for place in range(n + epoch * (how == "growing-batches"))]


def reads(rank: RankTrace) -> list[tuple[int, Event]]:
    """The events that asked for items, with their numbers."""
    return [(n, e) for n, e in enumerate(rank.events) if isinstance(e.operation, READS)]


def got(event: Event) -> list[Any]:
    """What an event delivered, batches as lists."""
    return event.value.tolist() if isinstance(event.value, Items) else []


def hung(rank: RankTrace) -> Event | None:
    """The operation that did not return, if one did not: always the last event."""
    last = rank.events[-1]
    return last if last.error is not None and last.error.kind == "Hang" else None


def returned(trace: Trace) -> RankTrace:
    """The one rank of the case; requires that it came back and hung nowhere."""
    require(trace.done and len(trace.ranks) == 1 and hung(trace.ranks[0]) is None)
    return trace.ranks[0]


def rank_by_rank(trace: Trace, judge: Callable[[Trace], Violation | None]) -> Violation | None:
    """The first violation in what a rank saw, as if it were alone: a loader knows of no others."""
    alone = (replace(trace, ranks=(rank,), seen={}) for rank in trace.ranks)
    return next(filter(None, map(judge, alone)), None)


def built(trace: Trace) -> RankTrace:
    """The same, and that the loader could be constructed."""
    rank = returned(trace)
    require(rank.events[0].error is None)
    return rank


def of(rank: RankTrace, *kinds: type[op.Operation]) -> list[Event]:
    """The events of these operations."""
    return [event for event in rank.events if isinstance(event.operation, kinds)]


def records(rank: RankTrace) -> list[Record]:
    """All that was reported, in order; requires that it was asked for."""
    found = of(rank, lo.Journal)
    require(found)
    return [record for event in found for record in event.value or ()]


def followed(found: Iterable[Record]) -> bool:
    """Whether every schedule was kept to."""
    return all(record.kind != "unfollowed" for record in found)


def kinds(found: Iterable[Record], *names: str) -> list[Record]:
    """The records of these kinds."""
    return [record for record in found if record.kind in names]


def nobody_struck(event: Event) -> bool:
    """Whether there was no worker process that a signal could be sent to."""
    return event.error is not None and event.error.is_a("LookupError")


@dataclass(frozen=True)
class Run:
    """One pass in the plan: its items, the error that ended each `next` that failed, its place.

    event: the last event of it. finished: its end was reached without an error. begun: the number
    of the event that began it.
    """

    event: int
    items: list[Any] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    finished: bool = False
    begun: int = 0


def runs(rank: RankTrace) -> list[Run]:
    """The passes of a rank, in the order in which they were begun; errors do not end one."""
    found: list[Run] = []
    named: dict[str, int] = {}
    for number, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, (op.Iterate, op.Open)):
            if isinstance(did, op.Open):
                named[did.name] = len(found)
            found.append(_more(Run(number, begun=number), number, event))
        elif isinstance(did, (op.Take, op.Drain, lo.Interrupt)) and did.name in named:
            place = named[did.name]
            found[place] = _more(found[place], number, event)
    return found


def _more(run: Run, number: int, event: Event) -> Run:
    errors = [*run.errors, *([event.error] if event.error else [])]
    ends = isinstance(event.operation, (op.Iterate, op.Drain)) and event.error is None
    items = [*run.items, *got(event)]
    return Run(number, items, errors, ends or run.finished, run.begun)


def rows(rank: RankTrace, *made: Run) -> tuple[tuple[int, int], ...]:
    """The grid rows that show these passes."""
    return tuple((rank.rank, run.event) for run in made)


def tells(error: Error, *words: str) -> bool:
    """Whether the text of an error has one of these words in it."""
    return any(word in f"{error.kind}: {error.message}" for word in words)


def about(case: Case) -> str:
    """What in the case goes wrong, for telling one violation of a clause from another."""
    return ", ".join(f"{fault.what} in {fault.where}" for fault in faults(case))


def stream(case: Case) -> Stream:
    """The case's iterable dataset; requires that it has one."""
    data = arguments(case).get("dataset")
    require(isinstance(data, Stream))
    assert isinstance(data, Stream)
    return data
