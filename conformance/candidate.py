"""The candidate: the module under test, found by what `--impl` says, described as plain data.

Only ranks import a candidate; the process that runs pytest never does, so that nothing a candidate
does at import can hurt the run.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from conformance.adapter import Adapter, adapted
from conformance.aliases import canonical
from conformance.binding import Binding, Bound, UnboundError, bound
from conformance.importing import CandidateError as CandidateError
from conformance.importing import attribute_of, imported
from conformance.policies import UNSAID, checked
from conformance.roles import FIRST, LOADERS, RANKED, ROLES, roles_of

INFO = "get_worker_info"


@dataclass(frozen=True)
class Source:
    """Where a candidate comes from: the text of `--impl`, renamed roles, declared policies.

    names: pairs (role, attribute). policies: pairs that override what the module declares.
    profile: under "torch" a module may name its drop-in variant in `CONFORMANCE["torch"]`.
    """

    text: str
    names: tuple[tuple[str, str], ...] = ()
    policies: tuple[tuple[str, Any], ...] = ()
    profile: str = "core"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Description:
    """What a candidate provides: role -> parameter names ("**" if it takes any), its policies.

    epochs: the roles whose class has `set_epoch`. bound: the roles whose class takes arguments
    otherwise than torch does. beside: the package of a `get_worker_info` that is not its own.
    """

    source: Source
    roles: dict[str, tuple[str, ...]]
    policies: dict[str, Any] = field(default_factory=dict)
    epochs: tuple[str, ...] = ()
    version: str = "unknown"
    digest: str = ""
    file: str = ""
    bound: dict[str, Binding] = field(default_factory=dict)
    beside: str = ""

    def binding(self, role: str) -> Binding:
        return self.bound.get(role, Binding())

    def stated(self, role: str) -> dict[str, Any]:
        """The policies, and whether it can be known at all if the class shuffles."""
        told = role not in self.bound or role not in RANKED or self.accepts(role, "shuffle")
        return {**({} if told else {"shuffles": UNSAID}), **self.policies}

    def accepts(self, role: str, parameter: str) -> bool:
        parameters = self.roles.get(role, ())
        return parameter in parameters or "**" in parameters


@dataclass(frozen=True)
class Provided:
    """What an import gave: the module, its classes by role, its policies, its adapter if any, and
    the package of a `get_worker_info` that is not its own, "" if it is."""

    module: ModuleType
    roles: dict[str, Any]
    policies: dict[str, Any]
    adapter: Adapter | None
    beside: str


def load(source: Source) -> dict[str, Any]:
    """Import a candidate; returns its role classes. Raises CandidateError as `provided` does."""
    return {**_stand_ins(), **provided(source).roles}


def describe(source: Source) -> Description:
    """Import a candidate; returns what is known of it. Raises CandidateError as `provided` does.

    To find its version, all that is installed is looked through: many ranks need no description.
    """
    found = provided(source)
    file = getattr(found.module, "__file__", None) or ""
    subject = found.module
    if found.adapter is not None:
        subject = sys.modules.get(found.adapter.subject.__module__, subject)
    text = Path(getattr(subject, "__file__", None) or file or os.devnull)
    roles = found.roles.items()
    return Description(
        source=source,
        roles={role: _parameters(made) for role, made in roles},
        policies=found.policies,
        epochs=tuple(role for role, made in roles if _sets_epoch(made)),
        bound={role: made.binding for role, made in roles if isinstance(made, Bound)},
        version=_version(subject),
        digest=hashlib.sha256(text.read_bytes()).hexdigest()[:12] if file else "",
        file=file,
        beside=found.beside,
    )


@functools.cache
def provided(source: Source) -> Provided:
    """Import a candidate.

    Raises CandidateError, in one sentence, for a module that is missing or fails to import, that
    has no role, a role that is misspelt, or a policy that does not exist.
    """
    name, _, attribute = source.text.partition(":")
    module = imported(name)
    declared = dict(getattr(module, "CONFORMANCE", {}))
    if source.profile == "torch" and "torch" in declared:
        module = imported(declared["torch"])
    holder = attribute_of(module, attribute, source.text) if attribute else module
    if attribute:
        holder = _adapted(holder, declared, source.text)
    roles = roles_of(holder, dict(source.names), source.text)
    own = holder.policies if isinstance(holder, Adapter) else {}
    said = {**declared.get("policies", {}), **own, **dict(source.policies)}
    policies = _checked(said, source.text)
    if attribute or source.names:
        roles = {role: _bound(role, made, holder, source) for role, made in roles.items()}
    beside = "" if INFO in roles else _beside(roles.get("DataLoader"))
    if beside:
        roles = {**roles, INFO: getattr(sys.modules[beside], INFO)}
    adapter = holder if isinstance(holder, Adapter) else None
    return Provided(module, roles, policies, adapter, beside)


def _beside(loader: Any) -> str:
    """The package whose `get_worker_info` stands beside a loader, or beside one that it derives
    from; "" if there is none."""
    for base in getattr(loader, "__mro__", ()):
        package = base.__module__
        while package:
            if hasattr(sys.modules.get(package), INFO):
                return str(package)
            package = package.rpartition(".")[0]
    return ""


def _bound(role: str, made: Any, holder: Any, source: Source) -> Any:
    """A class that was named for its role may call its arguments otherwise than torch does.

    One that has the role's own name promises its constructor too.
    """
    named = made is holder or dict(source.names).get(role) == getattr(made, "__name__", "")
    if not named or role not in FIRST or role in LOADERS:
        return made.build if isinstance(made, Adapter) else made
    promised = getattr(made, "__name__", "") == role
    try:
        return bound(made, FIRST[role], lenient=not promised, role=role)
    except UnboundError as error:
        hint = "an adapter says how it is built: see conformance/adapter.py"
        raise CandidateError(f"--impl {source}: as {role}, {error}; {hint}") from error


def _checked(policies: dict[str, Any], text: str) -> dict[str, Any]:
    try:
        return checked(policies)
    except ValueError as error:
        raise CandidateError(f"{text}: {error}") from error


def _adapted(holder: Any, declared: dict[str, Any], text: str) -> Any:
    try:
        return adapted(holder, declared)
    except ValueError as error:
        raise CandidateError(f"--impl {text}: {error}") from error


def _stand_ins() -> dict[str, Any]:
    """What a case nests where the candidate has no such role: torch's, else the reference's."""
    modules = [importlib.import_module(name) for name in ("reference", "torch.utils.data")]
    return {role: getattr(m, role) for m in modules for role in ROLES if hasattr(m, role)}


def _version(module: ModuleType) -> str:
    """What a module, its package or its distribution says its version is."""
    root = module.__name__.partition(".")[0]
    for holder in (module, sys.modules.get(root)):
        told = getattr(holder, "__version__", None)
        if told is not None:
            return str(told)
    names = _installed().get(root, [])
    if len(set(names)) > 1:  # several distributions share the root: whose file is it?
        names = [name for name in names if _holds(name, module)] or names
    return metadata.version(names[0]) if names else "unknown"


@functools.cache
def _installed() -> Mapping[str, list[str]]:
    """The distributions behind each top-level module; to find them takes tenths of a second."""
    return metadata.packages_distributions()


def _holds(distribution: str, module: ModuleType) -> bool:
    """Whether a distribution has installed a module's file."""
    place = Path(getattr(module, "__file__", None) or os.devnull).as_posix()
    files = metadata.files(distribution) or ()
    return any(place.endswith(f"/{file.as_posix()}") for file in files)


def _sets_epoch(made: Any) -> bool:
    return bool(made.binding.epoch) if isinstance(made, Bound) else hasattr(made, "set_epoch")


def _parameters(made: Any) -> tuple[str, ...]:
    if isinstance(made, Bound):
        return tuple(sorted(canonical(made.kind)))
    try:
        parameters = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):
        return ("**",)
    return tuple("**" if p.kind is p.VAR_KEYWORD else p.name for p in parameters)
