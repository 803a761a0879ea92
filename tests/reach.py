"""How far the cases of each property reach: how many of them fell in each class.

Cases of samplers are carried out and judged, and count where they met the clause's precondition.
Cases of loaders, which start processes, are drawn and counted, and not carried out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from due import due
from zoo import SAMPLING

from conformance.candidate import Description
from conformance.case import Case
from conformance.classes import classes
from conformance.drawing import Drawing
from conformance.examine import Examiner, Options
from conformance.laws import Violation
from conformance.properties import Property
from conformance.scenarios import EFFORTS
from conformance.trace import Trace
from conformance.verdict import NOT_APPLICABLE, Exercise
from conformance.worlds.worlds import Worlds

WORLD_SIZES = (1, 2, 3)

TRIALS = 0.02
"""A statistic that needs fewer trials visits the same classes."""

N_MAX, WORLD_MAX = 10, 4
"""What a part of a sampler's small cases reaches, all of them reach."""


@dataclass(frozen=True)
class Reach:
    """What one property has seen. reason: why the property has no case, if so. accused: what it
    tells of the candidate, if it found it wrong."""

    prop: Property
    exercise: Exercise
    reason: str = ""
    accused: str = ""

    @property
    def name(self) -> str:
        return f"{self.prop.clause.id} {self.prop.role}"

    def missed(self) -> list[str]:
        """A sentence for each class that is due and was not reached."""
        seen, told = self.exercise, f"{self.exercise.exercised} of {self.exercise.run} cases"
        drawn = any(scenario.drawn for scenario in self.prop.scenarios)
        found = [f"{name}: none of {told}" for name in due(self.prop) if name not in seen.classes]
        found += [
            f"{name}: none of the drawn ones among {told}"
            for name in (due(self.prop, drawn=True) if drawn else ())
            if name not in seen.drawn
        ]
        return [] if self.reason else [f"{self.name}: {sentence}" for sentence in found]


class Counting:
    """Stands for whoever judges drawn cases: they are counted, and nothing is carried out."""

    def __init__(self, prop: Property) -> None:
        self.prop, self.exercise = prop, Exercise()

    def judged(self, case: Case) -> tuple[Trace, Violation | None]:
        self.see(case, drawn=True)
        return Trace(case, ()), None

    def given_up(self) -> bool:
        return False

    def see(self, case: Case, drawn: bool = False) -> None:
        self.exercise.run += 1
        self.exercise.count(classes(case), drawn)


class Reacher:
    """Counts the classes of one candidate's properties."""

    def __init__(
        self, worlds: Worlds, candidate: Description, effort: str = "ci", seed: int = 0
    ) -> None:
        self.effort = replace(EFFORTS[effort], trials=TRIALS)
        smaller = replace(self.effort, n_max=N_MAX, world_max=WORLD_MAX)
        self.options = Options(smaller, WORLD_SIZES, seed=seed, replay=False)
        self.examiner = Examiner(worlds, self.options, [])
        self.candidate = candidate

    def reach(self, prop: Property) -> Reach:
        if prop.clause.chapter in SAMPLING:
            verdict = self.examiner.examine(self.candidate, prop)
            none = verdict.outcome == NOT_APPLICABLE
            reason = verdict.reason if none else ""
            return Reach(prop, verdict.exercise, reason, verdict.document)
        return Reach(prop, self._counted(prop))

    def _counted(self, prop: Property) -> Exercise:
        counting = Counting(prop)
        setting = replace(self.examiner.setting(self.candidate, prop.role), effort=self.effort)
        for scenario in prop.scenarios:
            for case in scenario.small(setting) if scenario.small else ():
                counting.see(case)
            strategy = scenario.drawn(setting) if scenario.drawn else None
            if strategy is not None:
                seed = scenario.seed(self.options.seed, prop.role)
                Drawing(counting, self.effort).run(strategy, scenario.count(self.effort), seed)
        return counting.exercise
