"""What becomes of a counterexample before it is told: it is cut down, and tried afresh."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from conformance import drawing
from conformance.case import Case
from conformance.classes import length
from conformance.datasets import Mapped
from conformance.drawing import Found
from conformance.laws import Violation
from conformance.loading import Free, Shut
from conformance.operations import Operation
from conformance.roles import LOADERS
from conformance.trace import Trace

Judged = Callable[[Case], tuple[Trace, Violation | None]]
"""Carries out a case and judges it."""

LATER = "in a fresh process the case alone holds: what was built before it matters"
"""What is said of a fault that shows only after other cases: of a cache, or a class's own state."""


LOADER_S = 4.0
"""The bound on cutting down a loader's case, each of which may take a second."""

SMALLEST = 32
"""So many smaller cases of each world size are tried where the one that was found may be any: a
sampler's take milliseconds each."""

Cut = Callable[[Case, int, int], Case | None]
"""The case without so many parts from a place on; None if it makes no sense without them."""


def smaller(found: Found, judged: Judged) -> Found:
    """Cut operations out of the plan while the same fault stays, then forms of items."""
    bound_s = drawing.SHRINK_S
    if found.case.role in LOADERS:
        bound_s = min(bound_s, LOADER_S)
    until = time.monotonic() + bound_s
    if not found.trace.done or found.case.world == "alone":
        return found
    found = _fewer(found, judged, lambda case: len(case.plan), _shorter, until)
    return _fewer(found, judged, lambda case: len(_forms(case)), _plainer, until)


def _fewer(
    found: Found, judged: Judged, count: Callable[[Case], int], cut: Cut, until: float
) -> Found:
    """Cut parts out of the case: many at a time, then few."""
    size = max(1, count(found.case) // 2)
    while size:
        place = count(found.case) - size
        while place >= 0 and time.monotonic() < until:
            case = cut(found.case, place, size)
            found = (case is not None and _same(found, case, judged)) or found
            place = min(place, count(found.case)) - size
        size //= 2
    return found


def _shorter(case: Case, place: int, size: int) -> Case | None:
    """The case without some operations."""
    plan = case.plan[:place] + case.plan[place + size :]
    return None if left_shut(plan) else case.with_plan(plan)


def _forms(case: Case) -> tuple[Any, ...]:
    """What the items of the case are made of, if that was told."""
    data = dict(case.arguments).get("dataset")
    return data.forms if isinstance(data, Mapped) else ()


def _plainer(case: Case, place: int, size: int) -> Case | None:
    """The case without some forms of items, and without the items of these forms."""
    given, forms = dict(case.arguments), _forms(case)
    data, left = given["dataset"], forms[:place] + forms[place + size :]
    if not left:
        return None
    fewer = replace(data, forms=left, n=max(1, data.n - size * data.each))
    return case.changed(arguments={**given, "dataset": fewer})


def plainest(found: Found, cases: Iterable[Case], judged: Judged) -> Found:
    """The same fault in the smallest of these cases that shows it, if one of the smallest does."""
    size, by_world = _size(found.case), defaultdict[int, set[Case]](set)
    for case in cases:
        if case.world == found.case.world and _size(case) < size:
            by_world[case.world_size].add(case)
    tried = chain(*(heapq.nsmallest(SMALLEST, less, _size) for less in by_world.values()))
    same = (_same(found, case, judged) for case in sorted(tried, key=_size))
    return next((smaller(other, judged) for other in same if other), found)


def _size(case: Case) -> tuple[int, ...]:
    """By what one case is smaller than another for its reader; the plan can be cut."""
    return length(case), case.world_size, len(case.arguments), len(case.plan)


def left_shut(plan: tuple[Operation, ...]) -> bool:
    """Whether a plan shuts the gate for good: whoever then asks for a batch waits for ever."""
    moves = [type(step) for step in plan if isinstance(step, (Shut, Free))]
    return moves[-1:] == [Shut]


def _same(found: Found, case: Case, judged: Judged) -> Found | None:
    """The same fault in another case, if that shows it."""
    trace, violation = judged(case)
    if violation is None or violation.anomaly != found.violation.anomaly:
        return None
    return Found(trace.case, trace, violation)


def repeated(found: Found, afresh: Judged) -> Found:
    """The same, with a word on it where the case alone does not show it."""
    if found.case.world != "simulated" or found.case.role in LOADERS or not found.trace.done:
        return found
    trace, violation = afresh(found.case)
    if violation is not None or not trace.done:
        return found
    told = replace(found.violation, saw=f"{found.violation.saw}; {LATER}")
    return Found(found.case, found.trace, told)
