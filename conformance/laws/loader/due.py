"""What a loader's passes have to deliver, for laws that compare."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.laws import require
from conformance.laws.loading import Run, arguments, as_built, collation, expected, ordered, runs
from conformance.recipes import Values
from conformance.trace import Error, RankTrace

NUMBERS = ("number", "tensor", "parcel", "counted", "graded", "through")
"""Items that stand for their index."""


def mapped(case: Case) -> Mapped:
    """The case's map-style dataset; requires that it has one."""
    data = arguments(case).get("dataset")
    require(isinstance(data, Mapped))
    assert isinstance(data, Mapped)
    return data


def lacks(error: Error | None) -> bool:
    """Whether the candidate's constructor does not have an option of the case."""
    return error is not None and error.is_a("TypeError") and "unexpected keyword" in error.message


def shuffled(case: Case) -> bool:
    """Whether the loader makes a random order itself."""
    return bool(arguments(case).get("shuffle"))


def passes(rank: RankTrace, case: Case) -> list[tuple[Run, list[Any]]]:
    """Each pass and its batches of indices; requires that they are known.

    Of a shuffled pass only the sizes are known: its batches are cut from 0, 1, 2, ...
    """
    require(isinstance(arguments(case).get("dataset"), Values) or mapped(case).gives in NUMBERS)
    found = [
        (run, expected(_in_order(as_built(case, rank, run.begun)), epoch))
        for run, epoch in zip(runs(rank), _epochs(rank), strict=True)
    ]
    require(found and all(due is not None for _, due in found))
    return [(run, due) for run, due in found if due is not None]


def _in_order(case: Case) -> Case:
    """The same without `shuffle`."""
    plain = {name: value for name, value in case.arguments if name != "shuffle"}
    return Case(case.role, plain, ())


def _epochs(rank: RankTrace) -> list[int]:
    """The epoch that was set when each pass was begun."""
    found, epoch = [], 0
    for event in rank.events:
        if isinstance(event.operation, op.SetEpoch):
            epoch = int(str(event.operation.epoch))
        if isinstance(event.operation, (op.Iterate, op.Open)):
            found.append(epoch)
    return found


def collated(case: Case, batches: list[Any]) -> list[Any]:
    """The same batches as the case's `collate_fn` makes them of numbers."""
    how = collation(case)
    if how == "double":
        return [[2 * i for i in b] if isinstance(b, list) else 2 * b for b in batches]
    if how in ("thin", "thin tensor"):
        return [b[1:] for b in batches]
    return [sum(b) for b in batches] if how == "sum" else batches


def flat(batches: list[Any]) -> list[int]:
    """All indices of some batches, or of items that stand alone."""
    return [i for batch in batches for i in (batch if isinstance(batch, list) else [batch])]


def cut_alike(run: Run, due: list[Any], case: Case) -> bool:
    """Whether a shuffled pass has batches of the right sizes, and no index twice."""
    indices, sizes = flat(run.items), [len(flat([batch])) for batch in run.items]
    wanted = [len(flat([batch])) for batch in due]
    known = len(set(indices)) == len(indices) and set(indices) <= set(range(mapped(case).n))
    complete = not run.finished or len(sizes) == len(wanted)
    if not ordered(case):
        return known and complete and not surplus(sizes, wanted)
    return known and complete and sizes == wanted[: len(sizes)]


def surplus(given: list[Any], wanted: list[Any]) -> Counter[str]:
    """What was given and not wanted, or more often, whatever the order."""
    return Counter(map(str, given)) - Counter(map(str, wanted))
