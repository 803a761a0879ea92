"""Who is late and who is only slow: `worlds/watch.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import operations as op
from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.worlds.watch import HANG_S, MANY
from conformance.worlds.worlds import Worlds

STEADY = f"""
import time
import reference

class Steady(reference.DataLoader):
    def __iter__(self):
        for batch in super().__iter__():
            time.sleep({HANG_S / MANY / 1.5})
            yield batch

class Stops(reference.DataLoader):
    def __iter__(self):
        for number, batch in enumerate(super().__iter__()):
            time.sleep(60.0 if number == {MANY} + 9 else 0.0)
            yield batch
"""


@pytest.fixture
def worlds() -> Iterator[Worlds]:
    made = Worlds("gloo")
    yield made
    made.close()


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    file = tmp_path / "steady.py"
    file.write_text(STEADY)
    return file


def passed(world: str, n: int = 2 * MANY) -> Case:
    return Case("DataLoader", {"dataset": Mapped(n)}, [op.Iterate()], world=world)


@pytest.mark.parametrize("world", ["simulated", "alone"])
def test_who_gives_many_items_is_slow(worlds: Worlds, steady: Path, world: str) -> None:
    """A pass that takes longer than any bound on a `next()`, as it has many, is not judged, and
    none that is larger is asked for; a smaller one is."""
    source = Source(f"{steady}:Steady")
    worlds.describe(source)

    assert worlds.run(source, passed(world)).slow
    assert worlds.losses.too_large(source, passed(world, 3 * MANY))
    assert worlds.run(source, passed(world, 4)).done


def test_who_gives_no_more_hangs(worlds: Worlds, steady: Path) -> None:
    """A pass that has given many items and then none for long hangs."""
    source = Source(f"{steady}:Stops")
    worlds.describe(source)

    (rank,) = worlds.run(source, passed("alone"))

    error = rank.events[-1].error
    assert error is not None and error.kind == "Hang"
