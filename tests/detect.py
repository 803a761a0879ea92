"""How soon the suite finds something wrong with a candidate, up to the first violation.

This is what a user sees with `pytest -x`: the clauses in order, but first what small cases show. It
takes place in worlds that many candidates share: standing ranks keep what they have imported and
nothing else, so one candidate does not hear of another. Where even that is too much (a module may
count its own passes), `fresh` gives the next search ranks of its own.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from conformance.baseline import Deviation
from conformance.candidate import CandidateError, Description, Source
from conformance.case import Case
from conformance.classes import is_forked, work
from conformance.examine import Examiner, Options
from conformance.glance import glanced
from conformance.laws import Violation
from conformance.properties import Property, everything
from conformance.roles import LOADERS
from conformance.scenarios import EFFORTS, Effort, Scenario
from conformance.search import Search
from conformance.verdict import VIOLATED, Verdict
from conformance.worlds.worlds import Worlds

SMALL = Effort("small", examples=2, n_max=5, world_max=3, trials=0.25, seconds=20.0)
"""Less than any run of the suite does: enough for most mutants, and to ask all right ones all."""

BOUND_S = 10.0
"""Seconds that a rank may take for a case."""

DRAWS_MAX = 200_000
"""`Shorter` leaves out cases that draw more items: there are few, which take seconds each."""

ITEMS_MAX = 2000
"""`Fewest` leaves out cases of loaders that deliver more."""

IMPORT = "import"
"""The clause of a candidate that cannot even be imported."""


@dataclass(frozen=True)
class Detection:
    """The first violation: clause, role, anomaly; wall seconds and cases until it was told."""

    clause: str
    role: str
    anomaly: str
    seconds: float
    cases: int


class Sampling(Examiner):
    """Looks at a sample of the small cases: the first of each scenario, then every so many."""

    first, step = 24, 4

    def fitting(self, candidate: Description, role: str, scenario: Scenario) -> Iterator[Case]:
        made = super().fitting(candidate, role, scenario)
        rest = itertools.islice(made, self.offset(candidate), None, self.step)
        return itertools.chain(itertools.islice(made, self.first), rest)

    def offset(self, candidate: Description) -> int:
        """How many are left out between the first ones and the rest."""
        return 0


class Shorter(Sampling):
    """Leaves long cases out as well."""

    def fitting(self, candidate: Description, role: str, scenario: Scenario) -> Iterator[Case]:
        made = super().fitting(candidate, role, scenario)
        return (case for case in made if work(case) <= DRAWS_MAX)


class Fewer(Shorter):
    """A smaller sample."""

    first, step = 12, 8


class Fewest(Fewer):
    """A small sample, another for each candidate: to ask many right ones all clauses.

    Workers that are no forks import torch, for seconds each, as long as thousands of items take:
    whole runs ask right ones about them.
    """

    first, step = 6, 16

    def fitting(self, candidate: Description, role: str, scenario: Scenario) -> Iterator[Case]:
        return filter(_is_soon_over, super().fitting(candidate, role, scenario))

    def offset(self, candidate: Description) -> int:
        name = candidate.source.text.rpartition("/")[-1]  # the same wherever this checkout lies
        return zlib.crc32(name.encode()) % self.step


def _is_soon_over(case: Case) -> bool:
    """Whether it takes no second: of samplers' cases those do which `Shorter` leaves."""
    return case.role not in LOADERS or (is_forked(case) and work(case) <= ITEMS_MAX)


def sampled(
    source: Source, props: Iterable[Property], options: Options,
    known: Collection[Deviation] = (), kind: type[Sampling] = Shorter,
) -> list[Verdict]:  # fmt: skip
    """The verdicts on a candidate, as far as a sample of the small cases tells."""
    with contextlib.closing(Worlds("gloo", BOUND_S)) as worlds:
        examiner = kind(worlds, options, list(known))
        candidate = worlds.describe(source)
        return [examiner.examine(candidate, prop) for prop in props]


class Detector:
    """Looks at candidates one after another. Close it at the end.

    deviations: what is known of the candidates and does not count. bound_s: seconds a rank may take
    for a case. examiner: what the last search was made with.
    """

    examiner: Examiner

    def __init__(
        self,
        effort: str = "ci",
        seed: int = 0,
        deviations: Collection[Deviation] = (),
        world_sizes: tuple[int, ...] = (1, 2, 3),
        bound_s: float = BOUND_S,
        profile: str = "core",
    ) -> None:
        self.worlds = Worlds("gloo", bound_s)
        self.world_sizes = world_sizes
        self.deviations = list(deviations)
        self.choose(effort, seed, profile)

    def choose(self, effort: str, seed: int, profile: str = "core") -> None:
        """The effort, seed and profile of the searches that follow."""
        self.options = Options(EFFORTS[effort], self.world_sizes, profile, seed, replay=False)

    def fresh(self) -> None:
        """Give the next search new ranks, from the fork servers that stand; forget all losses."""
        for pool in self.worlds.pools.values():
            if not pool.broken:
                pool.close()
        for memory in (self.worlds.pools, self.worlds.losses):
            memory.clear()

    def close(self) -> None:
        """End all processes."""
        self.worlds.close()

    def first(
        self, text: str, only: Collection[str] = (), within_s: float = 600.0, cut_down: bool = True
    ) -> Detection | None:
        """The first violation that any clause (of `only`, if given) finds; None if there is none.

        cut_down: whether the case is cut down, as for a user, or told as a glance shows it.
        Raises TimeoutError if `within_s` passed before all clauses were examined.
        """
        began = time.monotonic()
        try:
            candidate = self.worlds.describe(Source(text, profile=self.options.profile))
        except CandidateError as error:
            return Detection(IMPORT, "", str(error), time.monotonic() - began, 0)
        examiner = self.examiner = Examiner(self.worlds, self.options, self.deviations)
        props = [prop for prop in self._properties(only) if prop.role in candidate.roles]
        ahead, cases = glanced(examiner, candidate, props)
        if ahead and not cut_down and (seen := _shown(Search(examiner, candidate, ahead))):
            took = time.monotonic() - began
            return Detection(ahead.clause.id, ahead.role, seen.anomaly, took, cases)
        for prop in [ahead, *props] if ahead else props:
            verdict = examiner.examine(candidate, prop)
            cases, took = cases + verdict.exercise.run, time.monotonic() - began
            if verdict.outcome == VIOLATED:
                return Detection(verdict.clause, prop.role, verdict.anomaly, took, cases)
            if took > within_s:
                raise TimeoutError(f"{text}: {took:.0f} s, at {verdict.clause}")
        return None

    def _properties(self, only: Collection[str]) -> list[Property]:
        return [prop for prop in everything() if not only or prop.clause.id in only]


def _shown(search: Search) -> Violation | None:
    """The violation that a glance has shown, unless it has to be seen twice."""
    seen = search.examiner.shown.get((search.candidate.source, search.prop))
    if seen is None:
        return None
    case, trace = seen[1]
    violation = search.judge(case, search.with_oracle(case, trace))
    return None if violation and violation.racy else violation


@functools.cache
def own() -> Detector:
    """The detector of this process, which keeps it."""
    return Detector()
