"""Cases for a class that does not take all that its role takes.

An argument that the class does not know is left out where it has torch's default anyway, since
without it the case means the same. A case that needs such an argument does not exist for the class.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from conformance.aliases import DEFAULTS, FILLS
from conformance.candidate import Description
from conformance.case import Case
from conformance.classes import length
from conformance.operations import (
    Copy,
    Epochs,
    Neighbour,
    Operation,
    Rebuild,
    Resize,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import Data, Role, Torch
from conformance.roles import FIRST


class Unfit(Exception):
    """A case needs an argument that the class does not take."""


def fitted(case: Case, candidate: Description, sizes: Collection[int]) -> Case | None:
    """The case as the candidate can be given it; None if it cannot.

    sizes: the world sizes of which there are real groups.
    """
    if not candidate.bound:
        return case
    try:
        arguments = _taken(case.role, dict(case.arguments), candidate)
        steps = [_step(step, case.role, candidate) for step in case.plan]
        plan = [step for step in steps if step is not None]
        if _wants_seed(case, candidate):
            arguments["seed"] = DEFAULTS[case.role]["seed"]
        case = case.changed(arguments=arguments, plan=tuple(plan))
        if length(case) > candidate.policies.get("largest", math.inf):
            return None
        if candidate.policies.get("ranks") == "one":
            sizes = ()
        return _grouped(case, sizes) if _asks_group(case, candidate) else case
    except Unfit:
        return None


def _wants_seed(case: Case, candidate: Description) -> bool:
    """Whether a seed is given where the case has none: not in drawn groups that build once.

    There, ranks may agree on a seed of their own, which another construction need not find again.
    """
    agreed = case.world == "group" and not any(isinstance(s, (Rebuild, Copy)) for s in case.plan)
    return candidate.binding(case.role).unseeded and not agreed and case.argument("seed") is None


def _asks_group(case: Case, candidate: Description) -> bool:
    """Whether a rank of the case can only be found through the process group."""
    given = (v for _, v in case.arguments if isinstance(v, Role) and not isinstance(v, Torch))
    roles = (case.role, *(v.name for v in given))
    return any(candidate.binding(role).ambient for role in roles)


def _grouped(case: Case, sizes: Collection[int]) -> Case:
    """The case in a real group, where ranks find out who they are; alone there is one rank."""
    if case.world_size not in (sizes or (1,)):
        raise Unfit
    return case.changed(world="group" if sizes else "simulated", passed=False)


def _taken(role: str, arguments: Mapping[str, Any], candidate: Description) -> dict[str, Any]:
    found = {}
    for name, value in arguments.items():
        if role in candidate.bound and name != FIRST[role] and not candidate.accepts(role, name):
            if value != _default(role, name, candidate):
                raise Unfit
            continue
        # A shard that iterates its data is no sampler, and yields items: they are indices then.
        looks = role == "DistributedSampler" and isinstance(value, Data)
        found[name] = Data(value.n) if looks else _inner(value, candidate)
    return found


def _default(role: str, name: str, candidate: Description) -> Any:
    """What a class does that is not told; it may declare that it never shuffles."""
    never = name == "shuffle" and candidate.policies.get("shuffles") == "never"
    return False if never else DEFAULTS.get(role, {}).get(name, Unfit)


def _inner(value: Any, candidate: Description) -> Any:
    """A role that is an argument of another takes what it takes, too."""
    if not isinstance(value, Role) or isinstance(value, Torch):
        return value
    return Role(value.name, **_taken(value.name, dict(value.arguments), candidate))


def _own_data(candidate: Description, role: str) -> bool:
    """Whether a class has something else than the dataset, which the plan cannot resize."""
    binding = candidate.binding(role)
    adapted = binding.copied is not None and not binding.copied.plain and not binding.batched
    sized = any(FILLS[name](1) != FILLS[name](2) for name in binding.filled)
    return bool(sized or binding.total or adapted)


def _step(step: Operation, role: str, candidate: Description) -> Operation | None:
    """The step as it can be taken; None for an epoch that nothing takes."""
    if role in candidate.bound and not candidate.binding(role).epoch:
        if isinstance(step, Epochs):
            raise Unfit
        if isinstance(step, SetEpoch) and role != "BatchSampler":
            return None
    if isinstance(step, Resize) and _own_data(candidate, role):
        raise Unfit
    if isinstance(step, Neighbour):
        return _neighbour(step, role, candidate)
    if not isinstance(step, Rebuild):
        return step
    return replace(step, overrides=tuple(_taken(role, dict(step.overrides), candidate).items()))


def _neighbour(step: Neighbour, role: str, candidate: Description) -> Neighbour:
    """A second sampler differs from the first as far as the class takes it."""
    bound = role in candidate.bound
    taken = {
        name: _inner(value, candidate) for name, value in step.overrides
        if not bound or name == FIRST[role] or candidate.accepts(role, name)
    }  # fmt: skip
    deaf = bound and not candidate.binding(role).epoch
    return replace(step, overrides=tuple(taken.items()), epoch=None if deaf else step.epoch)


def all_fitted(
    cases: Iterable[Case], candidate: Description, sizes: Collection[int]
) -> Iterable[Case]:
    """Those of the cases that can be given, as they can."""
    found = (fitted(case, candidate, sizes) for case in cases)
    return (case for case in found if case is not None)
