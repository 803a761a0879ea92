"""What a verdict means for a pytest item, and what pytest's own reports say of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from conformance.interrupt import heed
from conformance.verdict import DECLARED, HOLDS, NOT_APPLICABLE, NOT_PROVIDED, VIOLATED, Verdict


class ShouldViolated(UserWarning):
    """A SHOULD clause does not hold."""


class Check:
    """What a property test is given: examine the candidate, and fail unless the clause holds.

    verdict: None until it was called. strict: whether a violated SHOULD fails too; the plugin says.
    """

    def __init__(self, examine: Callable[[], Verdict]) -> None:
        self._examine = examine
        self.strict = False
        self.verdict: Verdict | None = None

    def __call__(self) -> None:
        __tracebackhide__ = True
        try:
            self.verdict = self._examine()
        finally:
            heed()  # what it breaks in the middle may fail, and that would be told in its place
        conclude(self.verdict, self.strict)

    def told(self) -> list[tuple[str, str]]:
        """What JUnit's report tells of the item, beside pytest's own."""
        if self.verdict is None:
            return []
        found = {name: getattr(self.verdict, name) for name in TOLD}
        return [(name, value) for name, value in found.items() if value]


TOLD = ("candidate", "clause", "level", "role", "outcome", "anomaly", "case")


def conclude(verdict: Verdict, strict: bool) -> None:
    """Pass, skip, warn or fail the item: nothing that was not seen to hold is green.

    strict: whether a violated SHOULD fails too.
    """
    __tracebackhide__ = True
    if verdict.outcome in (HOLDS, DECLARED):
        return
    if verdict.outcome in (NOT_PROVIDED, NOT_APPLICABLE):
        pytest.skip(f"{verdict.outcome}: {verdict.reason}")
    if verdict.outcome == VIOLATED and verdict.level != "MUST" and not strict:
        told = f"{verdict.clause} ({verdict.level}), {verdict.role}: {verdict.anomaly}"
        warnings.warn(told, ShouldViolated, stacklevel=2)
        return
    pytest.fail(verdict.document or f"{verdict.outcome}: {verdict.reason}", pytrace=False)
