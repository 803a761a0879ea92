"""What a hostile candidate has cost, and what is not asked of it any more."""

from __future__ import annotations

import collections
import math

from conformance.candidate import Source
from conformance.case import Case
from conformance.classes import work
from conformance.operations import Resize
from conformance.trace import Trace

LOSSES_MAX = 8
COST_STUCK = 3
"""A role is given up after eight deaths; one that hangs costs time, and counts for three."""

Asked = tuple[Source, str]
"""A candidate and one of its roles."""


class Losses:
    """The cases that did not come back.

    first: the first of each role. slow: the least work that took a role too long.
    """

    def __init__(self) -> None:
        self.first: dict[Asked, Trace] = {}
        self.slow: dict[Asked, int] = {}
        self.counts: collections.Counter[Asked] = collections.Counter()

    def clear(self) -> None:
        """Forgive everybody."""
        self.first.clear()
        self.slow.clear()
        self.counts.clear()

    def any_of(self, source: Source, case: Case) -> bool:
        """Whether the role has failed to come back before."""
        return self.counts[source, case.role] > 0

    def too_large(self, source: Source, case: Case) -> bool:
        """Whether a case of no more work than this one was too slow for the bound."""
        return work(case) >= self.slow.get((source, case.role), math.inf)

    def given_up(self, source: Source, role: str) -> bool:
        """A role that failed to come back so often is not run any more: see `sampler.returns`."""
        return self.counts[source, role] >= LOSSES_MAX

    def stuck(self, source: Source, role: str) -> None:
        """Count a case that did not come back where others were before it."""
        self.counts[source, role] += COST_STUCK

    def count(self, source: Source, case: Case, trace: Trace) -> None:
        """Count what a trace shows of it."""
        key = source, case.role
        if trace.slow:
            self.slow[key] = int(min(self.slow.get(key, math.inf), work(case)))
        elif not trace.done:
            self.first.setdefault(key, trace)
            cost = COST_STUCK if any(rank.fate == "stuck" for rank in trace.ranks) else 1
            before = self.counts[key]
            self.counts[key] = max(1, before) if _resized(case) else before + cost


def _resized(case: Case) -> bool:
    """Whether data change their size: who does not come back then is not given up for that."""
    return any(isinstance(step, Resize) for step in case.plan)
