"""Laws of `spec/distributed.md` about shares: what all ranks hold together, and how much each."""

from __future__ import annotations

import math

import numpy as np

from conformance import operations as op
from conformance.laws import Mark, Unmet, Violation, law, require
from conformance.laws.comparison import is_allowed
from conformance.laws.views import Pass, option, rounds, rows, shown
from conformance.recipes import Role
from conformance.trace import Event, Items, Trace


@law("distributed.equal-counts")
def equal_counts(trace: Trace) -> Violation | None:
    for made in rounds(trace):
        counts = [len(found.items) for found in made]
        uneven = trace.policies.get("pads") == "none" and not drops(trace, made[0])
        if max(counts) - min(counts) > uneven or (uneven and sum(counts) != made[0].n):
            saw = f"items per rank: {counts}, n = {made[0].n}{_hint(trace, counts, made[0].n)}"
            return Violation("unequal-counts", saw, events=rows(*made))
    return None


def _hint(trace: Trace, counts: list[int], n: int) -> str:
    """A candidate whose rule is uneven by design may say so."""
    even = max(counts) - min(counts) <= 1 and sum(counts) == n
    return (
        "; if that is meant, declare the policy pads='none'" if even and not trace.policies else ""
    )


@law("distributed.cover")
def cover(trace: Trace) -> Violation | None:
    for made in padded_rounds(trace):
        values = np.concatenate([found.values for found in made])
        inside = values[(values >= 0) & (values < made[0].n)]
        lost = np.flatnonzero(np.bincount(inside, minlength=made[0].n) == 0)
        if len(lost):
            saw = f"no rank yields {shown(lost)} of n = {made[0].n}"
            return Violation("lost-index", saw, doubled(made), rows(*made))
    return None


@law("distributed.padding")
def padding(trace: Trace) -> Violation | None:
    pads = trace.policies.get("pads")
    for made in padded_rounds(trace):
        n, width = made[0].n, len(made)
        values = np.concatenate([found.values for found in made])
        total = n if pads == "none" else width * math.ceil(n / width)
        if len(values) != total:
            saw = f"{len(values)} items in all, n = {n} over {width} ranks needs {total}"
            return Violation("wrong-total", saw, events=rows(*made))
        real = values[values != trace.policies["sentinel"]] if pads == "sentinel" else values
        if pads == "sentinel" and len(real) != n:
            saw = f"{len(values) - len(real)} sentinels, {total - n} places to pad"
            return Violation("wrong-padding", saw, events=rows(*made))
        times = np.bincount(real[real >= 0], minlength=n)
        if pads != "repeat" and n and times.max() - times.min() > 1:
            often = np.flatnonzero(times == times.max())
            saw = f"index {often[0]} comes {times.max()} times, others {times.min()} times"
            return Violation("doubled-index", saw, doubled(made), rows(*made))
    return None


@law("distributed.drop")
def drop(trace: Trace) -> Violation | None:
    judged = [made for made in rounds(trace) if drops(trace, made[0])]
    require(judged)
    for made in judged:
        n, width = made[0].n, len(made)
        values = np.concatenate([found.values for found in made])
        if len(values) and np.bincount(values[values >= 0]).max(initial=0) > 1:
            return Violation(
                "cross-rank-overlap", "an index comes twice", doubled(made), rows(*made)
            )
        if len(values) != n // width * width:
            saw = f"{len(values)} items in all, {n} over {width} ranks leave {n // width * width}"
            return Violation("wrong-total", saw, events=rows(*made))
    return None


@law("distributed.small")
def small(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        for event in rank.events:
            if event.error is not None and not is_allowed(event):
                did = event.operation or "the construction"
                return Violation("small-crash", f"rank {rank.rank}: {did} raised {event.error}")
    made = rounds(trace)[0][0]
    width = trace.case.world_size
    require(made.n < 2 * width or made.n % width in (0, 1, width - 1))
    for judge in (equal_counts, cover, padding, drop):
        try:
            found = judge(trace)
        except Unmet:
            continue
        if found is not None:
            return found
    return None


@law("distributed.batches")
def batches(trace: Trace) -> Violation | None:
    require(trace.policies.get("pads") != "none")
    for made in rounds(trace):
        sizes = [[] if p.items.sizes is None else p.items.sizes.tolist() for p in made]
        if any(size != sizes[0] for size in sizes):
            saw = f"batch sizes per rank: {sizes}"
            return Violation("unequal-batches", saw, events=rows(*made))
    return None


@law("distributed.no-group")
def no_group(trace: Trace) -> Violation | None:
    require(trace.done and not trace.case.passed)
    if any(isinstance(step, op.Group) for step in trace.case.plan):
        return _asked_anew(trace)
    error = trace.ranks[0].events[0].error
    if error is None:
        return Violation("group-guessed", "constructed without a rank, and without a process group")
    if not error.is_a("ValueError", "RuntimeError"):
        return Violation("wrong-exception", f"without a process group: {error}")
    return None


def _asked_anew(trace: Trace) -> Violation | None:
    """What was asked in a group must be answered alike when that has ended."""
    events = trace.ranks[0].events
    begun, ended = (n for n, e in enumerate(events) if isinstance(e.operation, op.Group))
    require(all(event.error is None for event in events[:ended]))
    for before, event in zip(events[begun + 2 : ended], events[ended + 1 :], strict=True):
        told = f"once the process group has ended, {event.operation}"
        if event.error is not None:
            return Violation("asked-anew", f"{told} raised {event.error}")
        if _plain(event) != _plain(before):
            saw = f"{told} gave {_plain(event)}, and {_plain(before)} before"
            return Violation("asked-anew", saw)
    return None


def _plain(event: Event) -> object:
    return event.value.tolist() if isinstance(event.value, Items) else event.value


def drops(trace: Trace, found: Pass) -> bool:
    role = trace.case.argument("sampler")
    inner = dict(role.arguments).get("drop_last", False) if isinstance(role, Role) else False
    return bool(option(trace, found, "drop_last", inner))


def padded_rounds(trace: Trace) -> list[list[Pass]]:
    """The rounds with drop_last=False."""
    judged = [made for made in rounds(trace) if not drops(trace, made[0])]
    require(judged)
    return judged


def doubled(made: list[Pass]) -> tuple[Mark, ...]:
    """Marks on every cell whose index another cell holds too."""
    values, times = np.unique(np.concatenate([p.values for p in made]), return_counts=True)
    twice = values[times > 1]
    cells = [
        Mark(found.rank, found.event, int(place), "doubled")
        for found in made
        for place in np.flatnonzero(np.isin(found.values, twice))[:50]
    ]
    return tuple(cells[:200])
