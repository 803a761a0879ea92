"""In which order the ranks together yield the inner pass, and which epochs it was told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Unmet, Violation, law, require
from conformance.laws.distributed import orders_differ
from conformance.laws.draws import ENOUGH
from conformance.laws.inner import inner_pass, is_ordered
from conformance.laws.relations import shuffled
from conformance.laws.statistics import table
from conformance.laws.views import (
    Pass,
    global_order,
    rounds,
    rows,
    shown,
    shuffles,
    size,
    whole_passes,
)  # fmt: skip
from conformance.laws.wrapper.shares import drops, refusal
from conformance.laws.wrapper.twins import inner_passes, numbered, told, twins
from conformance.recipes import EPOCHED, Probe, Role
from conformance.trace import Event, Items, RankTrace, Trace


@law("wrapper.order")
def order(trace: Trace) -> Violation | None:
    """In turn or as is declared, but one way in all passes of a case."""
    whole, inner = numbered(trace), trace.case.argument("sampler")
    require((is_ordered(inner) or twins(trace)) and trace.policies.get("divides") != "free")
    judged = [made for made in rounds(whole) if not shuffles(whole, made[0], False)]
    require(judged)
    lost = [[made for made in judged if not _keeps(whole, made, way)] for way in ways(trace)]
    if not all(lost):
        return None
    made = lost[0][0]
    wanted, got = inner_passes(whole, made[0])[0], global_order(made, ways(trace)[0])
    saw = f"the inner sampler yields {told(trace, wanted)}, the ranks together {told(trace, got)}"
    return Violation("inner-order-lost", saw, events=rows(*made))


def _keeps(trace: Trace, made: list[Pass], way: str) -> bool:
    """Whether the ranks, read in this way, give a pass of the inner sampler."""
    got, width = global_order(made, way), len(made)
    for wanted in inner_passes(trace, made[0]):
        kept = len(wanted) // width * width if drops(trace, made) else len(wanted)
        if np.array_equal(got[:kept], wanted[:kept]):
            return True
    return False


def ways(trace: Trace) -> list[str]:
    """The declared division, or either if none is declared."""
    divides = trace.policies.get("divides")
    return [divides] if divides else ["interleaved", "contiguous"]


def _orders(trace: Trace, made: list[Pass]) -> list[NDArray[np.int64]]:
    """The global order under the declared division, or under either if none is declared."""
    return [global_order(made, way) for way in ways(trace)]


@law("wrapper.shuffle")
def shuffle(trace: Trace) -> Violation | None:
    judged = [made for made in rounds(trace) if shuffles(trace, made[0], False)]
    require(judged)
    for made in judged:
        wanted = inner_pass(trace.case.argument("sampler"), made[0].n)
        if any(np.array_equal(got[: len(wanted)], wanted) for got in _orders(trace, made)):
            saw = f"shuffle=True, and the ranks together yield the inner pass: {shown(wanted)}"
            return Violation("not-shuffled", saw, events=rows(*made))
    told = [("stale-epoch", "seed"), ("seed-ignored", "epoch")]
    unmet = 0
    for anomaly, same in told:
        try:
            found = orders_differ(trace, anomaly, same)
        except Unmet:  # there may be no seed, or nothing that sets the epoch
            unmet += 1
            continue
        if found is not None:
            return found
    require(unmet < len(told))
    return None


@law("wrapper.uniform")
def uniform(trace: Trace) -> Violation | None:
    """The inner pass is a permutation of [0, n), whole or cut by drop_last."""
    trace = numbered(trace)
    made, n = table(trace), len(twins(trace)[0]) if twins(trace) else size(trace)
    require(made.shape[1] == n - n % trace.case.world_size and (made >= 0).all())
    return shuffled(made, n)


@law("wrapper.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    require(trace.done)
    inner = trace.case.argument("sampler")
    if isinstance(inner, Role):  # a wrapper itself, which may be refused
        require(trace.ranks[0].events[0].error is None)
        inner = dict(inner.arguments).get("sampler")
    require(isinstance(inner, Probe) and inner.name in EPOCHED)
    for rank in trace:
        heard, asked = seen(rank.events, "epochs"), _asked(rank.events)
        require(heard is not None and asked)
        if heard != asked:
            saw = f"set_epoch was called with {asked}, the inner sampler saw {heard}"
            return Violation("epoch-not-forwarded", f"rank {rank.rank}: {saw}")
    return None


def _asked(events: tuple[Event, ...]) -> list[Any]:
    return [event.operation.epoch for event in events if isinstance(event.operation, op.SetEpoch)]


def seen(events: tuple[Event, ...], what: str) -> Any:
    """What the probe saw by the last `Inspect`."""
    found = [e.value for e in events if isinstance(e.operation, op.Inspect) and e.value]
    return found[-1].get(what) if found else None


@law("wrapper.fresh-draw")
def fresh_draw(trace: Trace) -> Violation | None:
    whole = numbered(trace)
    made = rounds(whole)
    if any(isinstance(step, op.Open) for step in trace.case.plan):
        require(made and not shuffles(whole, made[0][0], False))
        require(trace.policies.get("divides") != "free")
        return next(filter(None, map(_begun_alike, trace)), None)
    require(len(made) > 1)
    first, second = global_order(made[0]), global_order(made[1])
    if _moves(whole, len(first)) and np.array_equal(first, second):
        saw = f"the inner sampler goes on with each pass; the wrapper gave {told(trace, first)}"
        saw += " twice"
        return Violation("stale-draw", saw, events=rows(*made[0], *made[1]))
    for rank in trace:
        drawn, asked = seen(rank.events, "passes"), len(whole_passes(rank, trace))
        if drawn is not None and drawn > asked:
            saw = f"rank {rank.rank}: the inner sampler was drawn {drawn} times in {asked} passes"
            return Violation("drawn-twice", saw)
    return None


def _begun_alike(rank: RankTrace) -> Violation | None:
    """Of `Probe("Turning")` each pass begins at another place, be the one before broken off."""
    begun: dict[int, int] = {}
    opened = False
    for number, event in enumerate(rank.events):
        did, got = event.operation, event.value
        opened = opened or isinstance(did, (op.Open, op.Iterate))
        if opened and isinstance(got, Items) and len(got.values):
            start, opened = int(got.values[0]), False
            if start in begun:
                saw = f"the inner sampler goes on with each pass; two passes began with {start}"
                where = ((rank.rank, begun[start]), (rank.rank, number))
                return Violation("stale-draw", saw, events=where, about="broken off")
            begun[start] = number
    return None


@law("wrapper.epochs-differ")
def epochs_differ(trace: Trace) -> Violation | None:
    """The inner sampler draws each pass from a global generator: `Probe("NumpyRandom", 20)`."""
    if all(refusal(rank.events) for rank in trace):
        return None
    made = [one for one in rounds(trace) if one[0].epoch is not None]
    require(made and min(len(one[0].values) for one in made) >= ENOUGH)
    first: dict[bytes, list[Pass]] = {}
    for one in made:
        order = global_order(one)
        before = first.setdefault(order.tobytes(), one)
        if before[0].epoch != one[0].epoch:
            saw = f"epochs {before[0].epoch} and {one[0].epoch} have one order: {shown(order)}"
            return Violation("stale-epoch", saw, events=rows(*before, *one))
    require(len({one[0].epoch for one in made}) > 1)
    return None


def _moves(trace: Trace, count: int) -> bool:
    """Whether the first two passes of the inner sampler differ in their first `count` items."""
    own = [items.values[:count] for items in twins(trace)]
    if not own:
        return bool(trace.case.argument("sampler").name == "Turning")
    return len(own) > 1 and not np.array_equal(own[0], own[1])
