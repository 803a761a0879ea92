"""Traces written by hand, so that a test shows in a few numbers what a law thinks of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conformance.case import Case
from conformance.laws import LAWS, Unmet, load_laws
from conformance.trace import Error, Event, Items, RankTrace, Record, Trace

load_laws()

UNMET = "unmet"


def items(values: Any, kinds: tuple[str, ...] = ("int",)) -> Items:
    """Indices, or batches if there are lists in `values`."""
    if any(isinstance(value, list) for value in values):
        sizes = np.array([len(batch) for batch in values])
        flat = np.array([index for batch in values for index in batch], dtype=np.int64)
        return Items(flat, kinds, sizes, ("list",))
    return Items(np.array(values, dtype=np.int64), kinds)


def error(kind: str, *bases: str) -> Error:
    return Error((kind, *bases, "Exception", "BaseException"), "by hand")


def traced(case: Case, *results: Any, construction: Error | None = None) -> Trace:
    """A trace of one rank: a result (or an `Error`) for each operation of the case's plan.

    Lists, tuples and arrays are what an operation yielded.
    """
    events = [Event(None, None, construction)]
    for operation, result in zip(case.plan, results, strict=True):
        if isinstance(result, Error):
            events.append(Event(operation, None, result))
        else:
            yielded = isinstance(result, (list, tuple, range, np.ndarray))
            events.append(Event(operation, items(result) if yielded else result))
    return Trace(case, (RankTrace(0, tuple(events)),))


def judged(clause: str, trace: Trace) -> str:
    """The anomaly that the law of `clause` finds, "" for none, `UNMET` if it cannot judge."""
    try:
        violation = LAWS[clause](trace)
    except Unmet:
        return UNMET
    return violation.anomaly if violation else ""


def shares(case: Case, *yielded: Any, policies: dict[str, Any] | None = None) -> Trace:
    """A trace of several ranks, each of which made one whole pass: what each of them yielded."""
    ranks = tuple(
        RankTrace(rank, (Event(None), Event(case.plan[0], items(values))))
        for rank, values in enumerate(yielded)
    )
    return Trace(case, ranks, policies or {})


def events(given: Case, results: tuple[Any, ...]) -> tuple[Event, ...]:
    """The construction, and for each operation a result: what it yielded if that is a list."""
    found = [Event(None)]
    for operation, result in zip(given.plan, results, strict=True):
        if isinstance(result, Event):
            found.append(replace(result, operation=operation))
        elif isinstance(result, Error):
            found.append(Event(operation, None, result))
        else:
            value = items(result) if isinstance(result, list) else result
            found.append(Event(operation, value))
    return tuple(found)


def seen(given: Case, *results: Any) -> Trace:
    """The trace of one rank."""
    return Trace(given, (RankTrace(0, events(given, results)),))


def journal(*told: str) -> tuple[Record, ...]:
    """Records such as "fetch 3 by 1", or in the main process "want 0"."""
    words = [text.split() for text in told]
    return tuple(
        Record(word[0], int(word[1]), int(word[3]) if len(word) > 2 else -1, 1, 0.0)
        for word in words
    )
