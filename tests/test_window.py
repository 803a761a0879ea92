"""Cases that want to be alone are under way together, before anybody asks for them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Fault, Mapped
from conformance.operations import Iterate
from conformance.worlds import alone
from conformance.worlds.alone import Window

REFERENCE = Source("reference")


def cases(count: int, first: int = 1) -> list[Case]:
    """Cases of a loader over so many items, and more."""
    given = [{"dataset": Mapped(n), "batch_size": None} for n in range(first, first + count)]
    return [Case("DataLoader", arguments, [Iterate()], world="alone") for arguments in given]


def slow() -> Case:
    """A case that takes a second: a worker does not come back."""
    given: dict[str, Any] = {
        "dataset": Mapped(2, faults=(Fault("item", 0, "hang"),)),
        "num_workers": 1,
    }
    given["timeout"] = 1
    return Case("DataLoader", given, [Iterate()], world="alone")


def lengths(window: Window, asked: list[Case]) -> list[int]:
    """How many items each case yielded, 0 if it failed."""
    passes = [ranks[0].events[1] for _, ranks in window.traces(REFERENCE, asked)]
    return [0 if one.error else len(one.value.values) for one in passes]


def ended(window: Window, count: int, within_s: float = 20.0) -> bool:
    """Whether so many end of which nobody has asked for."""
    until = time.monotonic() + within_s
    while len(window.ended) < count and time.monotonic() < until:
        window.turn()
        time.sleep(0.02)
    return len(window.ended) == count


@pytest.fixture
def window() -> Iterator[Window]:
    made = Window(20.0)
    yield made
    made.forget()
    assert not made.under_way and not made.ended


def test_traces_come_in_order(window: Window) -> None:
    """Whichever case ends first, and however often the same one is asked for."""
    asked = [slow(), *cases(14), *cases(2)]

    assert lengths(window, asked) == [0, *range(1, 15), 1, 2]


def test_what_is_expected_is_carried_out(window: Window) -> None:
    """What is expected ends before it is asked for, and is not carried out again."""
    window.expect((REFERENCE, case) for case in cases(3))
    assert ended(window, 3)

    assert lengths(window, cases(2)) == [1, 2]
    assert not window.under_way and len(window.ended) == 1


def test_no_more_than_so_many_at_once(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is expected begins as far as there is room."""
    monkeypatch.setattr(alone, "AT_ONCE", 2)
    window.expect((REFERENCE, case) for case in cases(5))

    assert len(window.under_way) == 2 and not window.ended
    assert ended(window, 5)


def test_who_expects_says_how_much_room_there_is(window: Window) -> None:
    """The room is that of who expected last, and `AT_ONCE` again where nothing is said."""
    window.expect(((REFERENCE, case) for case in cases(5)), room=1)
    assert len(window.under_way) == 1

    window.expect((REFERENCE, case) for case in cases(5))
    assert len(window.under_way) + len(window.ended) == 5
    assert ended(window, 5)


def test_what_is_forgotten_ends(window: Window) -> None:
    """No process lives on of a case for which nobody will ask."""
    window.expect([(REFERENCE, slow())])
    [one] = window.under_way.values()
    pids = [process.pid for process in one.pool.processes]
    window.forget()

    assert not any(map(psutil.pid_exists, pids)) and not window.under_way


def test_who_stops_asking_takes_nothing_with_him(window: Window) -> None:
    """Cases that were begun for somebody who stopped are dropped."""
    taken = list(itertools.islice(window.traces(REFERENCE, [*cases(2), slow()]), 1))

    assert len(taken) == 1 and not window.under_way


def test_quiet_is_quiet(window: Window) -> None:
    """Nothing that is expected is under way while it is to be quiet, and all of it afterwards."""
    window.expect((REFERENCE, case) for case in [*cases(12), slow()])
    with window.quiet():
        assert not window.under_way
        done = len(window.ended)
        assert lengths(window, cases(1, first=40)) == [40]
        assert not window.under_way and len(window.ended) == done

    assert ended(window, 13)
