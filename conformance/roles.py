"""The roles: by what name a candidate provides each, what each takes first, which a class has."""

from __future__ import annotations

import inspect
from typing import Any

from conformance.adapter import Adapter
from conformance.aliases import inferred, takes_rank
from conformance.importing import CandidateError

ROLES = (
    "SequentialSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler",
    "BatchSampler", "DistributedSampler", "BalanceClassSampler", "WeightedBalanceClassSampler",
    "DatasetFromSampler", "DistributedSamplerWrapper", "DataLoader", "IterableDataset",
    "get_worker_info",
)  # fmt: skip
"""The roles with clauses, by the names of torch.utils.data and of Catalyst."""

LOADERS = ("DataLoader", "IterableDataset", "get_worker_info")
"""The roles that are examined through a loader."""

FIRST = {
    "SequentialSampler": "data_source", "RandomSampler": "data_source", "BatchSampler": "sampler",
    "SubsetRandomSampler": "indices", "WeightedRandomSampler": "weights",
    "DistributedSampler": "dataset", "BalanceClassSampler": "labels",
    "WeightedBalanceClassSampler": "labels", "DatasetFromSampler": "sampler",
    "DistributedSamplerWrapper": "sampler", "DataLoader": "dataset",
}  # fmt: skip
"""The argument that each role takes first, and is given by position: its name is free."""

DERIVED = (*FIRST, "get_worker_info")
"""The roles that a class has from its base class; to derive from IterableDataset tells nothing."""

RANKED = ("DistributedSampler", "DistributedSamplerWrapper")
"""The roles that take `num_replicas` and `rank`."""


def roles_of(holder: Any, names: dict[str, str], text: str) -> dict[str, Any]:
    """The roles that a module, or a single class or function, provides, by name.

    names: role -> attribute, where they differ. text: how the candidate is called in an error.
    """
    for role in names:
        if role not in ROLES:
            raise CandidateError(f"--role {role}={names[role]}: no such role; {known_roles()}")
    if isinstance(holder, Adapter):
        return {_role_of_adapter(holder, text): holder}
    if inspect.isclass(holder) or inspect.isfunction(holder):
        return {_role_of(holder, names, text): holder}
    roles = {role: getattr(holder, role) for role in ROLES if hasattr(holder, role)}
    if callable(holder) and not roles:
        kind = type(holder).__name__
        raise CandidateError(f"--impl {text}: it is of type {kind}, and no class or function")
    for role, attribute in names.items():
        if not hasattr(holder, attribute):
            raise CandidateError(f"--role {role}={attribute}: {text} has no {attribute}")
        roles[role] = getattr(holder, attribute)
    if not roles:
        ours = [name for name, value in vars(holder).items() if isinstance(value, Adapter)]
        hint = f"name one of its adapters: {text}:{ours[0]}" if ours else known_roles()
        raise CandidateError(f"--impl {text}: it provides no role; {hint}")
    return roles


def _role_of_adapter(adapter: Adapter, text: str) -> str:
    if adapter.role not in ROLES:
        raise CandidateError(f"--impl {text}: no such role {adapter.role!r}; {known_roles()}")
    return adapter.role


def _role_of(holder: Any, names: dict[str, str], text: str) -> str:
    """The role of a single class: said by --role, or told by its name, a base class, what it takes.

    What a class takes may show that it plays another role than its name or base class says.
    """
    named = [role for role, attribute in names.items() if attribute == holder.__name__]
    bases = [kind.__name__ for kind in getattr(holder, "__mro__", (holder,))]
    known = [name for name in bases if name in ROLES and name in (bases[0], *DERIVED)]
    if known and not _plays(holder, known[0]):
        known = []
    found = [*named, *known, *filter(None, [inferred(holder)])]
    if not found:
        hint = f"say it with --role ROLE={holder.__name__}"
        told = "its role cannot be told from its name, its bases or what it takes"
        raise CandidateError(f"--impl {text}: {told}; {hint}")
    return str(found[0])


def _plays(holder: Any, role: str) -> bool:
    """Whether a class takes what a role takes: a rank only where it has one, and what to divide."""
    if not takes_rank(holder):
        return True
    return role in RANKED and inferred(holder) in ("", role)


def known_roles() -> str:
    """The roles that there are, for an error."""
    return "the roles are " + ", ".join(ROLES)
