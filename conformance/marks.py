"""Laws in somebody's own test module: a test for every clause, over one run for all of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from conformance.asking import Asked, asked
from conformance.conclusion import Check
from conformance.properties import Property
from conformance.run import Run
from conformance.verdict import Verdict

_RUNS: dict[Asked, Run] = {}


def marked(
    candidate: Any, role: str | None, patterns: tuple[str, ...], options: dict[str, Any]
) -> pytest.MarkDecorator:
    """The mark that gives a test its argument `check`, once for each clause and role."""
    wish = asked(candidate, role, patterns, **options)
    checks = [
        pytest.param(Check(partial(_examined, wish, prop)), id=f"{prop.clause.id}-{prop.role}")
        for prop in wish.properties()
    ]
    return pytest.mark.parametrize("check", checks)


def _examined(wish: Asked, prop: Property) -> Verdict:
    """The verdict; processes start with the first test that runs, not when tests are collected."""
    if wish not in _RUNS:
        _RUNS[wish] = wish.open()
    return _RUNS[wish].examine(wish.source.text, prop)


def close() -> None:
    """End all processes; the plugin calls it when pytest ends."""
    while _RUNS:
        _RUNS.popitem()[1].close()
