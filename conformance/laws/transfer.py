"""Laws of `spec/transfer.md`: batches in pinned memory, and what became of them.

Most plans make a pass with `pin_memory=True`, build the loader again without it, and make the same
pass: what is delivered is compared as the text that `Describe` gives.
"""

from __future__ import annotations

import itertools
import re

from conformance import loading as lo
from conformance import operations as op
from conformance.datasets import Mapped
from conformance.laws import Violation, law, require
from conformance.laws.loading import (
    about,
    arguments,
    built,
    expected,
    hung,
    of,
    rows,
    runs,
    workers,
)  # fmt: skip
from conformance.trace import Event, RankTrace, Trace

TENSOR = re.compile(r"Tensor\((?:[^()]|\([^()]*\))*\)")  # a complex number has brackets, too
OBJECT = re.compile(r"Pinnable -?\d+(, pinned)?")

ERROR_S = 10.0
"""The bound for an exception to arrive."""

OVERLAP_LEAST = 0.2
"""The share of the shorter of two works that must have run beside the longer."""


def pinning(trace: Trace, accelerators: int) -> RankTrace:
    """The rank of a case that pins; requires that there were accelerators, or that there were none.

    A trace that does not tell what machine it comes from is not judged.
    """
    return pinned_on(built(trace), trace, accelerators)


def pinned_on(rank: RankTrace, trace: Trace, accelerators: int) -> RankTrace:
    """The same of a rank that perhaps hung."""
    require(arguments(trace.case).get("pin_memory"))
    counted = [event.value[0] for event in of(rank, lo.Devices) if event.value is not None]
    require(counted and min(counted[0], 1) == accelerators)
    return rank


def gives(trace: Trace) -> str:
    """What the items are, to tell one violation from another."""
    return str(getattr(arguments(trace.case)["dataset"], "gives", ""))


def compared(rank: RankTrace) -> list[tuple[Event, tuple[str, ...], Event, tuple[str, ...]]]:
    """Passes that pinned and the same ones that did not: the events, and what they delivered."""
    rebuilt = [n for n, event in enumerate(rank.events) if isinstance(event.operation, op.Rebuild)]
    require(len(rebuilt) == 1)
    halves = rank.events[: rebuilt[0]], rank.events[rebuilt[0] + 1 :]
    shown = [_described(half) for half in halves]
    require(shown[0] and len(shown[0]) == len(shown[1]))
    return [(*ours, *theirs) for ours, theirs in zip(*shown, strict=True)]


def _described(events: tuple[Event, ...]) -> list[tuple[Event, tuple[str, ...]]]:
    """Each whole pass with the description that follows it."""
    pairs = itertools.pairwise(events)
    found = [(a, b) for a, b in pairs if isinstance(b.operation, lo.Describe) and b.error is None]
    return [(a, b.value) for a, b in found if isinstance(a.operation, op.Iterate)]


def unpinned(text: str) -> str:
    return text.replace(", pinned)", ")")


@law("transfer.no-accelerator")
def no_accelerator(trace: Trace) -> Violation | None:
    rank, kind = pinning(trace, 0), gives(trace)
    for ours, delivered, theirs, plain in compared(rank):
        require(theirs.error is None)
        if ours.error is not None:
            return Violation("crash", f"raised {ours.error}", about=kind)
        if delivered != plain:
            saw = f"{delivered} and, without pin_memory, {plain}"
            return Violation("changed", saw, about=kind)
        more = list(ours.warnings)
        for text in theirs.warnings:
            if text in more:
                more.remove(text)
        if len(more) > 1:
            saw = f"{len(more)} warnings in one pass, the first: {more[0]}"
            return Violation("warned-again", saw, about=kind)
    return None


@law("transfer.containers")
def containers(trace: Trace) -> Violation | None:
    rank, kind = pinning(trace, 1), gives(trace)
    for ours, delivered, theirs, plain in compared(rank):
        require(theirs.error is None)
        if ours.error is not None:
            return Violation("crash", f"raised {ours.error}", about=kind)
        if [_shape(text) for text in delivered] != [_shape(text) for text in plain]:
            saw = f"{delivered} and, without pin_memory, {plain}"
            return Violation("container-changed", saw, about=kind)
    return None


def _shape(text: str) -> str:
    """A description without what is in the tensors."""
    return TENSOR.sub("Tensor", text)


@law("transfer.values")
def values(trace: Trace) -> Violation | None:
    rank, kind = pinning(trace, 1), gives(trace)
    for ours, delivered, theirs, plain in compared(rank):
        require(ours.error is None and theirs.error is None)
        found = [TENSOR.findall(unpinned(" ".join(texts))) for texts in (delivered, plain)]
        require(found[1])
        if found[0] != found[1]:
            same = sorted(found[0]) == sorted(found[1])
            saw = f"{found[0]} and, without pin_memory, {found[1]}"
            return Violation("out-of-order" if same else "value-changed", saw, about=kind)
    return None


@law("transfer.pinned")
def pinned(trace: Trace) -> Violation | None:
    rank = pinning(trace, 1)
    counted = [event.value for event in of(rank, lo.Pinned) if event.value is not None]
    require(any(count for count, _ in counted))
    for count, left in counted:
        if left:
            saw = f"{len(left)} of {count} tensors are not pinned: {', '.join(left[:4])}"
            return Violation("not-pinned", saw, about=gives(trace))
    return None


@law("transfer.objects")
def objects(trace: Trace) -> Violation | None:
    rank, kind = pinning(trace, 1), gives(trace)
    passes = _described(rank.events)
    require(kind.startswith("pinnable") and passes)
    for event, delivered in passes:
        if event.error is not None:
            return Violation("crash", f"raised {event.error}", about=kind)
        found = [each for text in delivered for each in OBJECT.finditer(text)]
        if not found or not all(each[1] for each in found):
            saw = f"objects that pin themselves were not asked to: {delivered}"
            return Violation("not-asked", saw, about=kind)
    return None


@law("transfer.device")
def device(trace: Trace) -> Violation | None:
    """Items are rows: element, worker, and whether CUDA was in use where it was made."""
    rank = pinning(trace, 1)
    require(gives(trace) == "device")
    first, last = of(rank, lo.Devices)[0].value, of(rank, lo.Contexts)
    for run in runs(rank):
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        require(all(isinstance(row, list) and len(row) == 3 for row in run.items))
        used = [row for row in run.items if row[1] >= 0 and row[2]]
        if used:
            saw = f"worker {used[0][1]} has a context on a device"
            return Violation("context-in-worker", saw, events=rows(rank, run), about="workers")
    require(last and last[-1].value is not None)
    before = set(last[0].value or ()) if len(last) > 1 else set()
    foreign = set(last[-1].value) - before - {first[1]}
    if foreign:
        saw = f"device {first[1]} is current, and there are contexts on {sorted(last[-1].value)}"
        return Violation("context-elsewhere", saw, about="devices")
    require(first[0] > 1 or workers(trace.case))
    return None


@law("transfer.error")
def error(trace: Trace) -> Violation | None:
    data = arguments(trace.case)["dataset"]
    require(isinstance(data, Mapped) and [f.what for f in data.faults] == ["unpinnable"])
    require(trace.done and len(trace.ranks) == 1 and trace.ranks[0].events[0].error is None)
    rank = pinned_on(trace.ranks[0], trace, 1)
    if hung(rank):
        return Violation("hang", f"{rank.events[-1].error}", about=about(trace.case))
    for run in runs(rank):
        if not run.errors and (run.finished or len(run.items) > data.faults[0].at):
            saw = f"{run.items} came, and no exception"
            return Violation("error-lost", saw, events=rows(rank, run), about=about(trace.case))
    require(any(run.errors for run in runs(rank)))
    slow = [event for event in rank.events if event.error and event.seconds > ERROR_S]
    if slow:
        return Violation("late-error", f"after {slow[0].seconds} s", about=about(trace.case))
    return None


@law("transfer.persistent")
def persistent(trace: Trace) -> Violation | None:
    rank = pinning(trace, 1)
    require(workers(trace.case) and arguments(trace.case).get("persistent_workers"))
    require(not of(rank, op.Rebuild) and expected(trace.case) is not None)
    passes = _described(rank.events)
    require(len(passes) > 1 and passes[0][0].error is None)
    for number, (event, delivered) in enumerate(passes):
        if event.error is not None:
            return Violation("crash", f"pass {number} raised {event.error}")
        if delivered != passes[0][1]:
            saw = f"pass {number} gave {delivered}, the first {passes[0][1]}"
            return Violation("another-pass", saw)
    return None


@law("transfer.staging")
def staging(trace: Trace) -> Violation | None:
    rank, wanted = pinning(trace, 1), expected(trace.case)
    require(gives(trace) == "large" and wanted is not None)
    carried = [event for event in of(rank, lo.Carry) if event.error is None]
    require(carried)
    for event in carried:
        for place, (least, most) in enumerate(event.value):
            number = (wanted or [])[place] if place < len(wanted or []) else -1
            if (least, most) != (number, number):
                saw = f"the copy of batch {place} holds {least} to {most}, not {number}"
                return Violation("overwritten", saw)
    return None


@law("transfer.overlap")
def overlap(trace: Trace) -> Violation | None:
    rank = pinning(trace, 1)
    timed = [event.value for event in of(rank, lo.Overlap) if event.value]
    require(timed)
    for found in timed:
        hidden = found["copy"] + found["compute"] - found["both"]
        if hidden < OVERLAP_LEAST * min(found["copy"], found["compute"]):
            saw = (
                f"copy {found['copy']} ms, computation {found['compute']} ms,"
                f" together {found['both']} ms"
            )
            return Violation("late-copy", saw)
    return None
