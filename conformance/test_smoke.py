"""`--smoke`: whether a role works at all, apart from the promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Try = Callable[[], str]


def test_smoke(trial: Try) -> None:
    """A role can be built and used; nothing is concluded about what it yields."""
    failure = trial()
    if failure:
        pytest.fail(failure, pytrace=False)


test_smoke.smoke = True  # type: ignore[attr-defined]
