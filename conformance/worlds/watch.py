"""A watch on one operation of a loader's plan: how long it may take, and when it counts as hung."""

from __future__ import annotations

import math
import os
import time
import traceback
from dataclasses import replace
from types import FrameType

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import is_forked
from conformance.trace import Error, Event
from conformance.worlds.patience import Bound
from conformance.worlds.stillness import STILL_S, Stillness

HANG_S = 11.0
"""When an operation counts as hung: past every bound of the spec."""

PATIENT_S: dict[type[op.Operation], float] = {lo.Drop: 13.0, lo.Orphan: 22.0, lo.End: 22.0}
"""Later for these: what a late drop leaves behind is of interest too; orphans are watched."""

STARTED_ANEW = 2
"""So many times as long where each worker starts a new interpreter, which imports torch: that alone
has taken 3.4 s of a core on a slow day."""

PAST_TIMEOUT_S = 4.0
"""So long after its timeout, past the bound of 2 s, one `next()` counts as hung."""

MANY, LATELY_S = 256, 1.0
"""A pass that has given so many items, and one of them a moment ago, is slow and does not hang: a
bound on each `next()` says nothing about how long thousands of them may take."""

RESTS = f"nobody has stirred for {STILL_S:.0f} s"


class Watch:
    """An operation that is under way in this process, None for the construction."""

    def __init__(self, case: Case, operation: op.Operation | None) -> None:
        self.operation = operation
        self.bound = Bound(bound_s(case, operation), [os.getpid()])
        self.still = Stillness(case, operation)
        self.items, self.last = 0, -math.inf

    def came(self) -> None:
        """An item has come: nobody can have rested for long."""
        self.items, self.last = self.items + 1, time.monotonic()
        self.still.stirred(self.last)

    def is_slow(self) -> bool:
        """Whether it is only slow, once it is late: items come still."""
        return self.items >= MANY and time.monotonic() - self.last < LATELY_S

    def late(self) -> str:
        """Why it counts as hung, "" while it does not; to be asked often."""
        if self.still.over():
            return f"did not return: {RESTS}"
        return f"did not return within {self.bound.bound_s:.0f} s" if self.bound.over() else ""

    def timed(self, event: Event) -> Event:
        """The event with the time that it has taken."""
        seconds, rested = self.bound.spent_s(), self.still.rested_s
        return replace(event, seconds=round(seconds, 3), rested=round(rested, 1))

    def hung(self, late: str, frame: FrameType | None) -> Event:
        """The event of an operation that did not return; frame: the caller's."""
        stack = traceback.extract_stack(frame)[-4:] if frame else []
        where = ", ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno} {f.name}" for f in stack)
        error = Error(("Hang",), f"{late}; it waits in {where}", where)
        return self.timed(Event(self.operation, None, error))


def bound_s(case: Case, operation: op.Operation | None) -> float:
    """When an operation counts as hung."""
    return _forked_bound_s(case, operation) * (1 if is_forked(case) else STARTED_ANEW)


def _forked_bound_s(case: Case, operation: op.Operation | None) -> float:
    """The same where workers are there at once."""
    timeout = case.argument("timeout")
    single = isinstance(operation, op.Take) and operation.count == 1
    if single and isinstance(timeout, (int, float)) and timeout > 0:
        return min(HANG_S, timeout + PAST_TIMEOUT_S)
    return PATIENT_S.get(type(operation), HANG_S)  # type: ignore[arg-type]
