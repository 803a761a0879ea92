"""Laws of `spec/workers.md`: exceptions on their way from a worker to the caller."""

from __future__ import annotations

from conformance.case import Case
from conformance.classes import faults
from conformance.datasets import Fault, Stream
from conformance.laws import Violation, law, require
from conformance.laws.loading import arguments, built, expected, ordered, workers
from conformance.laws.workers.outcomes import (
    Step,
    chain,
    first_error,
    items,
    names,
    raises,
    text,
    unfaithful,
    walks,
)  # fmt: skip
from conformance.trace import Error, RankTrace, Trace

HELD: dict[str, tuple[str, ...]] = {
    "Planned": ("arguments ('planned {at}')",),
    "ValueError": ("arguments ('planned {at}')",),
    "KeyError": ("arguments ('planned {at}')",),
    "OSError": ("arguments (28, 'planned {at}')", "errno 28", "filename 'a file'"),
    "Coded": ("arguments ('planned {at}')", "code 7"),
    "Located": ("arguments ('planned {at}')", "index 'row 7'", "worker_id 'none of yours'"),
    "WithMessage": ("arguments ('planned {at}')",),
    "UnicodeDecodeError": (r"arguments ('ascii', b'\xe9', 0, 1, 'planned {at}')",),
}
"""What the planned exceptions hold that pickle carries there and back."""


def _planned(trace: Trace, *where: str) -> tuple[RankTrace, list[Fault]]:
    """The rank, and the exceptions planned in these places; requires that all are of that kind."""
    require(workers(trace.case))
    rank, planned = built(trace), faults(trace.case)
    require(planned and all(raises(fault) and fault.where in where for fault in planned))
    return rank, planned


def _rows(rank: RankTrace, step: Step) -> tuple[tuple[int, int], ...]:
    return ((rank.rank, step.event),)


@law("workers.errors")
def errors(trace: Trace) -> Violation | None:
    rank, planned = _planned(trace, "item", "collate")
    reported = False
    for walk in walks(rank):
        found = [step for step in walk if step.error is not None]
        if not found and any(step.ended for step in walk):
            saw = f"{planned[0].what} in {planned[0].where}, and the pass ended without an error"
            return Violation("swallowed-error", saw, about=planned[0].what)
        # What follows the error of an iterable dataset is not said.
        several = not isinstance(arguments(trace.case)["dataset"], Stream)
        left = list(planned)
        for step in found if several else found[:1]:
            reported = True
            violation = _told(rank, step, planned) or _again(rank, step, left)
            if violation:
                return violation
        skipped = _skipped(trace.case, walk, planned, left) if several else None
        if skipped:
            saw = f"{skipped.what} in {skipped.where} was not reported, and the pass went on"
            return Violation("swallowed-error", saw, about=skipped.what)
    require(reported)
    return None


def _skipped(case: Case, walk: list[Step], planned: list[Fault], left: list[Fault]) -> Fault | None:
    """An exception that nobody was told of, though the pass came past its batch."""
    batches = [_indices_of(batch) for batch in expected(case) or []]
    first = [
        [fault for at in batch for fault in planned if fault.at == at][:1] for batch in batches
    ]
    came = [number for step in walk for number in _indices_of(step.item)]
    past = [
        place for place, batch in enumerate(batches)
        if set(batch) & set(came) or any(fault not in left for fault in first[place])
    ]  # fmt: skip
    unsaid = [
        fault for found in first[: max(past, default=0)] for fault in found if fault in left
    ]  # fmt: skip
    return unsaid[0] if unsaid else None


def _again(rank: RankTrace, step: Step, left: list[Fault]) -> Violation | None:
    """Whether an error reports an exception that was reported before; what it reports is struck."""
    assert step.error is not None
    for fault in left:
        if not unfaithful(step.error, fault):
            left.remove(fault)
            return None
    saw = f"{_short(step.error)} was reported before"
    return Violation("repeated-error", saw, events=_rows(rank, step), about="repeated")


def _told(rank: RankTrace, step: Step, planned: list[Fault]) -> Violation | None:
    """Whether an error reports one of the planned exceptions."""
    assert step.error is not None
    if not all(unfaithful(step.error, fault) for fault in planned):
        return None
    meant = next((fault for fault in planned if names(text(step.error), fault)), planned[0])
    lacks = unfaithful(step.error, meant)
    saw = f"{meant.what} in {meant.where} arrived as {_short(step.error)}"
    if lacks == "no-traceback":
        saw += ", without the worker's traceback"
    if lacks == "changed-message":
        saw += ", whose message is not its own"
    return Violation(lacks, saw, events=_rows(rank, step), about=meant.what)


def _short(error: Error) -> str:
    told = str(error)
    return told if len(told) < 200 else f"{told[:200]} ..."


@law("workers.error-attributes")
def error_attributes(trace: Trace) -> Violation | None:
    rank, planned = _planned(trace, "item", "collate")
    require(len(planned) == 1 and planned[0].what in HELD)
    wanted = [line.replace("{at}", str(planned[0].at)) for line in HELD[planned[0].what]]
    reported = False
    for walk in walks(rank):
        place = first_error(walk)
        if place is None:
            continue
        step, reported = walk[place], True
        assert step.error is not None
        lost = min((_lost(error, wanted) for error in chain(step.error)), key=len)
        if lost:
            saw = f"{planned[0].what} arrived as {_short(step.error)} without {', '.join(lost)}"
            about = lost[0].partition(" ")[0]
            return Violation("lost-attribute", saw, events=_rows(rank, step), about=about)
    require(reported)
    return None


def _lost(error: Error, wanted: list[str]) -> list[str]:
    return [line for line in wanted if line not in error.held]


@law("workers.error-place")
def error_place(trace: Trace) -> Violation | None:
    """Without an order no batch is before another, but the error must come."""
    rank, planned = _planned(trace, "item", "collate", "sampler")
    wanted = expected(trace.case)
    require(wanted is not None)
    assert wanted is not None
    fault, whole = min(
        ((fault, _whole(trace.case, wanted, fault)) for fault in planned), key=lambda pair: pair[1]
    )
    judged, in_order = False, ordered(trace.case)
    for walk in walks(rank):
        place = first_error(walk)
        if place is None and not any(step.ended for step in walk):
            continue
        judged = True
        anomaly = (
            _misplaced(walk, place, wanted[:whole], fault) if in_order or place is None else ""
        )
        if not anomaly and in_order and len(planned) > 1:
            anomaly = _overtaken(walk, wanted, planned)
        if anomaly:
            shown = [
                _short(step.error) if step.error else "the end" if step.ended else step.item
                for step in walk[:12]
            ]
            saw = f"{shown} where {wanted[:whole]} come before the error of the {fault.where}"
            return Violation(anomaly, saw, events=_rows(rank, walk[-1]), about=fault.where)
    require(judged)
    return None


def _overtaken(walk: list[Step], wanted: list[object], planned: list[Fault]) -> str:
    """Whether some batch or error comes before one that it has to follow."""
    due: list[int] = []
    for step in walk:
        told = text(step.error) if step.error else ""
        found = [fault.at for fault in planned if step.error and names(told, fault)]
        mine = set(found if step.error else _indices_of(step.item))
        due += [k for k, batch in enumerate(wanted) if mine & set(_indices_of(batch))][:1]
    return "misplaced-error" if due != sorted(due) else ""


def _whole(case: Case, wanted: list[object], fault: Fault) -> int:
    """How many whole batches come before the error."""
    if fault.where == "sampler":
        sized = "batch_sampler" not in arguments(case)
        return fault.at // (arguments(case).get("batch_size", 1) or 1) if sized else fault.at
    places = [k for k, batch in enumerate(wanted) if fault.at in _indices_of(batch)]
    require(places)
    return places[0]


def _indices_of(batch: object) -> list[object]:
    return batch if isinstance(batch, list) else [batch]


def _misplaced(walk: list[Step], place: int | None, wanted: list[object], fault: Fault) -> str:
    """What is wrong with the place of the first error; the batches `wanted` come before it."""
    if place is None:
        return "swallowed-error"
    before = items(walk[:place])
    if before[: len(wanted)] == wanted:
        further = before[len(wanted) :]
        # The last indices that a sampler gave may come as an incomplete batch.
        started = fault.where == "sampler" and len(further) == 1 and _indices_of(further[0])
        incomplete = started and fault.at - 1 in started and fault.at not in started
        return "misplaced-error" if further and not incomplete else ""
    missing = [batch for batch in wanted if batch not in items(walk)]
    return "lost-batch" if missing else "misplaced-error"


@law("workers.init-error")
def init_error(trace: Trace) -> Violation | None:
    rank, planned = _planned(trace, "init", "iter")
    require(len(planned) == 1 and planned[0].at < workers(trace.case))
    fault, judged = planned[0], False
    for walk in walks(rank):
        place = first_error(walk)
        if place is None:
            if any(step.ended for step in walk):
                saw = f"{fault.what} in {fault.where}, and the pass ended without an error"
                return Violation("swallowed-error", saw, about=fault.where)
            continue
        judged = True
        violation = _told(rank, walk[place], planned) or _later(rank, walk, place, fault)
        if violation:
            return violation
    require(judged)
    return None


def _later(rank: RankTrace, walk: list[Step], place: int, fault: Fault) -> Violation | None:
    """What comes after the first report: the same report, each time."""
    for step in walk[place + 1 :]:
        if step.error is not None and not unfaithful(step.error, fault):
            continue
        anomaly = "changed-error" if step.error else "ends" if step.ended else "goes-on"
        gave = _short(step.error) if step.error else "the end" if step.ended else step.item
        saw = f"{fault.what} in {fault.where} was reported; a later next() gave {gave}"
        return Violation(anomaly, saw, events=_rows(rank, step), about=fault.where)
    return None
