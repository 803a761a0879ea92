"""Properties as pytest items: one for each candidate, clause and role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def prove(table: Table) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a test function the properties that it is called with, one at a time."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.properties = of(table)  # type: ignore[attr-defined]
        return function

    return mark
