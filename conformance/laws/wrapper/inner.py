"""The inner sampler: it is left as it is, its length is not believed, its batches stay whole."""

from __future__ import annotations

import numpy as np

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.comparison import events, is_digest, row
from conformance.laws.inner import inner_pass
from conformance.laws.sampler import interleave
from conformance.laws.views import rounds, rows, shown, whole_passes
from conformance.laws.wrapper.shares import REFUSALS, divided, drops
from conformance.laws.wrapper.twins import (
    batches_of,
    inner_passes,
    listed,
    numbered,
    told,
    twins,
)  # fmt: skip
from conformance.recipes import Probe
from conformance.trace import Trace

ACCIDENTS = (
    "AssertionError", "AttributeError", "IndexError", "KeyError", "NameError", "StopIteration",
    "ZeroDivisionError",
)  # fmt: skip
"""Exceptions that nobody raises to refuse something."""


@law("wrapper.length-lie")
def length_lie(trace: Trace) -> Violation | None:
    require(trace.done)
    inner = trace.case.argument("sampler")
    errors = [[event.error for event in rank.events if event.error] for rank in trace]
    about = f"len {inner.at}" if inner.name == "Lying" else "no len"
    said = f"{about}, {inner.count} items"
    for rank, found in enumerate(errors):
        for error in found:
            if error.is_a(*ACCIDENTS):
                return Violation("length-lie-crash", f"{said}: rank {rank} raised {error}")
    if all(errors):
        if inner.name == "Unsized" and trace.ranks[0].events[0].error is None:
            saw = f"{said}: it was wrapped, and then raised {errors[0][0]}"
            return Violation("unsized-refused", saw)
        return None
    if any(errors):
        raised = [rank for rank, found in enumerate(errors) if found]
        return Violation("ranks-disagree", f"{said}: only the ranks {raised} raised an error")
    for made in rounds(trace):
        short = divided(trace, made, inner_pass(inner, made[0].n))
        cut = drops(trace, made)  # then what is missing shows in the total alone
        if short is not None and (cut or short.anomaly != "wrong-total"):
            return Violation("silent-truncation", f"{said}: {short.saw}", events=rows(*made))
    return None


@law("wrapper.inner-untouched")
def inner_untouched(trace: Trace) -> Violation | None:
    """The wrapper twice around one sampler: what was passed stays, and gives its own pass."""
    require(trace.done)
    trace = numbered(trace)
    for rank in trace:
        digests = [event.value for event in rank.events if is_digest(event)]
        if any(handed_over != now for handed_over, now in digests):
            return Violation("inner-mutated", f"rank {rank.rank}: the inner sequence was changed")
        own = [event.value for event in rank.events if isinstance(event.operation, op.Inner)]
        made = whole_passes(rank, trace)
        for items in own if made else []:
            may = inner_passes(trace, made[0])
            if not any(np.array_equal(items.values, wanted) for wanted in may):
                saw = f"rank {rank.rank}: afterwards the inner sampler yields {shown(items.values)}"
                return Violation("inner-mutated", f"{saw} and not {shown(may[0])}")
    if any(not found.alone for rank in trace for found in whole_passes(rank, trace)):
        return interleave(trace)
    asked = (op.Arguments, op.Inner)
    require(any(isinstance(e.operation, asked) for rank in trace for e in rank.events))
    return None


@law("wrapper.batches")
def batches(trace: Trace) -> Violation | None:
    """Around a batch sampler: the batches of all ranks are the inner ones, each whole."""
    whole, named = numbered(trace), batches_of(trace)
    require(named)
    if isinstance(trace.case.argument("sampler"), Probe):
        for rank, number, event in events(trace):
            if isinstance(event.operation, op.Iterate) and event.error is not None:
                saw = f"rank {rank.rank}: a pass over batches raised {event.error}"
                return Violation("crash", saw, events=row(rank, number), about=event.error.kind)
    for made, parts in zip(rounds(whole), rounds(trace), strict=True):
        broken = [b for found in parts for b in listed(found.items) if b not in named]
        if broken:
            odd = list(broken[0]) if broken[0][:1] != (-1,) else broken[0][1]
            saw = f"{odd} is no batch of the inner sampler"
            return Violation("batch-broken", saw, events=rows(*made))
        got = np.concatenate([found.values for found in made])
        lost = [np.setdiff1d(wanted, got) for wanted in inner_passes(whole, made[0])]
        if all(len(one) for one in lost) and not drops(trace, made):
            saw = f"no rank yields {told(trace, lost[0][:1])}"
            return Violation("batch-lost", saw, events=rows(*made))
        odd_kinds = {kind for found in parts for kind in found.items.containers} - _kinds(trace)
        if odd_kinds:
            saw = f"a batch of type {min(odd_kinds)} is none of the inner sampler's"
            return Violation("batch-broken", saw, events=rows(*made))
    return None


def _kinds(trace: Trace) -> set[str]:
    """The types of the inner sampler's batches."""
    return {kind for items in twins(trace) for kind in items.containers} or {"list"}


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
