"""Bounds judge only the time in which a process could run: `worlds/patience.py`."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from conformance.worlds.patience import STRETCH_MAX, Bound, Idleness, Starvation

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts it")
CORE = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
BUSY = CORE + "while True: pass"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {BUSY!r}])"


def started(*programs: str) -> list[subprocess.Popen[bytes]]:
    return [
        subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True)
        for program in programs
    ]


@pytest.fixture
def crowd() -> Iterator[list[int]]:
    """Three processes that want one core, the last of them the child of an idle one."""
    made = started(BUSY, BUSY, PARENT)
    yield [process.pid for process in made]
    for process in made:
        os.killpg(process.pid, 9)
        process.wait(10)


def within(seconds: float, holds: object) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:  # type: ignore[operator]
        time.sleep(0.05)
    return bool(holds())  # type: ignore[operator]


@LINUX
def test_who_stands_in_line_is_counted(crowd: list[int]) -> None:
    """Of processes that share a core each stands in line, and so does a child of an idle one."""
    first, parent = Starvation(crowd[:1]), Starvation(crowd[2:])

    assert within(20.0, lambda: first.seconds() > 0.5 and parent.seconds() > 0.5)


@LINUX
def test_who_rests_is_not_counted() -> None:
    """A process that waits for something else than a core has spent its time."""
    (idle,) = started("import time; time.sleep(60)")
    bound = Bound(1.5, [idle.pid])
    try:
        assert within(20.0, bound.over)
        assert bound.spent_s() > 1.4
    finally:
        idle.kill()
        idle.wait(10)


@LINUX
def test_a_bound_grows_by_the_time_in_line(crowd: list[int]) -> None:
    """Processes that could run for a part of the time only have not spent all of it."""
    bound, began = Bound(2.0, crowd), time.monotonic()
    while not bound.over() and time.monotonic() - began < 30:
        time.sleep(0.05)

    assert time.monotonic() - began > 2.5


@LINUX
def test_a_bound_has_an_end(crowd: list[int]) -> None:
    """However busy the machine is, a bound grows to four times its length at most."""
    bound = Bound(1.2, [*crowd, os.getpid()])

    assert within(30.0, bound.over)
    assert bound.spent_s() >= 1.2


def test_a_shortened_bound_ends_no_later() -> None:
    """What is left of a bound is the most that a shorter one may have."""
    bound = Bound(5.0, [])

    assert bound.shortened(1.0).bound_s == 1.0
    assert bound.shortened(9.0).bound_s <= 5.0


@LINUX
def test_who_has_ended_has_stood_in_line(crowd: list[int]) -> None:
    """A worker that stood in line and died has taken time that was not its own."""
    line = Starvation(crowd[:1])
    assert within(20.0, lambda: line.seconds() > 0.5)

    os.kill(crowd[0], signal.SIGKILL)
    assert within(10.0, lambda: psutil.Process(crowd[0]).status() == psutil.STATUS_ZOMBIE)

    assert line.seconds() > 0.5


def test_nobody_is_counted_twice_or_after_the_end() -> None:
    """A process that has ended before adds nothing."""
    (gone,) = started("pass")
    gone.wait(10)

    assert Starvation([gone.pid, gone.pid]).seconds() == 0


def test_who_did_not_look_knows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies between two looks far apart is no rest: the machine may have stood still."""
    clock = iter([10.0, 11.0, 12.0, 17.0, 18.0])
    monkeypatch.setattr("conformance.worlds.patience.time.monotonic", lambda: next(clock))
    idle = Idleness(3.0)

    assert [idle.over([0]) for _ in range(5)] == [False] * 5
    assert idle.rested_s == 2.0


@pytest.fixture
def no_file() -> Iterator[None]:
    """No file can be opened in this process."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limit[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_who_can_open_no_file_has_a_bound_all_the_same(no_file: None) -> None:
    """Where the candidate has reached its limit of open files, its time is up as ever."""
    bound, idle = Bound(1.5, [os.getpid()]), Idleness(0.1)
    rests = [within(1.2, lambda: idle.over([os.getpid()])), within(20.0, bound.over)]

    assert rests == [False, True]
    assert bound.spent_s() < 1.5 * STRETCH_MAX


@LINUX
def test_who_neither_runs_nor_stands_in_line_is_idle(crowd: list[int]) -> None:
    """A process that waits for what will never come is told from those that work or want to."""
    (idle,) = started("import time; time.sleep(60)")
    seen, *others = [Idleness() for _ in range(4)]
    busy: list[bool] = []

    def over() -> bool:
        busy.extend(one.over([pid]) for one, pid in zip(others, crowd, strict=True))
        return seen.over([idle.pid])

    try:
        assert within(20.0, over)
        assert not any(busy)
    finally:
        idle.kill()
        idle.wait(10)
