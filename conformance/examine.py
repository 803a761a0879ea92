"""Examine a candidate: one run's worlds, and what clauses share: cases that were carried out once.

A case is carried out for all clauses that look at it; `search.py` looks for one clause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.baseline import Deviation
from conformance.candidate import Description, Source
from conformance.case import Case
from conformance.drawing import Traces
from conformance.fitting import all_fitted, fitted
from conformance.laws import load_laws
from conformance.pace import PATIENCE, Pace
from conformance.properties import Property
from conformance.roles import LOADERS
from conformance.scenarios import Effort, Scenario, Setting
from conformance.search import Search
from conformance.small import ALL, Pair, Places, SmallCases
from conformance.spread import parts, portions
from conformance.telling import told_of_faults
from conformance.trace import Trace
from conformance.verdict import Verdict
from conformance.worlds.forkserver import HASH_SEEDS, server
from conformance.worlds.worlds import Worlds

if TYPE_CHECKING:
    from conformance.report.reproduction import Shelf

Key = tuple[Source, str, str]
"""Candidate, role and name of the scenario."""


@dataclass(frozen=True)
class Options:
    """The options of a run.

    scripts: the folder for stand-alone reproductions, if any. replay: whether the declared
    deviations are carried out first, to see that they still occur. spec_url: where the spec stands
    as pages, "" if nowhere.
    """

    effort: Effort
    world_sizes: tuple[int, ...]
    profile: str = "core"
    seed: int = 0
    simulated: bool = False
    scripts: str | None = None
    replay: bool = True
    spec_url: str = ""


class Examiner:
    """Examines candidates one property at a time, in the worlds of one run.

    heard: is told of each case that was judged: the property, and how many there were. shown: by
    property, the scenario and the case that are known to break its law.
    """

    def __init__(self, worlds: Worlds, options: Options, deviations: list[Deviation]) -> None:
        self.worlds, self.options, self.deviations = worlds, options, deviations
        self.small: dict[Key, SmallCases] = {}
        self.divided: dict[Key, tuple[frozenset[int], ...]] = {}
        self.drawn: dict[Key, Traces] = {}
        self.strategies: dict[Key, Any] = {}
        self.shelf = _shelf(options.scripts) if options.scripts else None
        self.alone: dict[tuple[Source, Case], Trace] = {}
        self.shown: dict[tuple[Source, Property], tuple[Scenario, Pair]] = {}
        self.pace = Pace(PATIENCE * options.effort.seconds)
        self.heard: Callable[[Property, int], None] = lambda prop, cases: None
        load_laws()

    def expect(self, candidate: Description, props: Iterable[Property]) -> None:
        """Make ready what these will need: every other rank of a group imports torch meanwhile."""
        asked = ((prop.role, scenario) for prop in props for scenario in prop.scenarios)
        if max(self.sizes, default=1) > 1 and any(self._grouped(candidate, *one) for one in asked):
            server(HASH_SEEDS[1])

    def _grouped(self, candidate: Description, role: str, scenario: Scenario) -> bool:
        """Whether cases of a scenario take real groups: what is drawn for samplers does."""
        if role not in LOADERS:
            return scenario.drawn is not None
        cases = self.cases(candidate, role, scenario) if scenario.small else ()
        return any(case.world == "group" for case in cases)

    def examine(self, candidate: Description, prop: Property) -> Verdict:
        """The verdict on one property."""
        began = time.monotonic()
        if (candidate.source, prop) not in self.shown:
            self.expect(candidate, [prop])
        search = Search(self, candidate, prop)
        verdict = search.verdict()
        verdict.seconds = round(time.monotonic() - began, 4)
        return verdict

    def replay(self, candidate: Description, prop: Property, case: Case) -> Verdict:
        """The verdict on one property as far as one case goes."""
        search = Search(self, candidate, prop)
        return search.concluded([lambda: search.look([(case, search.trace(case))])])

    def traces(
        self, candidate: Description, role: str, scenario: Scenario, places: Places = ALL
    ) -> Iterator[Pair]:
        """The traces of a scenario's small cases, as the candidate can be given them.

        Each is carried out once for all clauses that look.
        """
        return self._small(candidate, role, scenario).at(places)

    def expected(
        self, candidate: Description, role: str, scenario: Scenario, places: Places = ALL
    ) -> Iterator[tuple[int, Case]]:
        """The small cases of a scenario that will have to be carried out, with their places."""
        return self._small(candidate, role, scenario).left(places)

    def skipped(self, candidate: Description, role: str, scenarios: Iterable[Scenario]) -> int:
        """How many small cases a slow role was not asked."""
        return sum(len(self._small(candidate, role, s).skipped) for s in scenarios if s.small)

    def _small(self, candidate: Description, role: str, scenario: Scenario) -> SmallCases:
        key = candidate.source, role, scenario.name
        if key not in self.small:
            self.small[key] = SmallCases(
                self.fitting(candidate, role, scenario),
                partial(self._carried_out, (candidate.source, role)),
                self.pace.asks((candidate.source, role)),
            )
        return self.small[key]

    def carried_out(self, candidate: Description, role: str, scenario: Scenario) -> frozenset[int]:
        """The places of a scenario's small cases that were carried out already."""
        return frozenset(self._small(candidate, role, scenario).found)

    def cases(self, candidate: Description, role: str, scenario: Scenario) -> Iterable[Case]:
        """The small cases of a scenario, as the candidate can be given them, each made once."""
        return self._small(candidate, role, scenario).made

    def fitting(self, candidate: Description, role: str, scenario: Scenario) -> Iterator[Case]:
        """The same, made anew."""
        assert scenario.small is not None
        made = scenario.small(self.setting(candidate, role))
        return map(self.located, all_fitted(made, candidate, self.sizes))

    def parts(
        self, candidate: Description, role: str, scenario: Scenario
    ) -> tuple[frozenset[int], ...]:
        """The places of a scenario's small cases in the parts that `spread` makes of them."""
        key = candidate.source, role, scenario.name
        if key not in self.divided:
            cases = (*self.cases(candidate, role, scenario),)
            if role in LOADERS:
                told = told_of_faults(scenario.name, cases)
                self.divided[key] = parts(cases, scenario.slow, told)
            else:
                self.divided[key] = portions(cases)
        return self.divided[key]

    def _carried_out(
        self, role: tuple[Source, str], cases: Iterable[Case]
    ) -> Iterator[tuple[Case, Pair | None]]:
        source = role[0]
        for case, trace in self.pace.timed(role, self.worlds.run_many(source, cases)):
            pair = self._placed(source, case, trace)
            if pair is not None and pair[0].world == "alone":
                self.alone[source, pair[0]] = pair[1]
            yield case, pair

    def carried(self, candidate: Description, case: Case) -> tuple[Case, Trace] | None:
        """A single case carried out, as the candidate can be given it; None if it cannot."""
        taken = fitted(case, candidate, self.sizes)
        if taken is None:
            return None
        taken = self.located(taken)
        return self._placed(candidate.source, taken, self.worlds.run(candidate.source, taken))

    def located(self, case: Case) -> Case:
        """The same case; simulated where the run has no real groups."""
        simulated = self.options.simulated and case.world == "group"
        return case.in_world("simulated") if simulated else case

    def _placed(self, source: Source, case: Case, trace: Trace) -> Pair | None:
        """A candidate that asks for a process group gets one, as far as there are real ranks."""
        if not needs_group(trace):
            return case, trace
        if self.options.simulated or case.world_size > max(self.options.world_sizes):
            return None
        case = case.in_world("group")
        return case, self.worlds.run(source, case)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The world sizes of which there are real groups."""
        return () if self.options.simulated else self.options.world_sizes

    def setting(self, candidate: Description, role: str) -> Setting:
        chosen = self.options
        return Setting(
            candidate, role, chosen.world_sizes, chosen.effort, chosen.seed, chosen.simulated
        )

    def strategy(self, candidate: Description, role: str, scenario: Scenario) -> Any:
        """The strategy of a scenario, made once: Hypothesis checks each new one at length.

        None where nothing of it can be given to the candidate, as far as small cases tell: it takes
        Hypothesis long to find that out.
        """
        key = candidate.source, role, scenario.name
        if candidate.bound and scenario.small and not any(self.traces(candidate, role, scenario)):
            return None
        if key not in self.strategies:
            assert scenario.drawn is not None
            made: Any = scenario.drawn(self.setting(candidate, role))
            if made is not None and candidate.bound:
                made = made.map(lambda case: fitted(case, candidate, self.sizes))
                made = made.filter(lambda case: case is not None)
            self.strategies[key] = made
        return self.strategies[key]


def _shelf(folder: str) -> Shelf:
    """Reproductions know torch, which is imported for them alone."""
    from conformance.report.reproduction import Shelf

    return Shelf(Path(folder))


def needs_group(trace: Trace) -> bool:
    """Whether ranks that were told their rank asked torch.distributed all the same."""
    sentence = "process group has not been initialized"
    errors = (event.error for rank in trace for event in rank.events)
    return trace.case.passed and any(error and sentence in error.message for error in errors)
