"""The law of `spec/sampler.md` about a dataset that has another length than at construction."""

from __future__ import annotations

import numpy as np

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.comparison import events, row
from conformance.laws.tails import ALPHA
from conformance.laws.views import Pass, option, rounds, rows, shown, size, whole_passes
from conformance.trace import RankTrace, Trace

CLEAR = ("ValueError", "RuntimeError", "TypeError")


@law("sampler.resize")
def resize(trace: Trace) -> Violation | None:
    require(trace.done)
    resized = refused = False
    for rank, number, event in events(trace):
        resized |= isinstance(event.operation, op.Resize)
        if event.error is not None and not _never_opened(rank, number):
            refused = True
            require(resized)
            if not event.error.is_a(*CLEAR):
                saw = f"after the resize {event.operation} raised {event.error}"
                return Violation(
                    "resize-crash", saw, events=row(rank, number), about=event.error.kind
                )
    changed = [made for made in _finished(trace, refused) if made[0].n != size(trace)]
    require(changed or refused)
    found = (_stale(trace, made) for made in changed)
    return next((stale for stale in found if stale is not None), None)


def _finished(trace: Trace, refused: bool) -> list[list[Pass]]:
    """The passes that were not refused, as far as all ranks made the same ones."""
    if refused and len({len(whole_passes(rank, trace)) for rank in trace}) > 1:
        return []
    if refused and not any(whole_passes(rank, trace) for rank in trace):
        return []
    return [made for made in rounds(trace) if len({found.n for found in made}) == 1]


def _stale(trace: Trace, made: list[Pass]) -> Violation | None:
    """Whether a round does not fit the length that the dataset has now."""
    if _draws_some(trace):
        return next(filter(None, (_stale_draws(trace, found) for found in made)), None)
    n = made[0].n
    values = np.concatenate([found.values for found in made])
    got = np.unique(values)
    if trace.policies.get("pads") == "sentinel":
        got = got[got != trace.policies["sentinel"]]
    drops = bool(option(trace, made[0], "drop_last", False))
    count = _stated_total(trace, n, drops)
    whole = np.isin(got, np.arange(n)).all() and len(got) == (count if drops else n)
    if not whole:
        saw = f"n went from {size(trace)} to {n}; the pass has {shown(got)}"
        return Violation("stale-size", saw, events=rows(*made))
    if len(values) != count:
        saw = f"n went from {size(trace)} to {n}; the ranks still make {len(values)} items"
        return Violation("stale-size", saw, events=rows(*made))
    return None


def _draws_some(trace: Trace) -> bool:
    """Whether a pass is not all of the dataset, each item once."""
    return trace.case.argument("num_samples") is not None or trace.case.argument("replacement")


def _stale_draws(trace: Trace, found: Pass) -> Violation | None:
    """As many draws as stated, in range, each block a permutation or, in the long run, from all."""
    n, values = found.n, found.values
    count = trace.case.argument("num_samples")
    saw = f"n went from {size(trace)} to {n}; the pass has {shown(values)}"
    stale = Violation("stale-size", saw, events=rows(found))
    inside = bool(((values >= 0) & (values < n)).all())
    if not inside or len(values) != (n if count is None else count):
        return stale
    if trace.case.argument("replacement"):
        # P(max <= m) is exactly this; a thousand such looks spend ALPHA together
        return stale if ((values.max() + 1) / n) ** len(values) < ALPHA / 1000 else None
    often = np.bincount(values, minlength=n)
    return stale if often.max() - often.min() > 1 else None


def _never_opened(rank: RankTrace, number: int) -> bool:
    """Whether an event reads an iterator whose opening was refused."""
    did = rank.events[number].operation
    if not isinstance(did, (op.Take, op.Drain)):
        return False
    before = [e for e in rank.events[:number] if isinstance(e.operation, op.Open)]
    opened = [e for e in before if e.operation == op.Open(did.name)]
    return bool(opened and opened[-1].error)


def _stated_total(trace: Trace, n: int, drops: bool) -> int:
    """The items of all ranks over n: padded or cut by a distributed role, repeated by another."""
    width = trace.case.world_size
    if trace.case.role != "DistributedSampler":
        return n * width
    if drops:
        return n // width * width
    return n if trace.policies.get("pads") == "none" else -(-n // width) * width
