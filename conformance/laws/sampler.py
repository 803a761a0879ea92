"""Laws of `spec/sampler.md`: the protocol that every sampler obeys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance import operations as op
from conformance.laws import Mark, Violation, law, require
from conformance.laws.views import Pass, passes, rounds, rows, shown, size, whole_passes
from conformance.recipes import Probe, Raw, Values
from conformance.trace import Error, Event, RankTrace, Trace

OUTPUT_BYTES = 1 << 20
REFUSALS = ("ValueError", "TypeError")


@law("sampler.works")
def works(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank, number, event in _events(trace):
        if event.error and not (isinstance(event.operation, op.Len) and event.error.is_a("TypeError")):
            did = event.operation or "the construction"
            saw = f"rank {rank.rank}: {did} raised {event.error} ({event.error.where})"
            return Violation("crash", saw, events=_row(rank, number), about=event.error.kind)
    return None


@law("sampler.returns")
def returns(trace: Trace) -> Violation | None:
    fates = {rank.rank: rank.fate for rank in trace if rank.fate != "done"}
    if not fates:
        return None
    told = "; ".join(f"rank {rank}: {fate}" for rank, fate in fates.items())
    if "out of step" in fates.values():
        counts = [rank.collectives for rank in trace]
        return Violation("ranks-out-of-step", f"collectives that each rank took part in: {counts}")
    died = [fate for fate in fates.values() if fate != "stuck"]
    return Violation("rank-died" if died else "rank-stuck", told)


@law("sampler.quiet")
def quiet(trace: Trace) -> Violation | None:
    printed = max(rank.printed for rank in trace)
    if printed < OUTPUT_BYTES:
        return None
    return Violation("output-flood", f"{printed:,} bytes were printed")


@law("sampler.ends")
def ends(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace)]
    require(made)
    for found in made:
        if found.items.cut:
            saw = f"a pass was cut off after {len(found.items)} items"
            return Violation("endless", saw, events=rows(found))
        if found.items.extra:
            saw = f"after StopIteration the iterator gave {found.items.extra} more items"
            return Violation("not-exhausted", saw, events=rows(found))
    return None


@law("sampler.length")
def length(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        for number, declared, error, found in _lengths(rank, trace):
            judged = True
            if error is not None and not error.is_a("TypeError"):
                saw = f"rank {rank.rank}: len raised {error}"
                return Violation("length-raises", saw, events=_row(rank, number))
            if error is None and found is not None and declared != len(found.items):
                saw = f"rank {rank.rank}: len is {declared}, the pass yields {len(found.items)}"
                return Violation("wrong-length", saw, events=rows(found))
    require(judged)
    return None


def _lengths(
    rank: RankTrace, trace: Trace
) -> Iterator[tuple[int, Any, Error | None, Pass | None]]:
    """Each `Len` with the first whole pass that began after it in the same circumstances."""
    ended = {found.event: found for found in whole_passes(rank, trace)}
    for number, event in enumerate(rank.events):
        if isinstance(event.operation, op.Len):
            found = None
            for later in range(number + 1, len(rank.events)):
                did = rank.events[later].operation
                if isinstance(did, (op.SetEpoch, op.Rebuild, op.Resize, op.Overwrite)):
                    break
                if isinstance(did, op.Iterate) and later in ended:
                    found = ended[later]
                    break
            if found is not None or event.error is not None:
                yield number, event.value, event.error, found


@law("sampler.length-silent")
def length_silent(trace: Trace) -> Violation | None:
    touched = _touched(trace, op.Len, everything=True)
    if touched:
        return Violation("length-draws", f"len changed the state of {touched}")
    return _twins(trace, "length-changes-order", "after len was called")


@law("sampler.restart")
def restart(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        made = [found for found in passes(rank, trace) if found.error is None]
        for first, second in zip(made, made[1:], strict=False):
            if first.build != second.build or first.n != second.n or first.items.cut:
                continue
            judged = True
            if len(first.items) != len(second.items):
                saw = (
                    f"rank {rank.rank}: pass {first.ordinal + 1} has {len(first.items)} items, "
                    f"pass {second.ordinal + 1} has {len(second.items)}"
                )
                return Violation("no-restart", saw, events=rows(second))
    require(judged)
    return None


@law("sampler.interleave")
def interleave(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        made = whole_passes(rank, trace)
        for found in (found for found in made if not found.alone):
            undisturbed = [p for p in made if p.alone and _key(p) == _key(found)]
            for other in undisturbed[:1]:
                judged = True
                if not found.same(other):
                    saw = _differ(other, found, "alone", "interleaved with another iterator")
                    return Violation("iterators-entangled", saw, _marks(other, found), rows(found))
    require(judged)
    return None


@law("sampler.interleave-generator")
def interleave_generator(trace: Trace) -> Violation | None:
    require(any(not p.alone for rank in trace for p in whole_passes(rank, trace)))
    return _twins(trace, "iterators-entangled", "interleaved with another iterator")


@law("sampler.idle-iter")
def idle_iter(trace: Trace) -> Violation | None:
    touched = _touched(trace, op.Open, everything=True)
    if touched:
        return Violation("iter-draws", f"iter() alone changed the state of {touched}")
    return _twins(trace, "iter-changes-order", "after an iterator was opened and not used")


@law("sampler.index")
def index(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace) if len(found.values)]
    require(made)
    for found in made:
        foreign = [kind for kind in found.items.kinds if not _whole(kind)]
        if found.items.unreadable or foreign:
            what = found.items.unreadable[:1] or foreign
            saw = f"rank {found.rank} yields {what[0]} (of type {', '.join(foreign)})"
            return Violation("not-an-index", saw, events=rows(found), about=", ".join(foreign))
        bad = np.flatnonzero(_outside(trace, found))
        if len(bad):
            saw = f"rank {found.rank} yields {shown(found.values[bad])} of n = {found.n}"
            marks = tuple(Mark(found.rank, found.event, int(b), "out-of-range") for b in bad[:50])
            return Violation("out-of-range", saw, marks, rows(found))
    return None


def _outside(trace: Trace, found: Pass) -> Any:
    """Which items are no index of the data; a declared sentinel is none, but allowed."""
    values = found.values
    given = trace.case.argument("indices")
    if isinstance(given, Values):
        return ~np.isin(values, np.array(given.items, dtype=np.int64))
    outside = (values < 0) | (values >= found.n)
    if trace.policies.get("pads") == "sentinel":
        outside &= values != trace.policies["sentinel"]
    return outside


def _whole(kind: str) -> bool:
    return kind == "int" or kind.startswith(("numpy.int", "numpy.uint"))


@law("sampler.index-int")
def index_int(trace: Trace) -> Violation | None:
    made = [found for rank in trace for found in passes(rank, trace) if len(found.values)]
    require(made)
    for found in made:
        foreign = [kind for kind in found.items.kinds if kind != "int"]
        if foreign:
            saw = f"rank {found.rank} yields {', '.join(foreign)}"
            return Violation("not-an-int", saw, events=rows(found), about=", ".join(foreign))
    return None


@law("sampler.arguments")
def arguments(trace: Trace) -> Violation | None:
    digests = [[e.value for e in rank.events if isinstance(e.operation, op.Arguments)] for rank in trace]
    require(any(len(seen) > 1 for seen in digests))
    changed = [rank for rank, seen in enumerate(digests) if len(set(seen)) > 1]
    if changed:
        return Violation("arguments-mutated", f"rank {changed[0]}: the caller's sequences changed")
    return None


@law("sampler.arguments-copied")
def arguments_copied(trace: Trace) -> Violation | None:
    return _twins(trace, "arguments-aliased", "after the caller overwrote the sequence it passed")


@law("sampler.private-rng")
def private_rng(trace: Trace) -> Violation | None:
    touched = _touched(trace, (op.Iterate, op.Rebuild, op.SetEpoch), everything=False)
    if touched:
        return Violation("global-rng-written", f"the global state of {touched} changed")
    return _twins(trace, "global-rng-read", "under other global random states")


@law("sampler.global-rng")
def global_rng(trace: Trace) -> Violation | None:
    touched = _touched(trace, op.Iterate, everything=False, sources=("numpy", "random"))
    if touched:
        return Violation("foreign-rng-written", f"a pass changed the global state of {touched}")
    seeded = [
        found for rank in trace for found in whole_passes(rank, trace)
        if found.reseed and found.reseed[1] == "torch"
    ]  # fmt: skip
    require(len(seeded) > 1)
    for first, second in zip(seeded, seeded[1:], strict=False):
        if first.rank == second.rank and first.reseed == second.reseed and not first.same(second):
            saw = _differ(first, second, f"after torch.manual_seed({first.reseed[0]})", "again")
            return Violation("foreign-rng-read", saw, events=rows(first))
    return None


@law("sampler.same-everywhere")
def same_everywhere(trace: Trace) -> Violation | None:
    require(trace.done)
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    first = {}
    compared = False
    for found in made:
        known = first.setdefault(found.ordinal, found)
        compared |= known is not found
        if not known.same(found):
            here = "in this process" if found.rank == known.rank else "in another process"
            saw = _differ(known, found, "one", f"the same arguments {here}")
            return Violation("depends-on-process", saw, _marks(known, found), rows(known, found))
    require(compared)
    return None


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


@law("sampler.reject-names")
def reject_names(trace: Trace) -> Violation | None:
    require(trace.done)
    name, value = trace.case.arguments[-1]
    error = trace.ranks[0].events[0].error
    require(error is not None and error.is_a(*REFUSALS))
    if error is not None and name not in error.message:
        about = f"{name}={value!r}"
        return Violation("blames-another", f"{about} raised {error}", about=about)
    return None


@law("sampler.integer-like")
def integer_like(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        if rank.events[0].error is not None:
            if not rank.events[0].error.is_a(*REFUSALS):
                return Violation("wrong-exception", f"construction raised {rank.events[0].error}")
            continue
        for event in rank.events:
            if event.error:
                did = f"{event.operation} then raised {event.error}"
                return Violation("accepted-then-crashes", f"numpy.int64 was accepted; {did}")
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    for first, second in zip(made, made[1:], strict=False):
        if first.rank == second.rank and not first.same(second):
            saw = _differ(second, first, "with int", "with numpy.int64")
            return Violation("integer-like-differs", saw, events=rows(first))
    return None


@law("sampler.empty")
def empty(trace: Trace) -> Violation | None:
    require(trace.done and size(trace) == 0)
    for rank, number, event in _events(trace):
        if event.error:
            did = event.operation or "the construction"
            return Violation("empty-raises", f"n = 0: {did} raised {event.error}")
        yielded = len(event.value) if isinstance(event.operation, op.Iterate) else event.value
        if isinstance(event.operation, (op.Iterate, op.Len)) and yielded != 0:
            return Violation("empty-yields", f"n = 0: {yielded} items", events=_row(rank, number))
    return None


@law("sampler.resize")
def resize(trace: Trace) -> Violation | None:
    require(trace.done)
    clear = ("ValueError", "RuntimeError", "TypeError")
    raised = False
    for rank, number, event in _events(trace):
        if event.error is not None:
            raised = True
            if not event.error.is_a(*clear):
                saw = f"after the resize {event.operation} raised {event.error}"
                return Violation("resize-crash", saw, events=_row(rank, number), about=event.error.kind)
    if raised:
        return None
    changed = [made for made in rounds(trace) if made[0].n != size(trace)]
    require(changed)
    for made in changed:
        got = np.unique(np.concatenate([found.values for found in made]))
        if not np.array_equal(got, np.arange(made[0].n)):
            saw = f"the dataset went from {size(trace)} to {made[0].n} items; the pass has {shown(got)}"
            return Violation("stale-size", saw, events=rows(*made))
    return None


@law("sampler.error-through")
def error_through(trace: Trace) -> Violation | None:
    require(trace.done)
    probe = dict(trace.case.arguments)["sampler"]
    require(isinstance(probe, Probe) and probe.at < probe.count)
    expected = f"('planned', {probe.at})"
    for rank in trace:
        for number, event in enumerate(rank.events[1:], start=1):
            if event.error is None:
                saw = f"rank {rank.rank}: the inner sampler raised Planned{expected}; {event.operation} did not"
                return Violation("error-lost", saw, events=_row(rank, number))
            if event.error.kind != "Planned" or event.error.message != expected:
                saw = f"rank {rank.rank}: the inner sampler raised Planned{expected}, the caller got {event.error}"
                return Violation("error-changed", saw, events=_row(rank, number))
            if trace.case.role == "BatchSampler" and event.value is not None:
                size_ = int(trace.case.argument("batch_size"))
                wanted = np.arange(probe.at // size_ * size_)
                if not np.array_equal(event.value.values, wanted):
                    saw = f"before the error came {shown(event.value.values)}, not {shown(wanted)}"
                    return Violation("items-lost", saw, events=_row(rank, number))
    return None


@law("sampler.copyable")
def copyable(trace: Trace) -> Violation | None:
    require(trace.done)
    for _, _, event in _events(trace):
        if isinstance(event.operation, op.Copy) and event.error:
            return Violation("not-copyable", f"{event.operation} raised {event.error}")
    return _twins(trace, "copy-differs", "after the sampler was replaced by its copy")


@law("sampler.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        first: dict[Any, Pass] = {}
        for found in whole_passes(rank, trace):
            if found.epoch is None:
                continue
            known = first.setdefault(_key(found), found)
            judged |= known is not found
            if not known.same(found):
                saw = f"epoch {found.epoch}: " + _differ(known, found, "first", "later")
                return Violation("epoch-not-fixed", saw, _marks(known, found), rows(found))
    require(judged)
    return None


@law("sampler.epoch-type")
def epoch_type(trace: Trace) -> Violation | None:
    require(trace.done and trace.ranks[0].events[0].error is None)
    judged = False
    for rank, number, event in _events(trace):
        if not isinstance(event.operation, op.SetEpoch) or type(event.operation.epoch) is int:
            continue
        judged = True
        epoch, error = event.operation.epoch, event.error
        fine = isinstance(epoch, Raw) and epoch.kind == "int64"
        if fine and error is not None:
            saw = f"set_epoch({epoch.value} as numpy.int64) raised {error}"  # type: ignore[attr-defined]
            return Violation("epoch-refused", saw, about=repr(epoch))
        if not fine and error is None:
            return Violation("epoch-accepted", f"set_epoch({epoch!r}) was accepted", about=repr(epoch))
        if not fine and error is not None and not error.is_a(*REFUSALS):
            return Violation("wrong-exception", f"set_epoch({epoch!r}) raised {error}", about=repr(epoch))
        later = rank.events[number + 1 :]
        broken = next((e for e in later if e.error and isinstance(e.operation, op.Iterate)), None)
        if fine and broken is not None:
            saw = f"set_epoch({epoch.value} as numpy.int64) was accepted, then iteration raised {broken.error}"  # type: ignore[attr-defined]
            return Violation("epoch-refused", saw, about=repr(epoch))
    require(judged)
    return set_epoch(trace) if _has_twice_the_same_epoch(trace) else None


def _has_twice_the_same_epoch(trace: Trace) -> bool:
    keys = [_key(found) for found in whole_passes(trace.ranks[0], trace) if found.epoch is not None]
    return len(set(keys)) < len(keys)


# What the laws above share.


def _events(trace: Trace) -> Iterator[tuple[RankTrace, int, Event]]:
    for rank in trace:
        for number, event in enumerate(rank.events):
            yield rank, number, event


def _row(rank: RankTrace, number: int) -> tuple[tuple[int, int], ...]:
    return ((rank.rank, number),)


def _key(found: Pass) -> Any:
    """The circumstances that fix the order of a sampler whose order is f(seed, epoch)."""
    return found.epoch, found.n, repr(found.overrides)


def _differ(first: Pass, second: Pass, one: str, other: str) -> str:
    return (
        f"rank {second.rank}: {one}: {shown(first.values)}; {other}: {shown(second.values)}"
    )


def _marks(wanted: Pass, found: Pass) -> tuple[Mark, ...]:
    """The places at which a pass differs from the one that it should equal."""
    width = min(len(wanted.values), len(found.values))
    bad = np.flatnonzero(wanted.values[:width] != found.values[:width])
    return tuple(Mark(found.rank, found.event, int(place), "wrong") for place in bad[:50])


def _twins(trace: Trace, anomaly: str, condition: str) -> Violation | None:
    """The k-th whole pass of each construction must equal the k-th of the first construction."""
    require(trace.done)
    compared = False
    for rank in trace:
        first: dict[int, Pass] = {}
        for found in whole_passes(rank, trace):
            wanted = first.setdefault(found.ordinal, found)
            if wanted.build == found.build:
                continue
            compared = True
            if not wanted.same(found):
                saw = _differ(wanted, found, "before", condition)
                return Violation(anomaly, saw, _marks(wanted, found), rows(found))
    require(compared)
    return None


def _touched(
    trace: Trace, operations: Any, everything: bool, sources: tuple[str, ...] | None = None
) -> str:
    """The first state that changed between two neighbouring `Globals` around such operations.

    everything: the caller's generator counts too, not the global states alone.
    """
    for rank in trace:
        last, between = None, True
        for event in rank.events:
            if isinstance(event.operation, op.Globals) and isinstance(event.value, dict):
                for source, state in event.value.items() if last and between else ():
                    watched = sources is None or source in sources
                    if source == "generator" and not everything:
                        watched = False
                    if watched and last.get(source) != state:
                        return "the caller's generator" if source == "generator" else source
                last, between = event.value, True
            elif not isinstance(event.operation, operations):
                between = False
    return ""


