"""Laws of `spec/loader.md` about what a dataset may lack or offer: `__len__`, `__getitems__`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from conformance import loading as lo
from conformance.case import Case
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import flat, lacks, mapped, passes, shuffled
from conformance.laws.loading import arguments, built, kinds, of, records, returned, rows, runs
from conformance.trace import Error, RankTrace, Record, Trace

LENGTH = re.compile(r"len|siz|count|how many|number of", re.IGNORECASE)
"""What an error says in some way that speaks of a missing length."""


@law("loader.unsized")
def unsized(trace: Trace) -> Violation | None:
    case, rank = trace.case, returned(trace)
    require(not mapped(case).sized and not lacks(rank.events[0].error))
    own = not any(name in arguments(case) for name in ("sampler", "batch_sampler"))
    error = next((event.error for event in rank.events if event.error is not None), None)
    if own and error is not None:
        return _unclear(error)
    if error is not None:
        return Violation("length-demanded", f"with a sampler of its own it raised {error}")
    if own and shuffled(case):
        return Violation("length-invented", "an order was drawn without a length")
    for run, due in passes(rank, case):
        if run.finished and run.items != due:
            anomaly = "length-invented" if own else "other-batches"
            return Violation(anomaly, f"{run.items} instead of {due}", events=rows(rank, run))
    return None


def _unclear(error: Error) -> Violation | None:
    if error.is_a("TypeError") and LENGTH.search(error.message):
        return None
    return Violation("length-not-named", f"instead of a TypeError about the length came {error}")


@law("loader.getitems")
def getitems(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    many = mapped(case).many
    require(many)
    if arguments(case).get("batch_size", 1) is None:
        return _asked_unbatched(rank)
    if mapped(case).gives == "dice":
        return _answered_once(rank)
    made = runs(rank)
    if many in ("all", "held", "delegated"):
        return _asked_otherwise(rank, case)
    if many == "none":
        return _asked_in_vain(rank, case)
    for run in made:
        if run.items:
            saw = f"asked for batches of {arguments(case).get('batch_size', 1)}, it gave {many}; "
            saw += f"the caller got {run.items}"
            return Violation("wrong-count-accepted", saw, events=rows(rank, run), about=many)
        if run.finished and not run.errors:
            saw = f"it gave {many} than asked, and the pass ended without an error"
            return Violation("wrong-count-accepted", saw, events=rows(rank, run), about=many)
    require(any(run.errors for run in made))
    return None


def _asked_otherwise(rank: RankTrace, case: Case) -> Violation | None:
    """Compare the calls of `__getitems__` with the batches."""
    made = passes(rank, case)
    require(all(run.finished and not run.errors for run, _ in made))
    found = kinds(records(rank), "collate", "fetch")
    calls, alone = _calls(found)
    due = [flat([batch]) for _, batches in made for batch in batches]
    if alone:
        return Violation("asked-one-by-one", f"items {alone} were asked for one by one")
    if sorted(map(sorted, calls)) != sorted(map(sorted, due)):
        return Violation("asked-otherwise", f"it was asked for {calls}; the batches are {due}")
    for run, batches in made:
        if run.items != batches:
            saw = f"{run.items} instead of {batches}; it was asked for {calls}"
            return Violation("items-out-of-place", saw, events=rows(rank, run))
    return None


def _answered_once(rank: RankTrace) -> Violation | None:
    """An item that is asked for twice is answered twice: by random items, each in its place."""
    described = [text for event in of(rank, lo.Describe) for text in event.value or ()]
    items = re.findall(r"tuple\([^()]*\)", " ".join(described))
    require(items)
    if len(set(items)) < len(items):
        saw = f"of the random items that it gave one came twice: {described}"
        return Violation("answer-doubled", saw)
    return None


def _asked_unbatched(rank: RankTrace) -> Violation | None:
    """Look for calls of `__getitems__` where there are no batches to ask for."""
    require(all(run.finished and not run.errors and run.items for run in runs(rank)))
    calls, _ = _calls(kinds(records(rank), "collate", "fetch"))
    if calls:
        saw = f"without automatic batching, `__getitems__` was asked for {calls}"
        return Violation("asked-together", saw)
    return None


def _asked_in_vain(rank: RankTrace, case: Case) -> Violation | None:
    """Look for passes that a `__getitems__` which is None has hurt."""
    for run, due in passes(rank, case):
        if run.errors or (run.finished and run.items != due):
            saw = f"its `__getitems__` is None; {run.errors[0] if run.errors else run.items}"
            return Violation("none-asked", saw, events=rows(rank, run))
    return None


def _calls(found: Iterable[Record]) -> tuple[list[list[int]], list[int]]:
    """The indices of each call of `__getitems__`, and those that were asked for without it."""
    calls: list[list[int]] = []
    alone: list[int] = []
    open_: dict[int, tuple[list[int], int]] = {}
    for record in found:
        call, size = open_.get(record.pid, (alone, 0))
        if record.kind == "collate":
            calls.append([])
            open_[record.pid] = calls[-1], record.value
        elif len(call) < size:
            call.append(record.value)
        else:
            alone.append(record.value)
    return calls, alone
