"""Laws of `spec/batch.md`: an inner sequence, cut into lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Mark, Violation, law, require
from conformance.laws.distributed import same_as_oracle
from conformance.laws.draws import crashed, differing, ended, got
from conformance.laws.inner import numbers, retyped
from conformance.laws.views import Pass, rows, size
from conformance.recipes import Probe, Values
from conformance.trace import Event, RankTrace, Trace

Numbers = NDArray[np.int64]

ORDERS: dict[str, Callable[[int], Numbers]] = {
    "Counting": np.arange,
    "Unsized": np.arange,
    "Lying": np.arange,
    "Descending": lambda count: np.arange(count)[::-1],
    "Doubling": lambda count: np.arange(count) // 2,
}
"""What each probe yields, whatever the pass."""


@law("batch.concatenation")
def concatenation(trace: Trace) -> Violation | None:
    crash = crashed(trace)
    if crash is not None:
        return crash
    if _inner(trace).name == "Turning":
        return _turning(trace)
    inner = dict(trace.case.arguments)["sampler"]
    for found in ended(trace):
        wanted = _wanted(trace, found.n)
        if not np.array_equal(found.values, wanted):
            return _not_the_inner(found, wanted)
        odd = retyped(inner, found.items, count=len(wanted))
        if odd:
            saw = f"rank {found.rank}: items of type {odd} are not what the inner sampler yielded"
            return Violation("foreign-index", saw, events=rows(found))
    return None


def _not_the_inner(found: Pass, wanted: Numbers) -> Violation:
    same = np.array_equal(np.sort(found.values), np.sort(wanted))
    short = len(found.values) < len(wanted)
    anomaly = "reordered" if same else "lost-index" if short else "foreign-index"
    saw = f"rank {found.rank}, pass {found.ordinal + 1}: {got(found)}, not {wanted[:12].tolist()}"
    return Violation(anomaly, saw, differing(found, wanted), rows(found))


def _turning(trace: Trace) -> Violation | None:
    """Each inner pass starts further on: one that is shown twice was kept."""
    require(_inner(trace).count > 4)
    before: Pass | None = None
    for found in ended(trace):
        start = found.values[0] if len(found.values) else 0
        wanted = (_cut(trace, np.arange(_inner(trace).count)) + start) % _inner(trace).count
        if not np.array_equal(found.values, wanted):
            return _not_the_inner(found, wanted)
        if before and before.rank == found.rank and before.same(found) and len(wanted):
            saw = f"the inner sampler turns, but pass {found.ordinal + 1} is the one before"
            return Violation("stale-pass", saw, events=rows(before, found))
        before = found
    return None


@law("batch.sizes")
def sizes(trace: Trace) -> Violation | None:
    size = int(trace.case.argument("batch_size"))
    for found in ended(trace):
        foreign = [kind for kind in found.items.containers if _no_list(kind)]
        got_sizes = found.items.sizes if found.items.sizes is not None else np.zeros(0, np.int64)
        if foreign or got_sizes.sum() != len(found.values):
            saw = f"rank {found.rank}: batches are {', '.join(foreign) or 'no lists'}"
            return Violation("not-a-list", saw, events=rows(found))
        full = got_sizes == size
        full[-1:] |= (got_sizes[-1:] > 0) & (got_sizes[-1:] < size) & (not _drops(trace))
        if not full.all():
            first = int(np.flatnonzero(~full)[0])
            saw = f"rank {found.rank}: batch {first} of {len(full)} has {got_sizes[first]} items"
            return Violation("wrong-size", saw, _batch_marks(found, first), rows(found))
    return None


def _no_list(kind: str) -> bool:
    """A list of a class of its own is a list too."""
    return kind in ("tuple", "set", "frozenset") or kind.startswith(("numpy.", "torch."))


def _batch_marks(found: Pass, number: int) -> tuple[Mark, ...]:
    assert found.items.sizes is not None
    start = int(found.items.sizes[:number].sum())
    stop = start + int(found.items.sizes[number])
    return tuple(Mark(found.rank, found.event, p, "wrong") for p in range(start, stop)[:50])


@law("batch.length")
def length(trace: Trace) -> Violation | None:
    inner = dict(trace.case.arguments)["sampler"]
    require(not (isinstance(inner, Probe) and inner.name == "Lying"))
    unsized = isinstance(inner, Probe) and inner.name in ("Unsized", "Endless")
    size = int(trace.case.argument("batch_size"))
    declared = list(_events(trace, op.Len))
    require(declared)
    for rank, number, event in declared:
        count = _count(trace, rank, number)
        wanted = count // size + (count % size > 0 and not _drops(trace))
        shows = ((rank.rank, number),)
        if unsized and (event.error is None or not event.error.is_a("TypeError")):
            told = f"raised {event.error}" if event.error else f"is {event.value}"
            saw = f"the inner sampler has no length; len {told}, and not TypeError"
            return Violation("length-invented", saw, events=shows)
        if not unsized and (event.error is not None or event.value != wanted):
            told = f"raised {event.error}" if event.error else f"is {event.value}"
            saw = f"rank {rank.rank}: len {told}; {count} inner items make {wanted} batches"
            return Violation("wrong-length", saw, events=shows)
    return None


def _count(trace: Trace, rank: RankTrace, number: int) -> int:
    """How many items the inner sampler has at an event: it may have been resized."""
    steps = [event.operation for event in rank.events[:number]]
    given = [step.n for step in steps if isinstance(step, op.Resize)]
    return given[-1] if given else size(trace)


@law("batch.fresh")
def fresh(trace: Trace) -> Violation | None:
    """All passes are equal, whether batches were kept, changed, or let go one by one."""
    require(any(True for _ in _events(trace, op.Scribble)) or _one_by_one(trace))
    made = [found for found in ended(trace) if found.whole]
    require(len(made) > 1 and _inner(trace).name != "Turning")
    for found in made:
        if not found.same(made[0]):
            saw = f"undisturbed {got(made[0])}; after batches were kept or changed {got(found)}"
            shows = rows(made[0], found)
            return Violation("batch-shared", saw, differing(found, made[0].values), shows)
    return None


def _one_by_one(trace: Trace) -> bool:
    return any(event.operation.count == 1 for _, _, event in _events(trace, op.Take))  # type: ignore[union-attr]


@law("batch.lazy")
def lazy(trace: Trace) -> Violation | None:
    size = int(trace.case.argument("batch_size"))
    judged = False
    for rank in trace:
        taken = 0
        for number, event in enumerate(rank.events):
            if isinstance(event.operation, op.Take) and event.error is None:
                taken += len(event.value)
            if isinstance(event.operation, op.Inspect) and event.error is None and taken:
                judged = True
                draws = event.value["draws"]
                if draws > taken * size:
                    saw = f"{taken} batches of {size} were asked for, {draws} items were drawn"
                    return Violation("draws-ahead", saw, events=((rank.rank, number - 1),))
    require(judged)
    return None


@law("batch.inner-end")
def inner_end(trace: Trace) -> Violation | None:
    inner = _inner(trace)
    require(inner.name in ("Lying", "Unsized"))
    claims = f"claims {inner.at} items" if inner.name == "Lying" else "claims no length"
    told = f"the inner sampler {claims} and yields {inner.count}"
    crash = crashed(trace)
    if crash is not None:
        return Violation("inner-length-trusted", f"{told}; {crash.saw}", events=crash.events)
    for found in ended(trace):
        wanted = _wanted(trace, found.n)
        if not np.array_equal(found.values, wanted):
            saw = f"{told}; the batches hold {got(found)}"
            marks = differing(found, wanted)
            return Violation("inner-length-trusted", saw, marks, rows(found))
    return None


@law("batch.no-poll")
def no_poll(trace: Trace) -> Violation | None:
    """Judged on `Passes`, which itself asks for nothing after the end."""
    inspected = [
        (rank, number, event) for rank, number, event in _events(trace, op.Inspect)
        if isinstance(rank.events[number - 1].operation, op.Passes)
        and rank.events[number - 1].error is None and "after_end" in event.value
    ]  # fmt: skip
    require(inspected)
    for rank, number, event in inspected:
        if event.value["after_end"]:
            saw = f"the inner iterator was asked {event.value['after_end']} times after its end"
            return Violation("polled-after-end", saw, events=((rank.rank, number - 1),))
    return None


@law("batch.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    require(_inner(trace).name == "Epoched")
    calls = list(_events(trace, op.SetEpoch))
    require(calls)
    for rank, number, event in calls:
        if _absent(event):
            continue
        epoch = event.operation.epoch  # type: ignore[union-attr]
        shows = ((rank.rank, number),)
        if event.error is not None:
            saw = f"rank {rank.rank}: set_epoch({epoch}) raised {event.error}"
            return Violation("set-epoch-raises", saw, events=shows)
        later = [e for e in rank.events[number + 1 :] if isinstance(e.operation, op.Inspect)]
        told = later[0].value["epochs"] if later else [epoch]
        if not told or told[-1] != epoch:
            saw = f"rank {rank.rank}: after set_epoch({epoch}) the inner sampler was told {told}"
            return Violation("epoch-not-forwarded", saw, events=shows)
    return None


@law("batch.forwards")
def forwards(trace: Trace) -> Violation | None:
    offered = [(rank, number, not _absent(e)) for rank, number, e in _events(trace, op.SetEpoch)]
    require(offered)
    wanted = _inner(trace).name == "Epoched"
    for rank, number, has in offered:
        if has != wanted:
            one, other = ("", "not ") if wanted else ("not ", "")
            saw = f"set_epoch is {one}offered by the inner sampler, and {other}by the batch sampler"
            anomaly = "set-epoch-not-offered" if wanted else "set-epoch-offered-in-vain"
            return Violation(anomaly, saw, events=((rank.rank, number),))
    return None


@law("batch.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


def _inner(trace: Trace) -> Probe:
    """The inner sampler, if it is one of the suite's; a list counts as one too."""
    inner = dict(trace.case.arguments)["sampler"]
    if isinstance(inner, Values):
        return Probe("Values", len(inner.items))
    require(isinstance(inner, Probe))
    assert isinstance(inner, Probe)
    return inner


def _wanted(trace: Trace, count: int) -> Numbers:
    """The items of a pass over `count` inner ones, batches laid end to end."""
    inner = dict(trace.case.arguments)["sampler"]
    if isinstance(inner, Values):
        return _cut(trace, numbers(inner.items))
    require(_inner(trace).name in ORDERS)
    return _cut(trace, ORDERS[_inner(trace).name](count))


def _cut(trace: Trace, whole: Numbers) -> Numbers:
    size = int(trace.case.argument("batch_size"))
    return whole[: len(whole) // size * size] if _drops(trace) else whole


def _drops(trace: Trace) -> bool:
    return bool(trace.case.argument("drop_last"))


def _absent(event: Event) -> bool:
    return event.error is not None and event.error.is_a("AttributeError")


def _events(trace: Trace, kind: Any) -> Iterator[tuple[RankTrace, int, Event]]:
    for rank in trace:
        for number, event in enumerate(rank.events):
            if isinstance(event.operation, kind):
                yield rank, number, event
