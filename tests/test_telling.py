"""Cases that once told of a fault: `conformance/telling.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from detection.cases import digests

from conformance import telling
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Iterate, Len

CASES = [Case("DataLoader", {"dataset": Mapped(n)}, [Iterate()]) for n in range(6)]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, and what will be is forgotten."""
    monkeypatch.setattr(telling, "KEPT", tmp_path / "telling.txt")
    telling.keep(())


@pytest.fixture(autouse=True)
def again() -> Iterator[None]:
    """What is kept is read anew before each test, and after the last."""
    telling.kept.cache_clear()
    yield
    telling.kept.cache_clear()


@pytest.mark.usefixtures("empty")
def test_a_kept_case_is_found_by_its_scenario() -> None:
    """A case is found where it was kept, at whatever place, and under no other scenario."""
    telling.keep([("walks", telling.digest(CASES[4])), ("walks", telling.digest(CASES[1]))])

    assert telling.told_of_faults("walks", CASES) == {1, 4}
    assert telling.told_of_faults("walks", CASES[1:]) == {0, 3}
    assert not telling.told_of_faults("others", CASES)


@pytest.mark.usefixtures("empty")
def test_a_changed_case_is_not_found() -> None:
    """One step more makes another case of it."""
    telling.keep([("walks", telling.digest(CASES[4]))])

    assert not telling.told_of_faults("walks", [CASES[4].with_plan([Len(), Iterate()])])


def test_every_kept_case_exists() -> None:
    """What is kept names cases that there are: `tests/benchmarks/telling.py` keeps it so."""
    assert telling.kept() <= digests()
