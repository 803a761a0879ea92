"""What takes longest begins first, so that nobody waits for it at the end."""

from __future__ import annotations

import pytest

LONGEST = ("test_verdicts", "test_tutorial", "test_reach")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stable, so that parallel workers agree and tests that share worlds stay together."""
    items.sort(key=lambda item: item.path.stem not in LONGEST)
