"""Properties as pytest items: one for each candidate, clause and role."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import conformance
from conformance.clauses import Clause, clauses
from conformance.roles import ROLES
from conformance.scenarios import Scenario


@dataclass(frozen=True)
class Property:
    """A clause, the role that it is examined on, and where to look for a counterexample."""

    clause: Clause
    role: str
    scenarios: tuple[Scenario, ...]


Table = dict[str, tuple[Scenario, ...]]


def of(table: Table) -> list[Property]:
    """A property for each clause of the table and each role that the spec gives the clause."""
    known = clauses()
    return [
        Property(known[clause], role, scenarios)
        for clause, scenarios in table.items()
        for role in known[clause].roles
    ]


def placed() -> Iterator[tuple[str, Property]]:
    """Each property with the name of the module that has it."""
    for name in (found.name for found in pkgutil.iter_modules(conformance.__path__)):
        if name.startswith("test_"):
            for function in vars(importlib.import_module(f"conformance.{name}")).values():
                yield from ((name, prop) for prop in getattr(function, "properties", ()))


def everything() -> list[Property]:
    """Every property of the suite, in the order of the spec."""
    found = {(prop.clause.id, prop.role): prop for _, prop in placed()}
    return [
        found[clause, role] for clause in clauses() for role in ROLES if (clause, role) in found
    ]


def prove(table: Table) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a test function the properties that it is called with, one at a time."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.properties = of(table)  # type: ignore[attr-defined]
        return function

    return mark
