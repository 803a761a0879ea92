"""Laws of `spec/iterable.md`: which elements come, in which order, and how a pass ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults
from conformance.items import odd
from conformance.laws import Violation, law, require
from conformance.laws.iterable.streams import (
    DIVIDED,
    ELEMENTS,
    dropping,
    elements,
    flat,
    passes,
    shares,
    thinned,
    undisturbed,
)  # fmt: skip
from conformance.laws.loader.forms import plain
from conformance.laws.loading import (
    Run,
    arguments,
    built,
    collation,
    hung,
    kinds,
    of,
    ordered,
    rank_by_rank,
    records,
    returned,
    rows,
    runs,
    stream,
    workers,
)  # fmt: skip
from conformance.trace import Trace

TEXTS: dict[str, Callable[[int], str]] = {
    "odd": lambda i: plain(odd(i)),
    "array": lambda i: f"ndarray(int32, [2], [{i}, {i}])",
}
"""How elements that are no numbers are described."""

REFUSALS = ("TypeError", "ValueError", "NotImplementedError")
"""How a loader says that it does not take a dataset; any other error is one of its own."""

WAIT_S = 5.0
"""A pass over a few elements that takes longer has waited for something."""


@law("iterable.once")
def once(trace: Trace) -> Violation | None:
    """After an error, and with `drop_last`, elements may be missing, but none comes twice."""
    return rank_by_rank(trace, _once)


def _once(trace: Trace) -> Violation | None:
    if stream(trace.case).faults:
        return _twice(trace)
    if stream(trace.case).gives in TEXTS or collation(trace.case) == "thin":
        return _described(trace)
    if dropping(trace.case):
        return _twice(trace)
    if any(fault.where == "collate" for fault in faults(trace.case)):
        return _after_collation(trace)
    data, rank = undisturbed(trace, *DIVIDED), returned(trace)
    refused = rank.events[0].error
    if refused is not None and not refused.is_a(*REFUSALS):
        return Violation("crash", f"the construction raised {refused}")
    require(refused is None and runs(rank))
    due = _due(trace.case)
    for run in runs(rank):
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        wrong = _unequal(flat(run.items), data.n, due) if run.finished else None
        if wrong:
            return Violation(*wrong, events=rows(rank, run))
    passes(rank)
    return None


def _after_collation(trace: Trace) -> Violation | None:
    """Where `collate_fn` raises for one batch, what is in the others comes."""
    data, rank, size = stream(trace.case), built(trace), arguments(trace.case)["batch_size"]
    require(data.shard in DIVIDED and all(len(run.errors) == 1 for run in runs(rank)))
    for run in (run for run in runs(rank) if run.finished):
        lost = sorted(set(range(data.n)) - set(flat(run.items)))
        if len(lost) > size:
            saw = f"collate_fn raised {run.errors[0].kind} for one batch of {size}; {lost} are lost"
            return Violation("element-lost", saw, events=rows(rank, run))
    return _twice(trace)


def _twice(trace: Trace) -> Violation | None:
    """What came twice in a pass in which the dataset raised, or which drops some."""
    data, rank = stream(trace.case), built(trace)
    require(data.shard in DIVIDED and data.gives in ELEMENTS and runs(rank))
    require(not data.faults or any(run.errors for run in runs(rank)))
    for run in runs(rank):
        again = [element for element, count in Counter(flat(run.items)).items() if count > 1]
        if again:
            saw = f"{run.items}: {again[:5]} came more than once"
            return Violation("element-repeated", saw, events=rows(rank, run))
    return None


def _described(trace: Trace) -> Violation | None:
    """Elements that are no numbers, or batches that the caller's function has made shorter."""
    rank, case = built(trace), trace.case
    told, found = of(rank, lo.Describe), runs(rank)
    require(told and found)
    if found[-1].errors:
        return Violation("crash", f"raised {found[-1].errors[0]}", events=rows(rank, found[-1]))
    wanted, came = Counter(_texts(case)), Counter(told[-1].value)
    for anomaly, other in (("element-lost", wanted - came), ("element-repeated", came - wanted)):
        if other:
            saw = f"{list(came.elements())}, where {list(wanted.elements())} are due: {list(other)}"
            return Violation(anomaly, saw, events=rows(rank, found[-1]))
    return None


def _texts(case: Case) -> list[str]:
    """The batches, or elements, of a pass as they are described."""
    text, first = TEXTS.get(stream(case).gives, plain), int(thinned(case))
    batches = [[*map(text, flat([batch])[first:])] for batch in in_turn(case)]
    if arguments(case).get("batch_size", 1) is None:
        return [text for batch in batches for text in batch]
    return [f"list({', '.join(batch)})" for batch in batches]


def _due(case: Case) -> set[int]:
    """The elements of a pass: all, or those that the caller's function has left in the batches."""
    return {e for batch in in_turn(case) for e in flat([batch])[int(thinned(case)) :]}


def _unequal(found: list[int], n: int, due: set[int] | None = None) -> tuple[str, str] | None:
    """What keeps `found` from being each of n elements once, or each of those that are due."""
    counts = Counter(found)
    lost = sorted((set(range(n)) if due is None else due) - set(counts))
    again = sorted(element for element, count in counts.items() if count > 1)
    foreign = sorted(set(counts) - set(range(n)))
    if foreign:
        return "foreign-element", f"{found}: {foreign[:5]} are no elements of the stream"
    if again:
        return "element-repeated", f"{found[:40]}: {again[:5]} came more than once"
    return ("element-lost", f"{found[:40]}: {lost[:5]} never came") if lost else None


@law("iterable.ranks")
def ranks(trace: Trace) -> Violation | None:
    data = elements(trace, "rank")
    require(trace.done and not dropping(trace.case))
    require(all(rank.events[0].error is None and hung(rank) is None for rank in trace))
    made = [runs(rank) for rank in trace]
    require(min(map(len, made)))
    for together in zip(*made, strict=False):
        shown = tuple((rank.rank, run.event) for rank, run in zip(trace, together, strict=True))
        error = next((run.errors[0] for run in together if run.errors), None)
        if error:
            return Violation("crash", f"raised {error}", events=shown)
        require(all(run.finished for run in together))
        wrong = _unequal(flat([item for run in together for item in run.items]), data.n)
        if wrong:
            return Violation(*wrong, events=shown)
    return None


def in_turn(case: Case) -> list[Any]:
    """The batches of all workers, who take turns from worker 0 on as long as they have some."""
    size = arguments(case).get("batch_size", 1)
    step = size or 1
    left = [[part[k : k + step] for k in range(0, len(part), step)] for part in shares(case)]
    order = [part[k] for k in range(max(map(len, left))) for part in left if k < len(part)]
    return order if size else flat(order)


@law("iterable.order")
def order(trace: Trace) -> Violation | None:
    """With `drop_last` what is left over may come together in any way, but always in the same."""
    if any(fault.where == "collate" for fault in faults(trace.case)):
        return _around_an_error(trace)
    elements(trace)
    require(ordered(trace.case))
    rank, wanted = built(trace), in_turn(trace.case)
    require(any(run.items or run.finished for run in runs(rank)))
    if dropping(trace.case):
        wanted = passes(rank)[0].items
        require(wanted and len(passes(rank)) > 1)
    for number, run in enumerate(runs(rank)):
        here = wanted if run.finished else wanted[: len(run.items)]
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        if run.items != here:
            same = Counter(map(str, run.items)) == Counter(map(str, here))
            saw = f"pass {number} gave {run.items} instead of {here}"
            anomaly = "out-of-turn" if same or not run.finished else "other-batches"
            return Violation(anomaly, saw, events=rows(rank, run))
    return None


def _around_an_error(trace: Trace) -> Violation | None:
    """Where `collate_fn` raises for one batch, the others come in turn."""
    rank, lost = built(trace), {fault.at for fault in faults(trace.case)}
    require(ordered(trace.case) and not stream(trace.case).faults and runs(rank))
    wanted = [batch for batch in in_turn(trace.case) if not lost & set(flat([batch]))]
    for run in runs(rank):
        require(run.finished and len(run.errors) == 1)
        if run.items != wanted:
            saw = f"collate_fn raised for one batch; {run.items} came instead of {wanted}"
            return Violation("out-of-turn", saw, events=rows(rank, run))
    return None


@law("iterable.ends")
def ends(trace: Trace) -> Violation | None:
    require(not stream(trace.case).itself)
    rank, count = built(trace), workers(trace.case)
    found, made = records(rank), runs(rank)
    journal = max(n for n, e in enumerate(rank.events) if isinstance(e.operation, lo.Journal))
    require(made and max(run.event for run in made) < journal and not of(rank, op.Rebuild))
    failing = bool(stream(trace.case).faults)
    require(failing or not any(run.errors for run in made))
    about = "with workers" if count else "without workers"
    about += ", no batches" if arguments(trace.case).get("batch_size", 1) is None else ""
    if kinds(found, "ask"):
        saw = "an iterator of the dataset was asked again after its end"
        return Violation("asked-after-end", saw, about=about)
    begun = Counter(record.worker for record in kinds(found, "iter"))
    for worker in range(count) if count else (-1,):
        wrong = _begun(begun[worker], made)
        if wrong and not (failing and wrong == "not-iterated"):
            who = f"worker {worker}" if count else "the main process"
            saw = f"{who} called __iter__ {begun[worker]} times in {len(made)} passes"
            saw += ", one with an error" if failing else ""
            return Violation(wrong, saw, about=about)
    return None


def _begun(times: int, made: list[Run]) -> str:
    """Once in each pass; in one that the caller left early perhaps not yet."""
    if times > len(made):
        return "iterated-again"
    return "not-iterated" if times < sum(run.finished for run in made) else ""


@law("iterable.no-data")
def no_data(trace: Trace) -> Violation | None:
    elements(trace, *DIVIDED)
    require(workers(trace.case) and not all(shares(trace.case)) and trace.done)
    require(len(trace.ranks) == 1 and trace.ranks[0].events[0].error is None)
    rank = trace.ranks[0]
    if hung(rank):
        return Violation("hang", f"{rank.events[-1].error}")
    wanted = sorted(e for part in shares(trace.case) for e in part)
    held_up = of(rank, lo.Schedule)  # a loader that asks one worker at a time waits for its turn
    for run in runs(rank):
        if run.errors:
            return Violation("crash", f"raised {run.errors[0]}", events=rows(rank, run))
        if [] in run.items:
            return Violation("empty-batch", f"{run.items}", events=rows(rank, run))
        if run.finished and not dropping(trace.case) and sorted(flat(run.items)) != wanted:
            saw = f"{run.items}, and the workers that have data have {wanted}"
            return Violation("ended-with-it", saw, events=rows(rank, run))
        if rank.events[run.event].seconds > WAIT_S and not held_up:
            saw = f"the pass took {rank.events[run.event].seconds} s"
            return Violation("late-end", saw, events=rows(rank, run))
    passes(rank)
    return None
