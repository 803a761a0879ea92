"""Properties as pytest items: one for each candidate, clause and role."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import conformance
from conformance.candidate import ROLES
from conformance.clauses import clauses
from conformance.examine import Property
from conformance.scenarios import Scenario

Table = dict[str, tuple[Scenario, ...]]


def of(table: Table) -> list[Property]:
    """A property for each clause of the table and each role that the spec gives the clause."""
    known = clauses()
    return [
        Property(known[clause], role, scenarios)
        for clause, scenarios in table.items()
        for role in known[clause].roles
    ]


def everything() -> list[Property]:
    """Every property of the suite, in the order of the spec."""
    names = [found.name for found in pkgutil.iter_modules(conformance.__path__)]
    modules = [
        importlib.import_module(f"conformance.{name}") for name in names if name.startswith("test_")
    ]
    tests = [function for module in modules for function in vars(module).values()]
    found = {
        (prop.clause.id, prop.role): prop
        for test in tests
        for prop in getattr(test, "properties", ())
    }
    return [
        found[clause, role] for clause in clauses() for role in ROLES if (clause, role) in found
    ]


def prove(table: Table) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a test function the properties that it is called with, one at a time."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.properties = of(table)  # type: ignore[attr-defined]
        return function

    return mark
