"""Laws of `spec/sampler.md` about arguments: refused when wrong, left alone when right."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.comparison import (
    differ,
    events,
    is_allowed,
    is_digest,
    row,
    twins,
)
from conformance.laws.views import rows, shown, size, whole_passes
from conformance.recipes import Probe
from conformance.trace import Event, RankTrace, Trace

REFUSALS = ("ValueError", "TypeError")


@law("sampler.arguments")
def arguments(trace: Trace) -> Violation | None:
    told = [told for rank in trace for told in _told(rank)]
    seen = [(rank.rank, e.value) for rank, _, e in events(trace) if is_digest(e)]
    require(seen or told)
    if any(told) and trace.policies.get("epochs") != "advance":
        saw = (
            f"a pass told the inner sampler {next(filter(None, told))}, with no set_epoch before it"
        )
        return Violation("inner-told", saw)
    changed = [rank for rank, (handed_over, now) in seen if handed_over != now]
    if changed:
        return Violation("arguments-mutated", f"rank {changed[0]}: the caller's sequences changed")
    return None


def _told(rank: RankTrace) -> Iterator[list[int]]:
    """Epochs that an inner sampler was told in passes before which nobody had called set_epoch."""
    looks = [n for n, event in enumerate(rank.events) if isinstance(event.operation, op.Inspect)]
    for one, other in itertools.pairwise(looks):
        between = [event.operation for event in rank.events[one + 1 : other]]
        before, after = (rank.events[n].value for n in (one, other))
        if between and all(isinstance(did, op.Iterate) for did in between) and before and after:
            yield after.get("epochs", [])[len(before.get("epochs", [])) :]


@law("sampler.arguments-copied")
def arguments_copied(trace: Trace) -> Violation | None:
    condition = "after the caller overwrote the sequence it passed"
    return twins(trace, "arguments-aliased", condition, op.Overwrite)


@law("sampler.reject")
def reject(trace: Trace) -> Violation | None:
    """The last argument of the case is the invalid one."""
    require(trace.done)
    name, value = trace.case.arguments[-1]
    about = f"{name}={value!r}"
    for rank in trace:
        error = rank.events[0].error
        if error is None:
            return Violation("accepted", f"rank {rank.rank}: {about} was accepted", about=about)
        if not error.is_a(*REFUSALS):
            saw = f"rank {rank.rank}: {about} raised {error}"
            return Violation("wrong-exception", saw, about=about)
    return None


@law("sampler.flags")
def flags(trace: Trace) -> Violation | None:
    return reject(trace)


@law("sampler.reject-names")
def reject_names(trace: Trace) -> Violation | None:
    require(trace.done)
    name, value = trace.case.arguments[-1]
    error = trace.ranks[0].events[0].error
    require(error is not None and error.is_a(*REFUSALS))
    called = trace.names.get(name, name)
    if error is not None and called not in error.message and name not in error.message:
        about = f"{name}={value!r}"
        return Violation("blames-another", f"{about} raised {error}", about=about)
    return None


@law("sampler.integer-like")
def integer_like(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        if rank.events[0].error is not None:
            # A small type that overflows while the sampler is built has been refused, if by chance.
            if not rank.events[0].error.is_a(*REFUSALS, "OverflowError"):
                return Violation("wrong-exception", f"construction raised {rank.events[0].error}")
            continue
        for event in rank.events:
            if event.error and not is_allowed(event):
                did = f"{event.operation} then raised {event.error}"
                what = f"an integer-like {trace.case.arguments[-1][0]}"
                return Violation("accepted-then-crashes", f"{what} was accepted; {did}")
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    for first, second in itertools.pairwise(made):
        if first.rank == second.rank and not first.same(second):
            saw = differ(second, first, "with int", "with the equal integer-like")
            return Violation("integer-like-differs", saw, events=rows(first))
    return _other_length(trace)


def _other_length(trace: Trace) -> Violation | None:
    """All lengths of a rank are of the same arguments, given in two ways."""
    for rank in trace:
        told = [e.value for e in rank.events if isinstance(e.operation, op.Len) and not e.error]
        if len(set(told)) > 1:
            saw = f"rank {rank.rank}: len is {told[0]}, and {told[-1]} with the equal int"
            return Violation("integer-like-differs", saw)
    return None


@law("sampler.empty")
def empty(trace: Trace) -> Violation | None:
    require(trace.done and size(trace) == 0)
    for rank, number, event in events(trace):
        if event.error and is_allowed(event):
            continue
        if event.error:
            did = event.operation or "the construction"
            return Violation("empty-raises", f"n = 0: {did} raised {event.error}")
        yielded = len(event.value) if isinstance(event.operation, op.Iterate) else event.value
        if isinstance(event.operation, (op.Iterate, op.Len)) and yielded != 0:
            return Violation("empty-yields", f"n = 0: {yielded} items", events=row(rank, number))
    return None


@law("sampler.error-through")
def error_through(trace: Trace) -> Violation | None:
    require(trace.done)
    first = dict(trace.case.arguments)["sampler"]
    require(isinstance(first, Probe) and first.at < first.count)
    for rank in trace:
        probe = first
        for number, event in enumerate(rank.events[1:], start=1):
            if isinstance(event.operation, op.Rebuild):
                given = dict(event.operation.overrides).get("sampler", first)
                probe = given if isinstance(given, Probe) else first
                continue
            found = _not_through(trace, probe, event)
            if found is not None:
                return replace(found, events=row(rank, number))
    return None


def _not_through(trace: Trace, probe: Probe, event: Event) -> Violation | None:
    """Whether the inner sampler's exception, or what came before it, was lost in a pass."""
    kind, message = LEAKED.get(probe.what, (probe.what or "Planned", _message(probe)))
    if event.error is None:
        saw = f"the inner sampler raised {kind}: {message}; {event.operation} did not"
        return Violation("error-lost", saw)
    if event.error.kind != kind or event.error.message != message:
        saw = f"instead of {kind}: {message} the caller got {event.error}"
        return Violation("error-changed", saw)
    behind = any(error.is_a("StopIteration") for error in event.error.behind)
    if probe.what in LEAKED and not behind and len(trace.ranks) == 1:
        saw = f"{kind}: {message} came without the StopIteration that it was raised from"
        return Violation("cause-lost", saw)
    if trace.case.role == "BatchSampler" and event.value is not None:
        size_ = int(trace.case.argument("batch_size"))
        wanted, got_ = np.arange(probe.at // size_ * size_), event.value.values
        whole = len(wanted) <= len(got_) <= probe.at  # an incomplete batch may come or not
        if not whole or not np.array_equal(got_, np.arange(len(got_))):
            saw = f"before the error came {shown(got_)}, not {shown(wanted)}"
            return Violation("items-lost", saw)
    return None


LEAKED = {"Leaked": ("RuntimeError", "generator raised StopIteration")}
"""What the caller sees of a StopIteration that a generator did not catch."""


def _message(probe: Probe) -> str:
    """The text of what the probe raises."""
    return str(getattr(builtins, probe.what, Exception)("planned", probe.at))
