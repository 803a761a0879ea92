"""What the inner sampler gives by itself: as the case tells, or as its twin has shown.

A batch is one item here: it is told by its number, and equal batches have one number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import require
from conformance.laws.inner import inner_pass
from conformance.laws.views import Pass, shown
from conformance.recipes import Probe, Torch, Values, part
from conformance.trace import Event, Items, Trace

Batch = tuple[int, ...]
Numbers = NDArray[np.int64]

SILENT = ("Sourced", "Bucketed")
"""Probes whose pass is known from a twin alone."""

DRAWS = (op.Iterate, op.Open, op.Inner)
"""Operations that draw the inner sampler once, at most."""


def twins(trace: Trace) -> list[Items]:
    """The passes of the inner sampler's twin. All ranks have equal ones: the first rank's do."""
    events = trace.ranks[0].events
    return [e.value for e in events if isinstance(e.operation, op.Twin) and e.error is None]


def inner_passes(trace: Trace, found: Pass) -> list[Numbers]:
    """The passes that the inner sampler may have shown, the one that is due first.

    A numbered trace has batches by number. There are as many passes of a twin as may be needed.
    """
    inner, own = trace.case.argument("sampler"), twins(trace)
    if not own:
        require(not _silent(inner))
        return [inner_pass(inner, found.n, found.epoch, found.ordinal)]
    events = trace.ranks[0].events
    require(len(own) >= sum(isinstance(event.operation, DRAWS) for event in events))
    turn = min(found.ordinal, len(own) - 1)
    return [items.values for items in (own[turn], *own[:turn], *own[turn + 1 :])]


def _silent(inner: Any) -> bool:
    """Whether the case does not tell what the inner sampler yields."""
    if isinstance(inner, Values):
        return any(isinstance(item, tuple) for item in inner.items)
    return isinstance(inner, Torch) or inner.name in SILENT


def batches_of(trace: Trace) -> dict[Batch, int]:
    """The inner batches with their numbers; empty if the inner items are no batches."""
    inner = trace.case.argument("sampler")
    if isinstance(inner, Probe) and inner.name == "Pairs":
        listed: list[Any] = [part(place, inner.at) for place in range(inner.count)]
    else:
        listed = [b for items in twins(trace) if items.sizes is not None for b in items.tolist()]
    return {batch: number for number, batch in enumerate(dict.fromkeys(map(tuple, listed)))}


def numbered(trace: Trace) -> Trace:
    """The trace with numbers for batches; the same where the inner items are no batches."""
    named = batches_of(trace)
    if not named:
        return trace
    ranks = tuple(replace(r, events=tuple(_event(e, named) for e in r.events)) for r in trace)
    return replace(trace, ranks=ranks, seen={})


def _event(event: Event, named: dict[Batch, int]) -> Event:
    if not isinstance(event.value, Items):
        return event
    values = [named.get(batch, -2 - place) for place, batch in enumerate(listed(event.value))]
    numbers = replace(event.value, values=np.array(values, dtype=np.int64), sizes=None)
    return replace(event, value=numbers)


def listed(items: Items) -> list[Batch]:
    """The batches, or the bare indices as batches that no inner sampler gave."""
    if items.sizes is None:
        return [(-1, value) for value in items.tolist()]
    return [tuple(batch) for batch in items.tolist()]


def told(trace: Trace, values: Numbers) -> str:
    """A short list of items: batches, where the numbers are those of batches."""
    named = [list(batch) for batch in batches_of(trace)]
    if not named:
        return shown(values)
    known = [named[v] if 0 <= v < len(named) else "another" for v in values[:8].tolist()]
    return f"{known}{f', ... {len(values)} in all' if len(values) > 8 else ''}"
