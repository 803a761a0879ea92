"""One run of Hypothesis: cases are drawn, and what breaks the law is shrunk, in bounded time."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable

from conformance.case import Case
from conformance.judge import Judge
from conformance.laws import Violation
from conformance.scenarios import Effort
from conformance.trace import Items, Trace

SHRINK_S = 10.0

Traces = list[tuple[Case, Trace | None]]
"""Cases with their traces; None where that is large, and made anew if anybody asks."""

TRACE_ITEMS_MAX = 5_000_000
"""Larger traces are carried out again rather than remembered."""


class Found(Exception):
    """Ends a search: a case, its trace and the violation."""

    def __init__(self, case: Case, trace: Trace, violation: Violation) -> None:
        super().__init__(violation.anomaly)
        self.case, self.trace, self.violation = case, trace, violation


class Drawing:
    """One run of Hypothesis: remembers what it saw, so that shrinking is bounded and exact."""

    def __init__(self, judge: Judge, effort: Effort) -> None:
        self.judge, self.effort = judge, effort
        self.seen: dict[Case, Found | None] = {}
        self.traces: Traces = []
        self.best: Found | None = None
        self.deadline = time.monotonic() + effort.seconds

    def run(self, strategy: Any, examples: int, seed: int, shrink: bool = True) -> None:
        """Draw up to `examples` cases, and shrink the first that breaks the law.

        There may be none that the candidate can be given (`fitting.py`).
        """
        phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
        settings = hypothesis.settings(
            max_examples=examples, deadline=None, database=None, print_blob=False,
            phases=phases, suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )  # fmt: skip
        quiet = hypothesis.reporting.with_reporter(_nothing)
        with quiet, contextlib.suppress(Found, Unsatisfiable):
            given: Any = hypothesis.given(strategy)
            hypothesis.seed(seed)(settings(given(self.one)))()

    def one(self, case: Case) -> None:
        """Judge a drawn case; past the bound on time only what was seen before is answered."""
        if case not in self.seen:
            if time.monotonic() > self.deadline or self.judge.given_up():
                return
            trace, violation = self.judge.judged(case)
            self.traces.append((case, trace if _items(trace) < TRACE_ITEMS_MAX else None))
            self.seen[case] = Found(case, trace, violation) if violation else None
        found = self.seen[case]
        if found is not None:
            if self.best is None:
                bound_s = SHRINK_S if found.trace.done else 0.0
                self.deadline = time.monotonic() + bound_s
            self.best = found
            raise found


def _items(trace: Trace) -> int:
    """How many items a trace holds."""
    found = [event.value for rank in trace for event in rank.events]
    return sum(len(value.values) for value in found if isinstance(value, Items))


def _nothing(_: object) -> None:
    """Hypothesis's own words are not ours."""
