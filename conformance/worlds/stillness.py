"""Stillness: where nothing makes anybody wait, who rests for long rests for ever.

A pass that never comes back is told when its bound is over, the longest bound of the spec. In most
cases nothing sleeps, stops at the gate, or goes wrong. There, no loader has a reason to rest, and
one whose processes all do is told sooner.
"""

from __future__ import annotations

import os
import time

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults, overrides
from conformance.worlds.patience import Idleness

STILL_S = 6.0
"""So long nobody rests who comes back: past the 5 s after which loaders look around, as torch's
does (`MP_STATUS_CHECK_INTERVAL`), whether a worker lives or a message was overlooked."""

LITTLE_S = 0.3
"""So little of a core in that time is no work: whoever stops at the gate looks now and then."""

LOOK_S = 0.5
"""How often somebody looks."""

Kinds = tuple[type[op.Operation], ...]

PASSES: Kinds = (op.Rebuild, lo.Reload, op.Open, op.Take, op.Drain, op.Iterate)
"""The operations that are judged by this, and the construction."""

HARMLESS: Kinds = (
    *PASSES, op.Len, op.SetEpoch, op.Globals, op.Reseed, op.Surround, op.Scribble,
    lo.Journal, lo.Reread, lo.Describe, lo.Tell, lo.Drop, lo.Leave, lo.Settle,
)  # fmt: skip
"""The operations after which nobody has a reason to wait."""


class Stillness:
    """Whether everybody rests while an operation is under way. To be asked often, by a thread that
    otherwise waits: what it uses of a core does not count."""

    def __init__(self, case: Case, operation: op.Operation | None) -> None:
        passes = operation is None or type(operation) in PASSES
        self.judged = passes and nobody_waits(case)
        self.idle = Idleness(STILL_S, LITTLE_S, time.thread_time)
        self.looked = time.monotonic()

    def over(self) -> bool:
        """Whether nobody has stirred for so long, where nobody has a reason to wait."""
        if time.monotonic() - self.looked < LOOK_S:
            return False
        self.looked = time.monotonic()
        return self.idle.over([os.getpid()]) and self.judged

    def stirred(self, now: float) -> None:
        """Something has come of it, however little of a core that took."""
        self.idle.since = now

    @property
    def rested_s(self) -> float:
        """For how long nobody has stirred, at most; in some cases they have a reason."""
        return self.idle.rested_s


def nobody_waits(case: Case) -> bool:
    """Whether nothing in the case sleeps, waits for the caller, or goes wrong."""
    later = [value for built in overrides(case) for value in built.values()]
    data = (case.argument("dataset"), *later)
    slow = any(getattr(one, "gated", 0) or getattr(one, "seconds", 0) for one in data)
    wrong = bool(faults(case)) or any(getattr(one, "faults", ()) for one in later)
    quick = all(type(step) in HARMLESS for step in case.plan)
    return quick and not slow and not wrong and not case.argument("timeout")
