"""Cases that Hypothesis draws; what breaks the law is shrunk, in bounded time.

A sampler's cases are drawn while those before them are under way, up to the first that breaks the
law. If one does they are drawn once more, for the same seed and so the same, and Hypothesis shrinks
it. Those of a loader are carried out one at a time: what it takes is the time of two cores.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable

from conformance.case import Case
from conformance.judge import Judge
from conformance.laws import Violation
from conformance.roles import LOADERS
from conformance.scenarios import Effort
from conformance.trace import Items, Trace
from conformance.worlds.chunks import Sent

SHRINK_S = 10.0

AHEAD = 3
"""So many cases are under way while the next is drawn."""

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
    """What was drawn for one property: remembered, so that shrinking is bounded and exact."""

    def __init__(self, judge: Judge, effort: Effort) -> None:
        self.judge, self.effort = judge, effort
        self.seen: dict[Case, Found | None] = {}
        self.under_way = deque[tuple[Case, Sent | None]]()
        self.traces: Traces = []
        self.best: Found | None = None
        self.error: Exception | None = None
        self.deadline = time.monotonic() + effort.seconds

    def run(self, strategy: Any, examples: int, seed: int, shrink: bool = True) -> None:
        """Draw up to `examples` cases, and shrink the first that breaks the law.

        There may be none that the candidate can be given (`fitting.py`).
        """
        draw = seed, strategy, examples
        if self.judge.prop.role not in LOADERS:
            _drawn(self._foreseen, *draw, (Phase.generate,))
            self._finish()
            if self.best is None or not shrink:
                return
            self.best = None
        _drawn(self._one, *draw, (Phase.generate, Phase.shrink) if shrink else (Phase.generate,))

    def _foreseen(self, case: Case) -> None:
        """Send a drawn case, and judge an older one."""
        if stop := self.best or self.error:
            raise stop  # Hypothesis asks again about the case at which something was raised
        if case not in self.seen and not self._is_over():
            self.seen[case] = None
            try:
                self._sent(case)
            except Exception as error:
                self.error = error
                raise

    def _sent(self, case: Case) -> None:
        self.under_way.append((case, self.judge.begun(case)))
        if len(self.under_way) > AHEAD:
            self._judge_oldest()

    def _judge_oldest(self) -> None:
        case, sent = self.under_way.popleft()
        self.best = self._judged(case, *self.judge.ended(case, sent))

    def _finish(self) -> None:
        """Judge what is under way still; none of it is wanted after a violation."""
        while self.under_way and self.best is None:
            self._judge_oldest()
        for case, sent in self.under_way:
            self.judge.let_go(sent)
            del self.seen[case]
        self.under_way.clear()

    def _one(self, case: Case) -> None:
        """Judge a drawn case; past the bound on time only what was seen before is answered."""
        if case not in self.seen:
            if self._is_over():
                return
            self._judged(case, *self.judge.judged(case))
        found = self.seen[case]
        if found is not None:
            if self.best is None:
                bound_s = SHRINK_S if found.trace.done else 0.0
                self.deadline = time.monotonic() + bound_s
            self.best = found
            raise found

    def _judged(self, case: Case, trace: Trace, violation: Violation | None) -> Found | None:
        """Remember what became of a case."""
        self.traces.append((case, trace if _items(trace) < TRACE_ITEMS_MAX else None))
        self.seen[case] = found = Found(case, trace, violation) if violation else None
        return found

    def _is_over(self) -> bool:
        return time.monotonic() > self.deadline or self.judge.given_up()


def _drawn(
    one: Callable[[Case], None], seed: int, strategy: Any, examples: int, phases: tuple[Phase, ...]
) -> None:
    """Have Hypothesis call `one` with cases, until it raises `Found`."""
    settings = hypothesis.settings(
        max_examples=examples, deadline=None, database=None, print_blob=False,
        phases=phases, suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip
    quiet = hypothesis.reporting.with_reporter(_nothing)
    with quiet, contextlib.suppress(Found, Unsatisfiable):
        given: Any = hypothesis.given(strategy)
        hypothesis.seed(seed)(settings(given(one)))()


def _items(trace: Trace) -> int:
    """How many items a trace holds."""
    found = [event.value for rank in trace for event in rank.events]
    return sum(len(value.values) for value in found if isinstance(value, Items))


def _nothing(_: object) -> None:
    """Hypothesis's own words are not ours."""
