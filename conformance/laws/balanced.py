"""Laws of `spec/balanced.md`: as many items of each class as the arguments state."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.draws import ENOUGH
from conformance.laws.mixing import FEW, mixed, reached
from conformance.laws.sampler import reject as reject_invalid
from conformance.laws.statistics import table
from conformance.laws.tails import first_unlikely
from conformance.laws.views import Pass, rounds, rows, shown, whole_passes
from conformance.recipes import Role
from conformance.trace import Trace


@dataclass(frozen=True)
class Stated:
    """What the arguments state: the class of each index (numbered in sorted order of the labels),
    and for each class the least and greatest number of items that a pass may hold of it."""

    classes: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    total: int

    @property
    def members(self) -> NDArray[np.int64]:
        return np.bincount(self.classes, minlength=len(self.least))


def stated(trace: Trace) -> Stated:
    """Read the class-balanced role of the case, also where it stands inside a wrapper."""
    arguments = dict(trace.case.arguments)
    inner = arguments.get("sampler")
    arguments = dict(inner.arguments) if isinstance(inner, Role) else arguments
    labels = arguments["labels"].items
    number = {label: place for place, label in enumerate(sorted(set(labels)))}
    classes = np.array([number[label] for label in labels], dtype=np.int64)
    if "weight" in arguments:
        return _weighted(classes, np.array(arguments["weight"].items), arguments["length"])
    sizes = np.bincount(classes)
    mode = arguments.get("mode", "downsampling")
    each = {"downsampling": sizes.min(), "upsampling": sizes.max()}.get(mode, mode)
    count = np.full(len(sizes), each, dtype=np.int64)
    return Stated(classes, count, count, int(count.sum()))


def _weighted(classes: NDArray[np.int64], weight: NDArray[Any], length: int) -> Stated:
    """Shares rounded up or down; one that is whole but for float error is whole."""
    shares = weight / weight.sum() * length
    least, most = np.floor(shares + 1e-9), np.ceil(shares - 1e-9)
    return Stated(classes, least.astype(np.int64), most.astype(np.int64), length)


def _miscount(trace: Trace, made: list[Pass], spare: int = 0) -> Violation | None:
    """Whether the passes together hold the stated numbers, up to `spare` items of padding."""
    wanted = stated(trace)
    values = np.concatenate([found.values for found in made])
    if len(values) and (values.min() < 0 or values.max() >= len(wanted.classes)):
        return Violation(
            "out-of-range", f"{shown(values)} of n = {len(wanted.classes)}", events=rows(*made)
        )
    have = np.bincount(wanted.classes[values], minlength=len(wanted.least))
    over = np.maximum(have - wanted.most, 0).sum()
    if (have < wanted.least).any() or over > spare or len(values) - wanted.total > spare:
        ranges = [
            str(a) if a == b else f"{a}..{b}"
            for a, b in zip(wanted.least, wanted.most, strict=True)
        ]
        saw = f"items per class: {have.tolist()}, stated: [{', '.join(ranges)}]"
        return Violation("wrong-class-count", saw, events=rows(*made))
    if len(values) < wanted.total:
        saw = f"{len(values)} items, stated: {wanted.total}"
        return Violation("wrong-total", saw, events=rows(*made))
    return None


@law("balanced.counts")
def counts(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    require(trace.done and made)
    for found in made:
        bad = _miscount(trace, [found])
        if bad is not None:
            return bad
    return None


@law("balanced.distinct")
def distinct(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    require(trace.done and made)
    wanted, judged = stated(trace), False
    for found in made:
        inside = found.values[(found.values >= 0) & (found.values < len(wanted.classes))]
        times = np.bincount(inside, minlength=len(wanted.classes))
        drawn = np.bincount(wanted.classes[inside], minlength=len(wanted.members))
        enough = wanted.members >= drawn  # a share may be rounded down to all that there are
        judged |= bool(enough.any())
        twice = np.flatnonzero((times > 1) & enough[wanted.classes])
        if len(twice):
            saw = f"the indices {shown(twice)} come twice, though their class has enough members"
            return Violation("doubled-member", saw, events=rows(found))
    require(judged)
    return None


@law("balanced.reach")
def reach(trace: Trace) -> Violation | None:
    """Over many passes the members of a class come equally often (at the widest, binomially)."""
    passes, wanted = table(trace), stated(trace)
    require(passes.min() >= 0 and passes.max() < len(wanted.classes))
    require((wanted.least == wanted.most).all())
    if len(passes) < FEW:
        return reached(passes, wanted.classes, wanted.least)
    times = np.bincount(passes.reshape(-1), minlength=len(wanted.classes))
    share, members = wanted.least[wanted.classes], wanted.members[wanted.classes]
    without = share <= members
    trials = np.where(without, len(passes), len(passes) * share)
    chance = np.where(without, share / members, 1 / members)
    cell = first_unlikely(times, trials, chance)
    if cell is None:
        return None
    index = cell[0]
    saw = (
        f"index {index} comes {times[index]} times in {len(passes)} passes; "
        f"expected {trials[index] * chance[index]:.0f}, as its class-mates"
    )
    return Violation("member-neglected" if not times[index] else "members-unequal", saw)


@law("balanced.shuffled")
def shuffled(trace: Trace) -> Violation | None:
    passes, wanted = table(trace), stated(trace)
    require(passes.min() >= 0 and passes.max() < len(wanted.classes))
    require((wanted.least == wanted.most).all() and passes.shape[1] == wanted.total)
    if len(passes) < FEW:
        return mixed(wanted.classes[passes], wanted.least)
    found = np.stack([(wanted.classes[passes] == c).sum(axis=0) for c in range(len(wanted.least))])
    cell = first_unlikely(found, len(passes), (wanted.least / wanted.total)[:, None])
    if cell is None:
        return _clustered(wanted.classes[passes], wanted)
    saw = (
        f"class {cell[0]} stands {found[cell]} times of {len(passes)} at place {cell[1]}; "
        f"expected {len(passes) * wanted.least[cell[0]] / wanted.total:.0f}"
    )
    return Violation("classes-not-mixed", saw)


def _clustered(found: NDArray[np.int64], wanted: Stated) -> Violation | None:
    """How often two neighbours are of one class, place by place; as in a shuffle."""
    require(wanted.total > 1)
    chance = (wanted.least * (wanted.least - 1)).sum() / (wanted.total * (wanted.total - 1))
    alike = (found[:, 1:] == found[:, :-1]).sum(axis=0)
    cell = first_unlikely(alike, len(found), chance)
    if cell is None:
        return None
    saw = f"places {cell[0]} and {cell[0] + 1} are of one class {alike[cell]} times of {len(found)}"
    return Violation("classes-not-mixed", f"{saw}; expected {len(found) * chance:.0f}")


@law("balanced.labels")
def labels(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        for number, event in enumerate(rank.events):
            if event.error is not None:
                did = event.operation or "the construction"
                return Violation(
                    "labels-crash", f"{did} raised {event.error}", events=((rank.rank, number),)
                )
    return counts(trace)


@law("balanced.reject")
def reject(trace: Trace) -> Violation | None:
    return reject_invalid(trace)


@law("balanced.seeded")
def seeded(trace: Trace) -> Violation | None:
    """Equal circumstances (epoch, or torch.manual_seed) give equal passes, others do not."""
    require(trace.done)
    judged = False
    for rank in trace:
        first: dict[Any, Pass] = {}
        for found in whole_passes(rank, trace):
            reseed = found.reseed if found.reseed and found.reseed[1] == "torch" else None
            if found.epoch is None and reseed is None:
                continue
            key = found.epoch, reseed, repr(found.overrides)
            known = first.setdefault(key, found)
            judged |= known is not found
            if not known.same(found):
                what = f"epoch {found.epoch}" if reseed is None else f"manual_seed({reseed[0]})"
                saw = f"{what}: {shown(known.values)} and {shown(found.values)}"
                return Violation("not-reproducible", saw, events=rows(known, found))
        stale = _stale([found for found in first.values() if len(set(found.values)) >= ENOUGH])
        if stale is not None:
            return stale
    require(judged)
    return None


def _stale(made: list[Pass]) -> Violation | None:
    """Two passes of one rank that differ in seed or epoch and are the same."""
    for one, other in itertools.combinations(made, 2):
        if one.same(other):
            anomaly = "seed-ignored" if one.overrides != other.overrides else "stale-epoch"
            saw = f"two epochs, or two seeds, have the order {shown(one.values)}"
            return Violation(anomaly, saw, events=rows(one, other))
    return None


@law("balanced.distributed")
def distributed(trace: Trace) -> Violation | None:
    for rank in trace:
        for event in rank.events:
            if event.error is not None and event.error.is_a("ValueError", "RuntimeError"):
                require(not isinstance(event.operation, op.Iterate))  # the wrapper refuses
    for made in rounds(trace):
        total = stated(trace).total
        padded = len(made) * math.ceil(total / len(made))
        bad = _miscount(trace, made, spare=padded - total)
        if bad is not None:
            return Violation("ranks-disagree", bad.saw, events=rows(*made))
        twice = distinct_together(trace, made, padded - total)
        if twice is not None:
            return twice
    return None


def distinct_together(trace: Trace, made: list[Pass], spare: int) -> Violation | None:
    """Over all ranks too, a class with enough members repeats none, padding apart."""
    wanted = stated(trace)
    times = np.bincount(np.concatenate([f.values for f in made]), minlength=len(wanted.classes))
    enough = (wanted.members >= wanted.most)[wanted.classes]
    again = int((np.maximum(times - 1, 0) * enough).sum())
    if again > spare:
        twice = np.flatnonzero((times > 1) & enough)
        return Violation(
            "ranks-disagree", f"over all ranks {shown(twice)} come twice", events=rows(*made)
        )
    return None
