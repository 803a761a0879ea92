"""Traces of loaders that live and end, written by hand."""

from __future__ import annotations

from typing import Any

from by_hand import items

from conformance.case import Case
from conformance.datasets import Mapped
from conformance.loading import Leftovers
from conformance.trace import Error, Event, RankTrace, Trace

HANG = Error(("Hang",), "did not return within 11 s")
WHOLE = [[0], [1]]
REST = {
    "children": 0, "threads": 0, "descriptors": 3, "segments": 0, "what": [], "seconds": 0.1,
    "collects": True, "changed": [],
}  # fmt: skip


def lived(*steps: Any, n: int = 2, gives: str = "number", **options: Any) -> Trace:
    """A trace of a loader over `n` items: pairs of an operation and what came of it.

    A list is what was delivered, a float how long it took, an `Error` what was raised.
    """
    plan, results = [step[0] for step in steps], [step[1] for step in steps]
    given = {"dataset": Mapped(n, gives=gives), "num_workers": 2, **options}
    events = [Event(None)]
    for operation, result in zip(plan, results, strict=True):
        failed = result if isinstance(result, Error) else None
        seconds = result if isinstance(result, float) else 0.0
        value = items(result) if isinstance(result, list) else result
        events.append(Event(operation, None if failed else value, failed, seconds))
    return Trace(Case("DataLoader", given, plan, world="alone"), (RankTrace(0, tuple(events)),))


def rest(**changes: Any) -> Any:
    """What `Leftovers` found."""
    return Leftovers(), REST | changes
