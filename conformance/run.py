"""One run of the suite, whoever asks for it: candidates, worlds, and the verdicts on them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from conformance import ahead, garbage
from conformance.baseline import Deviation, deviation_of
from conformance.candidate import CandidateError, Description, Source
from conformance.case import Case
from conformance.clauses import clauses
from conformance.examine import Examiner, Options
from conformance.properties import Property
from conformance.randomness import manage_torch
from conformance.roles import ROLES
from conformance.verdict import VIOLATED, Verdict
from conformance.worlds.worlds import Worlds


class Run:
    """Candidates in the worlds of one run. Close it at the end, or use it as a context.

    backend, case_timeout_s: as `--backend` and `--case-timeout`.
    """

    def __init__(
        self, options: Options, backend: str = "auto", case_timeout_s: float = 20.0,
        deviations: Sequence[Deviation] = (),
    ) -> None:  # fmt: skip
        self.options, self.began = options, time.monotonic()
        self.worlds = Worlds(backend, case_timeout_s)
        manage_torch()
        garbage.seldom()
        self.examiner = Examiner(self.worlds, options, list(deviations))
        self.candidates: dict[str, Description] = {}
        self.violated: list[Verdict] = []

    def add(self, source: Source) -> Description:
        """Describe a candidate. Raises CandidateError, and ends all processes, if that fails."""
        try:
            self.candidates[source.text] = self.worlds.describe(source)
        except CandidateError:
            self.close()
            raise
        return self.candidates[source.text]

    def begin(self, impl: str, props: Iterable[Property]) -> None:
        """All of these will be examined, in this order: begin what does not hold others up."""
        ahead.expect(self.examiner, self.candidates[impl], props)

    def examine(self, impl: str, prop: Property) -> Verdict:
        """The verdict on one property of a candidate that was added."""
        return self.examiner.examine(self.candidates[impl], prop)

    def replay(self, impl: str, prop: Property, case: Case) -> Verdict:
        """The verdict as far as one case goes."""
        return self.examiner.replay(self.candidates[impl], prop, case)

    def examine_all(self, impl: str, prop: Property) -> Verdict:
        """The verdict once every violation is declared; `violated` then holds each of them."""
        verdict = self.examine(impl, prop)
        while verdict.outcome == VIOLATED:
            self.examiner.deviations.append(deviation_of(verdict))
            self.violated.append(verdict)
            verdict = self.examine(impl, prop)
        return verdict

    def told(self) -> dict[str, Any]:
        """The options of the run, for its result."""
        chosen = self.options
        return {
            "profile": chosen.profile, "effort": chosen.effort.name, "seed": chosen.seed,
            "world_sizes": list(chosen.world_sizes), "backends": self.backends(),
            "seconds": round(time.monotonic() - self.began, 3),
        }  # fmt: skip

    def backends(self) -> list[str]:
        """The backends of the real groups."""
        return sorted({self.worlds.backend_for(size) for size in self.options.world_sizes})

    def ordered(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """In the order of the candidates and of the spec."""
        place = {clause: number for number, clause in enumerate(clauses())}
        impls = list(self.candidates)
        return sorted(
            verdicts,
            key=lambda v: (impls.index(v.candidate), place[v.clause], ROLES.index(v.role)),
        )

    def close(self) -> None:
        """End all processes."""
        self.worlds.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()
