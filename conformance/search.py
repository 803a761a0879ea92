"""The search for a counterexample to one property, and the verdict that comes of it.

First comes what a glance has shown, then the declared deviations are replayed, then every small
configuration is tried, then Hypothesis draws larger ones across real process groups. The first
violation that no deviation explains ends the search; where it was drawn, Hypothesis shrinks it, and
at last the plan is cut down as well.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from conformance import shown
from conformance.baseline import remedy
from conformance.candidate import Description
from conformance.case import Case
from conformance.drawing import Drawing, Found
from conformance.judge import Judge
from conformance.machine import has_cuda
from conformance.narrowing import plainest, repeated, smaller
from conformance.policies import freed
from conformance.properties import Property
from conformance.report.document import command, document
from conformance.report.evidence import evidence
from conformance.roles import LOADERS
from conformance.scenarios import Scenario
from conformance.small import ALL, Pair, Places
from conformance.spread import is_light
from conformance.trace import SLOW, Trace
from conformance.verdict import (
    DECLARED,
    HOLDS,
    NO_VERDICT,
    NOT_APPLICABLE,
    NOT_PROVIDED,
    STALE,
    VIOLATED,
    Exercise,
    Verdict,
)  # fmt: skip

if TYPE_CHECKING:
    from conformance.examine import Examiner

WORKS = "sampler.works"
"""The clause that every case is a case for."""

CORE_ONLY = frozenset({"distributed.mix"})
"""Clauses that contradict the torch profile, which fixes the order."""


class Search(Judge):
    """The search for a counterexample to one property."""

    def __init__(self, examiner: Examiner, candidate: Description, prop: Property) -> None:
        super().__init__(examiner, candidate, prop)
        self.scripts: list[str] = []

    def excused(self) -> Verdict | None:
        """The verdict on a property that is not to be examined here."""
        clause = self.prop.clause
        if self.prop.role not in self.candidate.roles:
            return self._said(NOT_PROVIDED)
        if clause.profile == "torch" and self.options.profile != "torch":
            return self._said(NOT_APPLICABLE, "only in the torch profile")
        if clause.accelerator and not has_cuda():
            return self._said(NOT_APPLICABLE, "there is no accelerator here")
        if clause.id in CORE_ONLY and self.options.profile == "torch":
            return self._said(NOT_APPLICABLE, "the torch profile fixes the order")
        policy = freed(clause.id, self.candidate.policies)
        return self._said(NOT_APPLICABLE, f"under the declared policy {policy}") if policy else None

    def verdict(self) -> Verdict:
        """Look where the property says, and say what came of it."""
        told = (partial(self._look_again, pairs) for pairs in shown.told(self))
        early = self.excused() or self._broken(told)  # to replay what is declared takes longer
        early = early or (self._stale() if self.options.replay else None)
        if early:
            return early
        scenarios = shown.in_order(self)
        looks: list[Callable[[], None]] = [
            *(lambda s=s: self.look(self.small(s)) for s in scenarios if s.small),
            *(lambda s=s: self._drawn(s) for s in scenarios if s.drawn),
        ]
        return self.concluded(looks)

    def concluded(self, looks: Iterable[Callable[[], None]]) -> Verdict:
        """Look everywhere, and say what came of it."""
        if violated := self._broken(looks):
            return violated
        if self.known:
            reasons = list(dict.fromkeys(deviation.reason for deviation in self.known))
            verdict = self._said(DECLARED, "; ".join(reasons))
            verdict.declared, verdict.scripts = reasons, list(self.scripts)
            return verdict
        if self.lost or self.given_up():
            return self._said(NO_VERDICT, self._not_back())
        if not self.exercise.run:
            # A class of which nothing at all could be examined is not a class that holds.
            outcome = NO_VERDICT if self.prop.clause.id == WORKS else NOT_APPLICABLE
            return self._said(outcome, "no case fits what the constructor takes")
        if not self.exercise.exercised:
            return self._unexercised()
        return self._said(HOLDS, self._left_out())

    def _broken(self, looks: Iterable[Callable[[], None]]) -> Verdict | None:
        """The verdict if one of these looks shows the law broken."""
        try:
            for look in looks:
                look()
        except Found as found:
            return self._violated(found)
        return None

    def _left_out(self) -> str:
        """Which cases a slow candidate was not asked, "" if there are none."""
        least = self.worlds.losses.slow.get((self.candidate.source, self.prop.role))
        slow_s, patience_s = SLOW * self.worlds.bound_s, self.examiner.pace.patience_s
        skipped = self.examiner.skipped(self.candidate, self.prop.role, self.prop.scenarios)
        large = f"cases of {least} draws and more were left out: too slow for {slow_s:.0f} s"
        many = f"{skipped} cases were left out: the others had taken {patience_s:.0f} s"
        return "; ".join(told for told, so in ((large, least), (many, skipped)) if so)

    def _unexercised(self) -> Verdict:
        """No case met the precondition: a policy may put the clause out of force."""
        policies = self.candidate.policies
        if policies:
            return self._said(NOT_APPLICABLE, f"under the declared policies {policies}")
        if self.prop.clause.id == "distributed.policy":
            return self._said(NOT_APPLICABLE, "no policy is declared")
        told = f"none of {self.exercise.run} cases met the precondition"
        if left_out := self._left_out():
            return self._said(NO_VERDICT, f"{told}; {left_out}")
        if self.prop.role in self.candidate.bound:
            return self._said(NOT_APPLICABLE, f"{told}, as far as they fit what the class takes")
        return self._said(NO_VERDICT, told)

    # Where to look.

    def small(self, scenario: Scenario, places: Places = ALL) -> Iterator[Pair]:
        """The small cases of a scenario, with their traces."""
        return self.examiner.traces(self.candidate, self.prop.role, scenario, places)

    def carried_out(self, scenario: Scenario) -> frozenset[int]:
        """The places of those that were carried out already."""
        return self.examiner.carried_out(self.candidate, self.prop.role, scenario)

    def cases(self, scenario: Scenario) -> Iterable[Case]:
        """The same without traces."""
        return self.examiner.cases(self.candidate, self.prop.role, scenario)

    def parts(self, scenario: Scenario) -> tuple[frozenset[int], ...]:
        """The places of a scenario's small cases, in the parts in which a glance looks at them."""
        return self.examiner.parts(self.candidate, self.prop.role, scenario)

    def look(self, pairs: Iterable[Pair]) -> None:
        for case, trace in pairs:
            violation = self.judge(case, self.with_oracle(case, trace))
            if violation and violation.racy:
                with self.worlds.window.quiet():
                    trace, violation = self.judged(case)
            if violation is not None:
                raise smaller(Found(case, trace, violation), self.tried)

    def _look_again(self, pairs: Iterable[Pair]) -> None:
        """The same where the scenario that told was any: another may have a smaller case."""
        try:
            self.look(pairs)
        except Found as found:
            if self.prop.role in LOADERS or not is_light(found.case):
                raise
            some = (self.cases(scenario) for scenario in self.prop.scenarios if scenario.small)
            raise plainest(found, chain.from_iterable(some), self.tried) from None

    def _drawn(self, scenario: Scenario) -> None:
        """Draw cases, or judge those that another clause has drawn; shrink what breaks the law.

        Hypothesis draws the same cases again for the same seed, so a violation among remembered
        traces is found again, and shrunk, by drawing.
        """
        self.drawing = True
        key = self.candidate.source, self.prop.role, scenario.name
        known = self.examiner.drawn.get(key)
        if known is not None and not any(self.breaks(case, trace) for case, trace in known):
            return
        stride = self.examiner.pace.stride((self.candidate.source, self.prop.role))
        drawing = self.draw(scenario, max(1, scenario.count(self.options.effort) // stride))
        if drawing.best is not None:
            raise smaller(drawing.best, self.judged)
        self.examiner.drawn[key] = drawing.traces

    def draw(self, scenario: Scenario, count: int, shrink: bool = True) -> Drawing:
        """Draw cases of a scenario, up to the first that breaks the law."""
        drawing = Drawing(self, self.options.effort)
        strategy = self.examiner.strategy(self.candidate, self.prop.role, scenario)
        if strategy is not None:
            seed = scenario.seed(self.options.seed, self.prop.role)
            drawing.run(strategy, count, seed, shrink)
        return drawing

    # What to say.

    def _stale(self) -> Verdict | None:
        """Replay the declared deviations; one that no longer occurs is an error of the baseline."""
        known, self.known = self.known, []
        for deviation in known:
            trace = self._replayed(deviation.case)
            violation = self.judge(deviation.case, trace)
            if violation is None and (deviation.occurs == "sometimes" or not trace.done):
                continue  # what did not come back, or not in time, says nothing either way
            if violation is None:
                return self._said(STALE, f"it no longer occurs: {remedy(deviation)}")
            found = Found(deviation.case, trace, violation)
            if not deviation.explains(violation.anomaly, violation.about):
                return self._violated(found)  # still broken, in another way than was declared
            if self.examiner.shelf:
                self._shelved(self._script(found), known=True)
        self.known, self.exercise, self.lost = known, Exercise(), 0
        return None

    def _replayed(self, case: Case) -> Trace:
        """The trace of a stored case; one that is alone was perhaps carried out in this run."""
        key = self.candidate.source, case
        if case.world == "alone" and key not in self.examiner.alone:
            for scenario in self.prop.scenarios:
                if scenario.small:
                    collections.deque(self.small(scenario), 0)
        trace = self.examiner.alone.get(key) or self.trace(case)
        return self.with_oracle(case, trace)

    def _violated(self, found: Found) -> Verdict:
        found = repeated(found, self.afresh)
        verdict = self._said(VIOLATED, found.violation.saw)
        verdict.anomaly, verdict.about = found.violation.anomaly, found.violation.about
        verdict.case = repr(found.case)
        script = self._script(found)
        path = self._shelved(script)
        verdict.scripts = list(self.scripts)
        what = self.candidate, self.prop.clause, self.prop.role, found
        verdict.document = document(*what, path, self.options.spec_url)
        verdict.evidence = evidence(found, command(*what), script)
        return verdict

    def _script(self, found: Found) -> str:
        """The stand-alone reproduction; it knows torch, which is imported for it alone."""
        from conformance.report.reproduction import reproduction

        return reproduction(self.candidate, self.prop.clause, self.prop.role, found)

    def _shelved(self, script: str, known: bool = False) -> str:
        """Write a reproduction, if that was asked for; returns its path."""
        if self.examiner.shelf is None:
            return ""
        what = self.candidate, self.prop.clause, self.prop.role
        path = self.examiner.shelf.put(*what, script, known)
        self.scripts.append(str(path))
        return str(path)

    def _not_back(self) -> str:
        """Which case a role did not come back from, and which clause judges that."""
        lost = self.worlds.losses.first.get((self.candidate.source, self.prop.role))
        case = f" from {lost.case!r}" if lost else ""
        return f"the role did not come back{case}: see {self.returns}"

    def _said(self, outcome: str, reason: str = "") -> Verdict:
        clause = self.prop.clause
        return Verdict(
            str(self.candidate.source), clause.id, clause.level, self.prop.role, outcome, reason,
            exercise=self.exercise,
        )  # fmt: skip
