"""Cases for a class that does not take all that its role takes.

An argument that the class does not know is left out where it has torch's default anyway, since
without it the case means the same. A case that needs such an argument does not exist for the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.candidate import FIRST, Description
from conformance.case import Case
from conformance.operations import Operation, Rebuild
from conformance.recipes import Role

DEFAULTS = {
    "shuffle": True, "seed": 0, "drop_last": False, "replacement": False, "num_samples": None,
    "generator": None, "mode": "downsampling",
}  # fmt: skip
"""What torch and Catalyst do where nothing is said."""


class Unfit(Exception):
    """A case needs an argument that the class does not take."""


def fitted(case: Case, candidate: Description) -> Case | None:
    """The case as the candidate can be given it; None if it cannot."""
    if not candidate.bound:
        return case
    try:
        arguments = _taken(case.role, dict(case.arguments), candidate)
        plan = [_step(step, case.role, candidate) for step in case.plan]
    except Unfit:
        return None
    return case.changed(arguments=arguments, plan=tuple(plan))


def _taken(role: str, arguments: Mapping[str, Any], candidate: Description) -> dict[str, Any]:
    found = {}
    for name, value in arguments.items():
        if role in candidate.bound and name != FIRST[role] and not candidate.accepts(role, name):
            if name not in DEFAULTS or value != DEFAULTS[name]:
                raise Unfit
            continue
        found[name] = _inner(value, candidate)
    return found


def _inner(value: Any, candidate: Description) -> Any:
    """A role that is an argument of another takes what it takes, too."""
    if not isinstance(value, Role):
        return value
    return Role(value.name, **_taken(value.name, dict(value.arguments), candidate))


def _step(step: Operation, role: str, candidate: Description) -> Operation:
    if not isinstance(step, Rebuild):
        return step
    return Rebuild(tuple(_taken(role, dict(step.overrides), candidate).items()))


def all_fitted(cases: Iterable[Case], candidate: Description) -> Iterable[Case]:
    """Those of the cases that can be given, as they can."""
    found = (fitted(case, candidate) for case in cases)
    return (case for case in found if case is not None)
