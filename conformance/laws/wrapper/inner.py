"""The inner sampler: it is left as it is, its length is not believed, its batches stay whole."""

from __future__ import annotations

import numpy as np

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.comparison import is_digest
from conformance.laws.inner import inner_pass
from conformance.laws.sampler import interleave
from conformance.laws.views import rounds, rows, shown, size, whole_passes
from conformance.laws.wrapper.shares import REFUSALS, divided, drops
from conformance.recipes import Probe, part
from conformance.trace import Items, Trace


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
        short = divided(trace, made, inner_pass(inner, made[0].n))
        cut = drops(trace, made)  # then what is missing shows in the total alone
        if short is not None and (cut or short.anomaly != "wrong-total"):
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
    wanted = [tuple(part(place, inner.at)) for place in range(inner.count)]
    for made in rounds(trace):
        got = [tuple(batch) for found in made for batch in _batches(found.items)]
        if set(got) - set(wanted):
            odd = next(batch for batch in got if batch not in wanted)
            saw = f"{list(odd) if isinstance(odd, tuple) else odd} is no batch of the inner sampler"
            return Violation("batch-broken", saw, events=rows(*made))
        lost = [batch for batch in wanted if batch not in got]
        if lost and not drops(trace, made):
            return Violation("batch-lost", f"no rank yields {list(lost[0])}", events=rows(*made))
    return None


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
