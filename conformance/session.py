"""One run of the suite: candidates, worlds, options; and which verdict fails an item."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch

from conformance.baseline import deviation_of, read_baseline, write_baseline
from conformance.candidate import ROLES, CandidateError, Description, Source
from conformance.case import Case, parse
from conformance.clauses import clauses
from conformance.config import read_config
from conformance.examine import Examiner, Options, Property
from conformance.plugin import FORMS
from conformance.report.forms import text, write
from conformance.report.github import tell
from conformance.report.result import result
from conformance.scenarios import EFFORTS
from conformance.verdict import DECLARED, HOLDS, NOT_APPLICABLE, NOT_PROVIDED, VIOLATED, Verdict
from conformance.worlds.worlds import Worlds


class TorchRandom:
    """torch's global generator in the shape that Hypothesis manages.

    The CPU's alone: torch.manual_seed would remember a stack trace for every absent accelerator.
    """

    def seed(self, seed: int) -> None:
        torch.default_generator.manual_seed(seed)

    def getstate(self) -> torch.Tensor:
        return torch.get_rng_state()

    def setstate(self, state: torch.Tensor) -> None:
        torch.set_rng_state(state)


TORCH_RANDOM = TorchRandom()
hypothesis.register_random(TORCH_RANDOM)


class ShouldViolated(UserWarning):
    """A SHOULD clause does not hold."""


class Session:
    """What the items of one run share. Raises CandidateError for what the user got wrong."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self.config = config
        self.case = _case(option("--case"))
        self.violated: list[Verdict] = []
        self.began = time.monotonic()
        self.worlds = Worlds(option("--backend"), option("--case-timeout"))
        options = Options(
            EFFORTS[option("--effort")], _world_sizes(option("--world-sizes")),
            option("--conformance-profile"), option("--conformance-seed"),
            option("--backend") == "simulated", option("--repro-dir"),
        )  # fmt: skip
        deviations = [d for name in option("--baseline") for d in read_baseline(name)]
        _known_patterns(option("--clause"), option("--on"))
        self.examiner = Examiner(self.worlds, options, deviations)
        names, policies = read_config(config.invocation_params.dir)
        names = (*names, *(_name(text) for text in option("--role")))
        self.candidates: dict[str, Description] = {}
        try:
            for text in option("--impl"):
                source = Source(text, names, policies, options.profile)
                self.candidates[text] = self.worlds.describe(source)
        except CandidateError:
            self.worlds.close()
            raise

    def examine(self, impl: str, prop: Property) -> Verdict:
        candidate = self.candidates[impl]
        if self.case is not None:
            return self.examiner.replay(candidate, prop, self.case)
        verdict = self.examiner.examine(candidate, prop)
        while self.config.getoption("--write-baseline") and verdict.outcome == VIOLATED:
            self.examiner.deviations.append(deviation_of(verdict))
            self.violated.append(verdict)
            verdict = self.examiner.examine(candidate, prop)
        return verdict

    def conclude(self, verdict: Verdict) -> None:
        """Pass, skip, warn or fail the item: nothing that was not seen to hold is green."""
        __tracebackhide__ = True
        if verdict.outcome in (HOLDS, DECLARED):
            return
        if verdict.outcome in (NOT_PROVIDED, NOT_APPLICABLE):
            pytest.skip(f"{verdict.outcome}: {verdict.reason}")
        lenient = verdict.level != "MUST" and not self.config.getoption("--strict-should")
        if verdict.outcome == VIOLATED and lenient:
            told = f"{verdict.clause} ({verdict.level}), {verdict.role}: {verdict.anomaly}"
            warnings.warn(told, ShouldViolated, stacklevel=2)
            return
        pytest.fail(verdict.document or f"{verdict.outcome}: {verdict.reason}", pytrace=False)

    def header(self) -> list[str]:
        chosen = self.examiner.options
        sizes = ",".join(map(str, chosen.world_sizes))
        backends = {self.worlds.backend_for(size) for size in chosen.world_sizes}
        return [
            f"conformance: profile {chosen.profile}, effort {chosen.effort.name}, "
            f"seed {chosen.seed} (--conformance-seed), world sizes {sizes}, "
            f"backend {'/'.join(sorted(backends))}, torch {torch.__version__}"
        ]

    def told(self, complete: bool) -> dict[str, Any]:
        """The options of the run, for its result."""
        chosen = self.examiner.options
        return {
            "command": " ".join(map(str, self.config.invocation_params.args)),
            "profile": chosen.profile, "effort": chosen.effort.name, "seed": chosen.seed,
            "world_sizes": list(chosen.world_sizes),
            "backends": sorted({self.worlds.backend_for(size) for size in chosen.world_sizes}),
            "baselines": list(self.config.getoption("--baseline")),
            "seconds": round(time.monotonic() - self.began, 3), "complete": complete,
        }  # fmt: skip

    def facts(self) -> list[str]:
        """A line about each candidate."""
        return [
            f"{text}: version {found.version}, roles {', '.join(found.roles)}, "
            f"policies {found.policies or 'none declared'}"
            for text, found in self.candidates.items()
        ]

    def ordered(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """In the order of the command line and of the spec."""
        place = {clause: number for number, clause in enumerate(clauses())}
        impls = list(self.candidates)
        return sorted(
            verdicts,
            key=lambda v: (impls.index(v.candidate), place[v.clause], ROLES.index(v.role)),
        )

    def finish(self, verdicts: Iterable[Verdict], complete: bool) -> list[str]:
        """Write what was asked for: the result, and every distinct violation as a baseline.

        Returns lines to print.
        """
        path = self.config.getoption("--write-baseline")
        if path:
            write_baseline(Path(path), self.ordered(self.violated))
        document = result(self.told(complete), self.candidates.values(), self.ordered(verdicts))
        for form in FORMS:
            wanted = self.config.getoption(f"--conformance-{form}")
            if wanted:
                write(Path(wanted), text(document, form))
        return tell(document)

    def close(self) -> None:
        self.worlds.close()


def _case(text: str | None) -> Case | None:
    try:
        return parse(text) if text else None
    except ValueError as error:
        raise CandidateError(f"--case: {error}") from error


def _name(text: str) -> tuple[str, str]:
    role, equals, attribute = text.partition("=")
    if not equals or not attribute:
        raise CandidateError(f"--role {text}: write ROLE=NAME, e.g. DistributedSampler=MyShards")
    return role, attribute


def _world_sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise CandidateError(f"--world-sizes {text}: write whole numbers >= 1, e.g. 1,2,4")
    return sizes


def _known_patterns(patterns: list[str], roles: list[str]) -> None:
    from fnmatch import filter as matching

    for pattern in patterns:
        if not matching(list(clauses()), pattern):
            raise CandidateError(f"--clause {pattern}: no such clause; see spec/")
    for role in roles:
        if not matching(list(ROLES), role):
            raise CandidateError(f"--on {role}: no such role; the roles are {', '.join(ROLES)}")
