"""Laws of `spec/wrapper.md`: a distributed wrapper around any sampler, and the dataset view of one.

What the inner sampler yields is known from the case: it is one of the suite's probes, or a role
whose pass is a permutation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Unmet, Violation, law, require
from conformance.laws.comparison import is_digest
from conformance.laws.distributed import orders_differ
from conformance.laws.inner import numbers, retyped
from conformance.laws.relations import shuffled
from conformance.laws.sampler import interleave
from conformance.laws.statistics import table
from conformance.laws.views import (
    Pass,
    global_order,
    option,
    rounds,
    rows,
    shown,
    shuffles,
    size,
    whole_passes,
)  # fmt: skip
from conformance.recipes import PARTS, Probe, Role, Values
from conformance.trace import Event, Items, Trace

REFUSALS = ("ValueError", "RuntimeError", "TypeError")


def inner_pass(inner: Any, count: int, epoch: Any = None, ordinal: int = 0) -> NDArray[np.int64]:
    """What a pass over `count` inner items yields, for random samplers up to its order."""
    if isinstance(inner, Values):
        return numbers(inner.items)
    places = np.arange(count)
    if isinstance(inner, Role):
        return places
    if inner.name == "Descending":
        return places[::-1]
    if inner.name == "Epoched":
        return np.asarray((count - 1 - places + int(epoch or 0)) % max(1, count))
    if inner.name == "Turning":
        return np.asarray((places + ordinal) % max(1, count))
    return places // 2 if inner.name == "Doubling" else places


def is_ordered(inner: Any) -> bool:
    """Whether the order of the inner pass is known, not its multiset alone."""
    if isinstance(inner, Role):
        return inner.name == "SequentialSampler"
    return isinstance(inner, Values) or not inner.name.endswith("Random")


@law("wrapper.order")
def order(trace: Trace) -> Violation | None:
    inner = trace.case.argument("sampler")
    require(is_ordered(inner) and trace.policies.get("divides") != "free")
    judged = [made for made in rounds(trace) if not shuffles(trace, made[0], False)]
    require(judged)
    for made in judged:
        wanted = inner_pass(inner, made[0].n, made[0].epoch, made[0].ordinal)
        kept = len(wanted) // len(made) * len(made) if _drops(trace, made) else len(wanted)
        if not any(np.array_equal(got[:kept], wanted[:kept]) for got in _orders(trace, made)):
            got = _orders(trace, made)[0]
            saw = f"the inner sampler yields {shown(wanted)}, the ranks together {shown(got)}"
            return Violation("inner-order-lost", saw, events=rows(*made))
    return None


def _orders(trace: Trace, made: list[Pass]) -> list[NDArray[np.int64]]:
    """The global order under the declared division, or under either if none is declared."""
    divides = trace.policies.get("divides")
    return [
        global_order(made, how) for how in ([divides] if divides else ["interleaved", "contiguous"])
    ]


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
    made, n = table(trace), size(trace)
    require(made.shape[1] == n - n % trace.case.world_size)
    return shuffled(made, n)


@law("wrapper.cover")
def cover(trace: Trace) -> Violation | None:
    inner = trace.case.argument("sampler")
    for made in rounds(trace):
        wanted = inner_pass(inner, made[0].n, made[0].epoch, made[0].ordinal)
        found = _shares(trace, made, wanted)
        if found is not None:
            return found
        kept = 0 if _drops(trace, made) else None
        odd = retyped(inner, *(share.items for share in made), count=kept)
        if odd:
            saw = f"items of type {odd} are not what the inner sampler yielded"
            return Violation("foreign-index", saw, events=rows(*made))
    return None


def _shares(trace: Trace, made: list[Pass], wanted: NDArray[np.int64]) -> Violation | None:
    """The ranks together hold the inner multiset, padded or dropped as they should."""
    values = np.concatenate([found.values for found in made])
    pads, drops, width = trace.policies.get("pads"), _drops(trace, made), len(made)
    if pads == "sentinel" and not drops:
        if trace.policies["sentinel"] in wanted:
            return None  # padding and items cannot be told apart
        values = values[values != trace.policies["sentinel"]]
    total = len(wanted) // width * width if drops else width * math.ceil(len(wanted) / width)
    if pads in ("none", "sentinel") and not drops:
        total = len(wanted)
    foreign = values[(values < 0) & ~np.isin(values, wanted)]
    if len(foreign):
        return Violation("foreign-index", f"{shown(foreign)}", events=rows(*made))
    known, place = np.unique(np.concatenate([values, wanted]), return_inverse=True)
    have, need = (
        np.bincount(part, minlength=len(known)) for part in np.split(place, [len(values)])
    )
    if not drops and (have < need).any():
        lost = known[have < need]
        saw = f"of the inner pass no rank yields {shown(lost)} often enough"
        return Violation("lost-index", saw, events=rows(*made))
    if (have[need == 0] > 0).any() or (drops and (have > need).any()):
        odd = known[(have > need) if drops else (need == 0) & (have > 0)]
        return Violation("doubled-index", f"too often: {shown(odd)}", events=rows(*made))
    if len(values) != total:
        saw = (
            f"{len(values)} items in all, {len(wanted)} inner ones over {width} ranks need {total}"
        )
        return Violation("wrong-total", saw, events=rows(*made))
    return None


@law("wrapper.equal-counts")
def wrapper_equal_counts(trace: Trace) -> Violation | None:
    uneven = trace.policies.get("pads") == "none"
    for made in rounds(trace):
        counts = [len(found.items) for found in made]
        if max(counts) - min(counts) > (uneven and not _drops(trace, made)):
            return Violation("unequal-counts", f"items per rank: {counts}", events=rows(*made))
    return None


@law("wrapper.small")
def small(trace: Trace) -> Violation | None:
    require(trace.done)
    inner = trace.case.argument("sampler")
    for rank in trace:
        for number, event in enumerate(rank.events):
            if event.error is not None:
                did = event.operation or "the construction"
                saw = f"{inner.count} inner items: rank {rank.rank}: {did} raised {event.error}"
                return Violation("small-crash", saw, events=((rank.rank, number),))
    require(inner.count <= 2 * trace.case.world_size)
    for made in rounds(trace):
        found = _shares(trace, made, inner_pass(inner, made[0].n))
        if found is not None:
            return found
    return None


@law("wrapper.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    require(trace.done)
    inner = trace.case.argument("sampler")
    require(isinstance(inner, Probe) and inner.name == "Epoched")
    for rank in trace:
        told, asked = _seen(rank.events, "epochs"), _asked(rank.events)
        require(told is not None and asked)
        if told != asked:
            saw = (
                f"rank {rank.rank}: set_epoch was called with {asked}, the inner sampler saw {told}"
            )
            return Violation("epoch-not-forwarded", saw)
    return None


def _asked(events: tuple[Event, ...]) -> list[Any]:
    return [event.operation.epoch for event in events if isinstance(event.operation, op.SetEpoch)]


def _seen(events: tuple[Event, ...], what: str) -> Any:
    """What the probe saw by the last `Inspect`."""
    found = [e.value for e in events if isinstance(e.operation, op.Inspect) and e.value]
    return found[-1].get(what) if found else None


@law("wrapper.agree")
def agree(trace: Trace) -> Violation | None:
    require(trace.done and len(trace.ranks) > 1)
    refused = [_refusal(rank.events) for rank in trace]
    if all(refused):
        return None
    if any(refused):
        alone = refused.index(next(filter(None, refused)))
        return Violation("ranks-disagree", f"only rank {alone} refused: {refused[alone]}")
    inner = trace.case.argument("sampler")
    for made in rounds(trace):
        found = _shares(trace, made, inner_pass(inner, made[0].n))
        if found is not None:
            saw = f"the ranks shard different inner passes: {found.saw}"
            return Violation("ranks-disagree", saw, events=rows(*made))
    return None


def _refusal(events: tuple[Event, ...]) -> str:
    """The clear error with which a rank refused, if it did."""
    found = [event.error for event in events if event.error and event.error.is_a(*REFUSALS)]
    return str(found[0]) if found else ""


@law("wrapper.fresh-draw")
def fresh_draw(trace: Trace) -> Violation | None:
    made = rounds(trace)
    require(len(made) > 1)
    first, second = global_order(made[0]), global_order(made[1])
    if np.array_equal(first, second):
        saw = f"the inner sampler turns by one each pass; the wrapper gave {shown(first)} twice"
        return Violation("stale-draw", saw, events=rows(*made[0], *made[1]))
    for rank in trace:
        drawn, asked = _seen(rank.events, "passes"), len(whole_passes(rank, trace))
        if drawn is not None and drawn > asked:
            saw = f"rank {rank.rank}: the inner sampler was drawn {drawn} times in {asked} passes"
            return Violation("drawn-twice", saw)
    return None


@law("wrapper.length-lie")
def length_lie(trace: Trace) -> Violation | None:
    require(trace.done)
    inner = trace.case.argument("sampler")
    errors = [[event.error for event in rank.events if event.error] for rank in trace]
    about = f"len {inner.at}" if inner.name == "Lying" else "no len"
    told = f"{about}, {inner.count} items"
    for rank, found in enumerate(errors):
        for error in found:
            if not error.is_a(*REFUSALS):
                return Violation("length-lie-crash", f"{told}: rank {rank} raised {error}")
    if all(errors):
        return None
    if any(errors):
        raised = [rank for rank, found in enumerate(errors) if found]
        return Violation("ranks-disagree", f"{told}: only the ranks {raised} raised an error")
    for made in rounds(trace):
        short = _shares(trace, made, inner_pass(inner, made[0].n))
        if short is not None and short.anomaly != "wrong-total":
            return Violation("silent-truncation", f"{told}: {short.saw}", events=rows(*made))
    return None


@law("wrapper.inner-untouched")
def inner_untouched(trace: Trace) -> Violation | None:
    """The wrapper twice around one sampler: what was passed stays, and gives its own pass."""
    require(trace.done)
    for rank in trace:
        digests = [event.value for event in rank.events if is_digest(event)]
        if any(handed_over != now for handed_over, now in digests):
            return Violation("inner-mutated", f"rank {rank.rank}: the inner sequence was changed")
        own = [event.value for event in rank.events if isinstance(event.operation, op.Inner)]
        wanted = inner_pass(trace.case.argument("sampler"), size(trace))
        if any(not np.array_equal(items.values, wanted) for items in own):
            saw = f"rank {rank.rank}: afterwards the inner sampler yields {shown(own[0].values)}"
            return Violation("inner-mutated", f"{saw} and not {shown(wanted)}")
    if any(not found.alone for rank in trace for found in whole_passes(rank, trace)):
        return interleave(trace)
    told = (op.Arguments, op.Inner)
    require(any(isinstance(e.operation, told) for rank in trace for e in rank.events))
    return None


@law("wrapper.batches")
def batches(trace: Trace) -> Violation | None:
    """Around a batch sampler: the batches of all ranks are the inner ones, each whole."""
    inner = trace.case.argument("sampler")
    require(isinstance(inner, Probe) and inner.name == "Pairs")
    wanted = [_batch(inner, place) for place in range(inner.count)]
    for made in rounds(trace):
        got = [tuple(batch) for found in made for batch in _batches(found.items)]
        if set(got) - set(wanted):
            odd = next(batch for batch in got if batch not in wanted)
            saw = f"{list(odd) if isinstance(odd, tuple) else odd} is no batch of the inner sampler"
            return Violation("batch-broken", saw, events=rows(*made))
        lost = [batch for batch in wanted if batch not in got]
        if lost and not _drops(trace, made):
            return Violation("batch-lost", f"no rank yields {list(lost[0])}", events=rows(*made))
    return None


def _batch(inner: Probe, place: int) -> tuple[int, ...]:
    return tuple(6 * (place // 3) + index for index in PARTS[inner.at][place % 3])


def _batches(items: Items) -> list[list[int]]:
    """The batches, or the bare indices as batches of one that no inner sampler gave."""
    return [[-1, value] for value in items.tolist()] if items.sizes is None else items.tolist()


@law("wrapper.double")
def double(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        error = rank.events[0].error
        if error is None:
            saw = f"rank {rank.rank}: a sampler that is distributed already was sharded again"
            return Violation("sharded-twice", saw)
        if not error.is_a(*REFUSALS):
            return Violation("wrong-exception", f"rank {rank.rank}: {error}")
    return None


@law("wrapper.view")
def view(trace: Trace) -> Violation | None:
    require(trace.done)
    judged = False
    inner = trace.case.argument("sampler")
    for rank in trace:
        wanted = _turns(inner, size(trace))
        for number, event in enumerate(rank.events):
            if event.error is not None:
                saw = f"{event.operation or 'the construction'} raised {event.error}"
                return Violation("view-crash", saw, events=((rank.rank, number),))
            if isinstance(event.operation, op.Resize):
                wanted += _turns(inner, event.operation.n)
            if isinstance(event.operation, op.Rebuild):
                wanted = _turns(inner, size(trace))
            if isinstance(event.operation, op.Look):
                judged = True
                found = _looked(inner, event, wanted)
                if found is not None:
                    return found
    require(judged)
    return None


def _turns(inner: Any, count: int) -> list[NDArray[np.int64]]:
    """The passes that a view of `count` items may hold; when it draws a new one is free."""
    turns = count if isinstance(inner, Probe) and inner.name == "Turning" else 1
    return [inner_pass(inner, count, ordinal=turn) for turn in range(max(1, turns))]


def _looked(inner: Any, event: Event, wanted: list[NDArray[np.int64]]) -> Violation | None:
    """Whether a view holds one pass, and has an end."""
    did: Any = event.operation
    items, beyond = event.value
    if not any(np.array_equal(items.values, one) for one in wanted) or retyped(inner, items):
        saw = f"its pass is {shown(wanted[0])}, the view holds {shown(items.values)}"
        order = "" if did.how == "ascending" else f", read in another order ({did.how})"
        return Violation("view-differs", saw + order)
    if beyond is None or not beyond.is_a("IndexError"):
        place = f"len(view) + {did.past}" if did.past >= 0 else f"{did.past} - len(view)"
        saw = f"view[{place}] gives {beyond or 'an item'}, not IndexError"
        return Violation("view-unbounded", saw)
    return None


def _drops(trace: Trace, made: list[Pass]) -> bool:
    return bool(option(trace, made[0], "drop_last", False))
