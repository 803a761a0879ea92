"""What the ranks together get of the inner pass: everything, in equal parts, of one pass."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, law, require
from conformance.laws.inner import inner_pass, retyped
from conformance.laws.views import (
    Pass,
    option,
    rounds,
    rows,
    shown,
)  # fmt: skip
from conformance.laws.wrapper.twins import inner_passes, numbered, twins
from conformance.trace import Event, Trace

REFUSALS = ("ValueError", "RuntimeError", "TypeError")
"""How a wrapper may refuse."""


@law("wrapper.cover")
def cover(trace: Trace) -> Violation | None:
    inner, whole = trace.case.argument("sampler"), numbered(trace)
    for made in rounds(whole):
        found = [divided(whole, made, wanted) for wanted in inner_passes(whole, made[0])]
        if all(found):
            return found[0]
        kept = 0 if drops(trace, made) else None
        shares = [] if twins(trace) else [share.items for share in made]
        odd = retyped(inner, *shares, count=kept) if shares else ""
        if odd:
            saw = f"items of type {odd} are not what the inner sampler yielded"
            return Violation("foreign-index", saw, events=rows(*made))
    return None


def divided(trace: Trace, made: list[Pass], wanted: NDArray[np.int64]) -> Violation | None:
    """The ranks together hold the inner multiset, padded or dropped as they should."""
    values = np.concatenate([found.values for found in made])
    pads, cut, width = trace.policies.get("pads"), drops(trace, made), len(made)
    if pads == "sentinel" and not cut:
        if trace.policies["sentinel"] in wanted:
            return None  # padding and items cannot be told apart
        values = values[values != trace.policies["sentinel"]]
    total = len(wanted) // width * width if cut else width * math.ceil(len(wanted) / width)
    if pads in ("none", "sentinel") and not cut:
        total = len(wanted)
    foreign = values[(values < 0) & ~np.isin(values, wanted)]
    if len(foreign):
        return Violation("foreign-index", f"{shown(foreign)}", events=rows(*made))
    known, place = np.unique(np.concatenate([values, wanted]), return_inverse=True)
    have, need = (
        np.bincount(part, minlength=len(known)) for part in np.split(place, [len(values)])
    )
    if not cut and (have < need).any():
        lost = known[have < need]
        saw = f"of the inner pass no rank yields {shown(lost)} often enough"
        return Violation("lost-index", saw, events=rows(*made))
    if (have[need == 0] > 0).any() or (cut and (have > need).any()):
        odd = known[(have > need) if cut else (need == 0) & (have > 0)]
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
        if max(counts) - min(counts) > (uneven and not drops(trace, made)):
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
        found = divided(trace, made, inner_pass(inner, made[0].n))
        if found is not None:
            return found
    return None


@law("wrapper.agree")
def agree(trace: Trace) -> Violation | None:
    require(trace.done and len(trace.ranks) > 1)
    refused = [refusal(rank.events) for rank in trace]
    if all(refused):
        return None
    if any(refused):
        alone = refused.index(next(filter(None, refused)))
        return Violation("ranks-disagree", f"only rank {alone} refused: {refused[alone]}")
    inner = trace.case.argument("sampler")
    for made in rounds(trace):
        found = divided(trace, made, inner_pass(inner, made[0].n))
        if found is not None:
            saw = f"the ranks shard different inner passes: {found.saw}"
            return Violation("ranks-disagree", saw, events=rows(*made))
    return None


def refusal(events: tuple[Event, ...]) -> str:
    """The clear error with which a rank refused, if it did."""
    found = [event.error for event in events if event.error and event.error.is_a(*REFUSALS)]
    return str(found[0]) if found else ""


def drops(trace: Trace, made: list[Pass]) -> bool:
    return bool(option(trace, made[0], "drop_last", False))
