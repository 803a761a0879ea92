"""Laws of `spec/sampler.md` about what an order depends on: seeds, epochs, nothing else."""

from __future__ import annotations

import itertools
from typing import Any

from conformance import operations as op
from conformance.case import Case
from conformance.laws import Violation, law, require
from conformance.laws.comparison import (
    DRAWN,
    GLOBAL,
    circumstances,
    differ,
    differing,
    events,
    touched,
    twins,
)
from conformance.laws.views import Pass, rows, whole_passes
from conformance.recipes import Generator, Raw
from conformance.trace import RankTrace, Trace

READING = (op.Iterate, op.Open, op.Take, op.Drain)
"""What is done with passes; after each the global states are what they were."""


SET = "torch's default dtype or number of threads, is_grad_enabled() or numpy.geterr() changed"


@law("sampler.private-rng")
def private_rng(trace: Trace) -> Violation | None:
    changed = touched(trace, (op.Rebuild, op.SetEpoch, *READING), GLOBAL)
    if changed:
        return Violation("global-rng-written", f"the global state of {changed} changed")
    if _sets(trace):
        return Violation("settings-changed", SET)
    return twins(trace, "global-rng-read", "under other global random states", op.Reseed)


@law("sampler.global-rng")
def global_rng(trace: Trace) -> Violation | None:
    changed = touched(trace, READING, ("numpy", "random"))
    if changed:
        return Violation("foreign-rng-written", f"a pass changed the global state of {changed}")
    if _sets(trace):
        return Violation("settings-changed", SET)
    seeded = [
        found for rank in trace for found in whole_passes(rank, trace)
        if found.reseed and found.reseed[1] == "torch"
    ]  # fmt: skip
    require(len(seeded) > 1)
    known: dict[Any, Pass] = {}
    for found in seeded:
        first = known.setdefault((found.rank, found.reseed), found)
        if not first.same(found):
            saw = differ(first, found, f"after torch.manual_seed({found.reseed[0]})", "again")
            return Violation("foreign-rng-read", saw, events=rows(first))
    return None


def _sets(trace: Trace) -> bool:
    """Whether a `Globals` shows other settings than there were before the construction."""
    return any(
        rank.settings is not None and event.value["settings"] != rank.settings
        for rank in trace for event in rank.events
        if isinstance(event.operation, op.Globals) and event.error is None
    )  # fmt: skip


@law("sampler.same-everywhere")
def same_everywhere(trace: Trace) -> Violation | None:
    require(trace.done)
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    if trace.case.role in DRAWN and not _seeded(trace.case):
        made = [found for found in made if found.reseed]  # else no seed was given
    first: dict[tuple[int, str], Pass] = {}
    compared = False
    for found in made:
        known = first.setdefault((found.ordinal, repr(found.overrides)), found)
        compared |= known is not found
        if not known.same(found):
            here = "in this process" if found.rank == known.rank else "in another process"
            saw = differ(known, found, "one", f"the same arguments {here}")
            return Violation("depends-on-process", saw, differing(known, found), rows(known, found))
    require(compared)
    return None


def _seeded(case: Case) -> bool:
    """Whether a generator or a seed is given."""
    return any(name == "seed" or isinstance(value, Generator) for name, value in case.arguments)


@law("sampler.copyable")
def copyable(trace: Trace) -> Violation | None:
    require(trace.done)
    for _, _, event in events(trace):
        if isinstance(event.operation, op.Copy) and event.error:
            return Violation("not-copyable", f"{event.operation} raised {event.error}")
    return twins(trace, "copy-differs", "after the sampler was replaced by its copy", op.Copy)


@law("sampler.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    judged = False
    for rank in trace:
        first: dict[Any, Pass] = {}
        for found in _fixed(rank, trace):
            known = first.setdefault(circumstances(found), found)
            judged |= known is not found
            if not known.same(found):
                saw = f"epoch {found.epoch}: " + differ(known, found, "first", "later")
                return Violation("epoch-not-fixed", saw, differing(known, found), rows(found))
    require(judged)
    return None


def _fixed(rank: RankTrace, trace: Trace) -> list[Pass]:
    """The whole passes whose epoch is known: of one that advances by itself only the next ones."""
    made = [found for found in whole_passes(rank, trace) if found.epoch is not None]
    advances = trace.policies.get("epochs") == "advance"
    return [found for found in made if not advances or _is_next(rank, found)]


def _is_next(rank: RankTrace, found: Pass) -> bool:
    """Whether a pass came straight after `set_epoch`."""
    before = [event.operation for event in rank.events[: found.event]]
    since = itertools.takewhile(lambda did: not isinstance(did, op.SetEpoch), reversed(before))
    whole = isinstance(rank.events[found.event].operation, op.Iterate)
    return whole and not any(isinstance(did, (op.Iterate, op.Open, op.Take)) for did in since)


SMALL = "integer-like, not numpy.int64"
"""What all epochs of such types have in common."""


@law("sampler.epoch-type")
def epoch_type(trace: Trace) -> Violation | None:
    require(trace.done and trace.ranks[0].events[0].error is None)
    judged = False
    for rank, number, event in events(trace):
        if not isinstance(event.operation, op.SetEpoch) or type(event.operation.epoch) is int:
            continue
        judged = True
        epoch, error = event.operation.epoch, event.error
        fine = isinstance(epoch, Raw)
        about = SMALL if isinstance(epoch, Raw) and epoch.kind != "int64" else repr(epoch)
        if fine and error is not None:
            saw = f"set_epoch({epoch!r}) raised {error}"
            return Violation("epoch-refused", saw, about=about)
        if not fine and error is None:
            return Violation("epoch-accepted", f"set_epoch({epoch!r}) was accepted", about=about)
        later = rank.events[number + 1 :]
        broken = next((e for e in later if e.error and isinstance(e.operation, op.Iterate)), None)
        if fine and broken is not None:
            saw = f"set_epoch({epoch!r}) was accepted, then iteration raised {broken.error}"
            return Violation("epoch-refused", saw, about=about)
    require(judged)
    return set_epoch(trace) if _has_twice_the_same_epoch(trace) else None


def _has_twice_the_same_epoch(trace: Trace) -> bool:
    keys = [
        circumstances(found)
        for found in whole_passes(trace.ranks[0], trace)
        if found.epoch is not None
    ]
    return len(set(keys)) < len(keys)
