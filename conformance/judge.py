"""The judge of one property: carries a case out, and says what its law makes of the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.candidate import Description, Source
from conformance.case import Case
from conformance.interrupt import heed
from conformance.laws import LAWS, Unmet, Violation
from conformance.properties import Property
from conformance.roles import LOADERS
from conformance.trace import Trace
from conformance.verdict import Exercise
from conformance.worlds.chunks import Sent
from conformance.worlds.worlds import Worlds

if TYPE_CHECKING:
    from conformance.examine import Examiner

RETURNS = "sampler.returns"
LOADER_RETURNS = "workers.no-hang"
"""The clauses that tell of a candidate that did not come back; no other clause judges that."""

TRIED_S = 1.5
"""How long a loader's case may take that nobody needs: it would only be a smaller one."""


def with_oracle(worlds: Worlds, candidate: Description, trace: Trace) -> Trace:
    """The trace beside that of torch's own order: of torch or the reference.

    The two check each other: the reference is compared with torch, all others with the reference.
    """
    name = "torch.utils.data" if candidate.source.text == "reference" else "reference"
    source = Source(name, profile="torch")
    worlds.describe(source)
    return replace(trace, oracle=worlds.run(source, trace.case))


class Judge:
    """Carries cases out and judges them for one property.

    exercise: what was judged so far. lost: so many did not come back. known: the declared
    deviations, which count for nothing.
    """

    def __init__(self, examiner: Examiner, candidate: Description, prop: Property) -> None:
        self.examiner, self.candidate, self.prop = examiner, candidate, prop
        self.worlds, self.options = examiner.worlds, examiner.options
        self.law = LAWS[prop.clause.id]
        self.exercise = Exercise()
        self.drawing = False
        self.lost = 0
        self.returns = LOADER_RETURNS if prop.role in LOADERS else RETURNS
        self.known = [
            d
            for d in examiner.deviations
            if (d.clause, d.role) == (prop.clause.id, prop.role)
            and d.concerns(candidate.source.text)
        ]

    def breaks(self, case: Case, trace: Trace | None) -> bool:
        """Whether the law is broken, with nothing shrunk, done again, or said."""
        judged = trace if trace is not None else self.trace(case)
        return self.judge(case, self.with_oracle(case, judged)) is not None

    def trace(self, case: Case) -> Trace:
        """The trace of a case that is carried out now."""
        return self.worlds.run(self.candidate.source, self.examiner.located(case))

    def with_oracle(self, case: Case, trace: Trace) -> Trace:
        """The trace with what torch did for the case, where the clause compares the two."""
        if self.prop.clause.profile != "torch":
            return trace
        return with_oracle(self.worlds, self.candidate, trace)

    def judged(self, case: Case) -> tuple[Trace, Violation | None]:
        """Carry out a case and judge it."""
        return self._beside_oracle(case, self.trace(case))

    def begun(self, case: Case) -> Sent | None:
        """Send a sampler's case that will be judged soon."""
        return self.worlds.begin(self.candidate.source, self.examiner.located(case))

    def ended(self, case: Case, sent: Sent | None) -> tuple[Trace, Violation | None]:
        """What became of it, judged."""
        source, located = self.candidate.source, self.examiner.located(case)
        return self._beside_oracle(case, self.worlds.end(source, located, sent))

    def let_go(self, sent: Sent | None) -> None:
        """Nobody will judge it after all."""
        if sent is not None:
            self.worlds.let_go(sent)

    def tried(self, case: Case) -> tuple[Trace, Violation | None]:
        """The same of a case that nobody has to wait for: a loader's is let go if it takes long."""
        if case.role not in LOADERS or case.world == "group":
            return self.judged(case)
        trace = self.worlds.tried(self.candidate.source, case.in_world("alone"), TRIED_S)
        return trace, self.judge(case, trace)

    def afresh(self, case: Case) -> tuple[Trace, Violation | None]:
        """The same in a process in which nothing was done before."""
        return self._beside_oracle(case, self.worlds.afresh(self.candidate.source, case))

    def _beside_oracle(self, case: Case, made: Trace) -> tuple[Trace, Violation | None]:
        """A trace beside that of torch's own order, where the clause compares the two, judged."""
        trace = self.with_oracle(case, made)
        return trace, self.judge(case, trace)

    def judge(self, case: Case, trace: Trace) -> Violation | None:
        """What the law says; a violation that a deviation explains is none."""
        heed()
        self.exercise.run += 1
        self.examiner.heard(self.prop, self.exercise.run)
        if trace.slow:
            return None
        if not trace.done and self.prop.clause.id != self.returns:
            self.lost += 1
            return None
        try:
            violation = self.law(trace)
        except Unmet:
            return None
        self.exercise.count(trace.classes, self.drawing)
        if violation and any(d.explains(violation.anomaly, violation.about) for d in self.known):
            return None
        return violation

    def has_lost(self) -> bool:
        """Whether the role has not come back from some case, for whichever clause."""
        return (self.candidate.source, self.prop.role) in self.worlds.losses.first

    def given_up(self) -> bool:
        return self.worlds.losses.given_up(self.candidate.source, self.prop.role) or self.lost >= 3
