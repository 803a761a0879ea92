"""What is asked of the suite from Python, checked before anything starts."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from conformance.baseline import layered
from conformance.candidate import CandidateError, Source
from conformance.clauses import clauses
from conformance.examine import Options
from conformance.options import BACKENDS, PROFILES, like
from conformance.properties import Property, everything
from conformance.roles import ROLES, roles_of
from conformance.run import Run
from conformance.scenarios import EFFORTS

NO_CLAUSE = "no such clause; see spec/"


@dataclass(frozen=True)
class Asked:
    """A candidate and how it is to be examined. roles: those that may be examined."""

    source: Source
    roles: tuple[str, ...]
    patterns: tuple[str, ...]
    options: Options
    backend: str
    case_timeout_s: float
    baselines: tuple[str, ...]

    def open(self) -> Run:
        """A run with this candidate."""
        text = self.source.text
        deviations = layered(self.baselines, None, [text])
        run = Run(self.options, self.backend, self.case_timeout_s, deviations)
        run.add(self.source)
        return run

    def properties(self) -> list[Property]:
        """What is examined, in the order of the spec."""
        return [
            prop for prop in everything()
            if prop.role in self.roles and like(prop.clause.id, self.patterns)
        ]  # fmt: skip


def asked(
    candidate: Any, role: str | None, patterns: Sequence[str], *, effort: str = "ci",
    seed: int = 0, profile: str = "core", world_sizes: Sequence[int] = (1, 2, 3, 4),
    backend: str = "auto", policies: dict[str, Any] | None = None,
    baselines: Sequence[str] = (), case_timeout_s: float = 20.0,
) -> Asked:  # fmt: skip
    """Check the arguments of `conformance.check`. Raises CandidateError that names the one."""
    _one_of("effort", effort, EFFORTS)
    _one_of("profile", profile, PROFILES)
    _one_of("backend", backend, BACKENDS)
    _one_of("role", role, (None, *ROLES))
    check_patterns("clauses", patterns, clauses(), NO_CLAUSE)
    sizes = check_sizes("world_sizes", world_sizes)
    names = ((role, _named(candidate)),) if role and not _holds_many(candidate) else ()
    text = candidate if isinstance(candidate, str) else f"{_place(candidate)}"
    source = Source(text, names, tuple((policies or {}).items()), profile)
    options = Options(EFFORTS[effort], sizes, profile, seed, backend == "simulated")
    found = (role,) if role else _roles(candidate, source)
    return Asked(source, found, tuple(patterns), options, backend, case_timeout_s, tuple(baselines))


def _one_of(argument: str, value: Any, known: Collection[Any]) -> None:
    if value not in known:
        told = ", ".join(str(name) for name in known if name)
        raise CandidateError(f"{argument} = {value!r}: one of {told}")


def check_patterns(
    argument: str, patterns: Iterable[str], known: Collection[str], otherwise: str
) -> None:
    """Every pattern must be like one of the known names. otherwise: what is told if it is not."""
    for pattern in patterns:
        if not any(like(name, [pattern]) for name in known):
            raise CandidateError(f"{argument} {pattern}: {otherwise}")


def check_sizes(argument: str, sizes: Iterable[Any]) -> tuple[int, ...]:
    """World sizes: at least one, all of them whole and positive."""
    found = tuple(sizes)
    if not found or not all(type(size) is int and size >= 1 for size in found):
        raise CandidateError(f"{argument} {found}: write whole numbers >= 1, e.g. 1,2,4")
    return found


def _holds_many(candidate: Any) -> bool:
    return isinstance(candidate, ModuleType) or (
        isinstance(candidate, str) and ":" not in candidate
    )


def _named(candidate: Any) -> str:
    name = candidate if isinstance(candidate, str) else getattr(candidate, "__name__", "")
    return str(name).rpartition(":")[2].rpartition(".")[2]


def _roles(candidate: Any, source: Source) -> tuple[str, ...]:
    """The roles of an object that is here already; of a text only the ranks can tell."""
    if isinstance(candidate, str):
        return ROLES
    return tuple(roles_of(candidate, dict(source.names), source.text))


def _place(candidate: Any) -> str:
    """Where other processes find an object: `module`, `module:Name` or `file.py:Name`."""
    if isinstance(candidate, ModuleType):
        return _importable(candidate)
    qualified = getattr(candidate, "__qualname__", "")
    module = inspect.getmodule(candidate)
    if not qualified or "<" in qualified or module is None:
        told = "other processes must be able to import it: a class of a module or of a file"
        raise CandidateError(f"candidate = {candidate!r}: {told}")
    return f"{_importable(module)}:{qualified}"


def _importable(module: ModuleType) -> str:
    """The name of a module if it leads to its file, else the file."""
    file = getattr(module, "__file__", None)
    name = module.__name__
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is not None and (file is None or found.origin == file):
        return name
    if file is None or not Path(file).exists():
        told = "it has no file, and other processes must import it"
        raise CandidateError(f"candidate: module {name}: {told}")
    return str(file)
