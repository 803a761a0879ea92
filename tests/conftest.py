"""How tests that are done side by side share two cores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance import garbage
from conformance.worlds.forkserver import servers_stay

LONGEST = ("test_verdicts", "test_tutorial", "test_reach")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that nobody waits for it at the end.

    Stable, so that parallel workers agree and tests that share worlds stay together.
    """
    items.sort(key=lambda item: item.path.stem not in LONGEST)


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    """All tests of a process share the fork servers, which take seconds to import torch."""
    garbage.seldom()
    with servers_stay():
        yield
