"""The run of one pytest session: options become a run, verdicts become files and lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from conformance.asking import NO_CLAUSE, check_patterns, check_sizes
from conformance.baseline import layered, write_baseline
from conformance.candidate import CandidateError, Description, Source
from conformance.case import Case, parse
from conformance.clauses import clauses
from conformance.config import Config, read_config
from conformance.examine import Examiner, Options
from conformance.glance import glanced
from conformance.machine import torch_version
from conformance.options import FORMS, strict
from conformance.properties import Property
from conformance.rehearsal import Rehearsal
from conformance.report.bindings import bindings
from conformance.report.forms import text, write
from conformance.report.github import tell
from conformance.report.result import result
from conformance.roles import ROLES, known_roles
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.smoke import smoke
from conformance.verdict import Verdict


def looks_ahead(config: pytest.Config) -> bool:
    """Whether it is known what this process will examine, and all of it is looked at.

    Not among xdist's workers, which must all have the same order, and of which none knows what it
    will be given.
    """
    other = any(map(config.getoption, ("--case", "--write-baseline", "--smoke")))
    return not (other or hasattr(config, "workerinput"))


def glances(config: pytest.Config) -> bool:
    """Whether what small cases show goes first, since the first failure ends the run anyway."""
    return looks_ahead(config) and config.getoption("maxfail") == 1


class Session:
    """What the items of one run share. Raises CandidateError for what the user got wrong."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self.config = config
        self.case = _case(option("--case"))
        self.declared = read_config(config.invocation_params.dir)
        self.strict = strict(config, self.declared.strict)
        self.baselines = [*self.declared.baselines, *option("--baseline")]
        _check_smoke(config)
        check_patterns("--clause", option("--clause"), clauses(), NO_CLAUSE)
        check_patterns("--on", option("--on"), ROLES, f"no such role; {known_roles()}")
        options = Options(
            EFFORTS[option("--effort")],
            _world_sizes(option("--world-sizes")),
            option("--conformance-profile"), option("--conformance-seed"),
            option("--backend") == "simulated", option("--repro-dir"),
            spec_url=self.declared.spec_url,
        )  # fmt: skip
        deviations = layered(self.baselines, self.declared.table, option("--impl"))
        self.run = Run(options, option("--backend"), option("--case-timeout"), deviations)
        sources = _sources(config, self.declared, options.profile)
        with self._rehearsal(sources) if glances(config) else nullcontext():
            for source in sources:
                self.run.add(source)

    def _rehearsal(self, sources: Sequence[Source]) -> Rehearsal:
        return Rehearsal(Examiner(self.run.worlds, self.run.options, []), sources)

    def examine(self, impl: str, prop: Property) -> Verdict:
        if self.case is not None:
            return self.run.replay(impl, prop, self.case)
        if self.config.getoption("--write-baseline"):
            return self.run.examine_all(impl, prop)
        return self.run.examine(impl, prop)

    def first(self, subjects: Sequence[tuple[str, Property]]) -> tuple[str, Property] | None:
        """The first of these of which a glance shows that it will fail, if there is one."""
        for impl, candidate in self.run.candidates.items():
            own = [
                prop for name, prop in subjects
                if name == impl and (self.strict or prop.clause.level == "MUST")
            ]  # fmt: skip
            found, _ = glanced(self.run.examiner, candidate, own)
            if found is not None:
                return impl, found
        return None

    def begin(self, subjects: Sequence[tuple[str, Property]]) -> None:
        """All of these will be examined, in this order."""
        if len(self.run.candidates) == 1:
            self.run.begin(next(iter(self.run.candidates)), [prop for _, prop in subjects])

    def header(self) -> list[str]:
        chosen = self.run.options
        sizes = ",".join(map(str, chosen.world_sizes))
        return [
            f"conformance: profile {chosen.profile}, effort {chosen.effort.name}, "
            f"seed {chosen.seed} (--conformance-seed), world sizes {sizes}, "
            f"backend {'/'.join(self.run.backends())}, torch {torch_version()}",
            *(
                f"{text} is examined as {', '.join([*found.roles, *_told(found)])}"
                for text, found in self.run.candidates.items()
                if len(found.roles) == 1
            ),
        ]

    def told(self, complete: bool) -> dict[str, Any]:
        """The options of the run, for its result."""
        command = " ".join(map(str, self.config.invocation_params.args))
        baselines = list(self.baselines)
        return self.run.told() | {"command": command, "baselines": baselines, "complete": complete}

    def facts(self) -> dict[str, list[str]]:
        """By candidate, what is known of it before anything is examined."""
        return {text: [_known(found), *_told(found)] for text, found in self.run.candidates.items()}

    def told_of_smoke(self) -> list[str]:
        """What is known of the candidates, and how each argument is bound."""
        found = self.run.candidates.items()
        return [line for text, one in found for line in (f"{text}: {_known(one)}", *bindings(one))]

    def roles(self) -> list[tuple[str, str]]:
        """Each candidate with each of its roles."""
        found = self.run.candidates.items()
        return [(text, role) for text, one in found for role in ROLES if role in one.roles]

    def smoke(self, impl: str, role: str) -> str:
        """Why a role does not work at all, "" if it does."""
        return smoke(self.run.examiner, self.run.candidates[impl], role)

    def finish(self, verdicts: Iterable[Verdict], complete: bool) -> list[str]:
        """Write what was asked for: the result, and every distinct violation as a baseline.

        Returns lines to print.
        """
        path, candidates = self.config.getoption("--write-baseline"), self.run.candidates
        if path:
            found = self.run.ordered(self.run.violated)
            write_baseline(Path(path), found, several=len(candidates) > 1)
        ordered = self.run.ordered(verdicts)
        url = self.declared.spec_url or None
        document = result(self.told(complete), candidates.values(), ordered, spec_url=url)
        for form in FORMS:
            wanted = self.config.getoption(f"--conformance-{form}")
            if wanted:
                write(Path(wanted), text(document, form))
        return tell(document)

    def close(self) -> None:
        self.run.close()


def _known(found: Description) -> str:
    declared = found.policies or "none declared"
    return f"version {found.version}, roles {', '.join(found.roles)}, policies {declared}"


def _told(found: Description) -> list[str]:
    """How arguments are bound that the candidate calls otherwise."""
    told = filter(None, (binding.told() for binding in found.bound.values()))
    return [f"bound {line}" for line in told]


def _sources(config: pytest.Config, declared: Config, profile: str) -> list[Source]:
    names = (*declared.roles, *(_name(text) for text in config.getoption("--role")))
    impls = config.getoption("--impl")
    return [Source(text, names, declared.policies, profile) for text in impls]


def _check_smoke(config: pytest.Config) -> None:
    asked: tuple[str, ...] = ("--clause", "--case", "--write-baseline", "--repro-dir")
    asked = (*asked, *(f"--conformance-{form}" for form in FORMS))
    other = [name for name in asked if config.getoption(name)]
    if config.getoption("--smoke") and other:
        raise CandidateError(f"{other[0]} with --smoke: it examines no clause and has no result")


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
    return check_sizes("--world-sizes", sizes)
