"""Children of a loader's main process: what they inherit, how they end, what they leave behind."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psutil

from conformance import loading as lo
from conformance.worlds.gating import Found
from conformance.worlds.patience import Idleness
from conformance.worlds.stillness import LITTLE_S, LOOK_S, STILL_S

if TYPE_CHECKING:
    from conformance.worlds.loader import LoaderRank

ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD, psutil.STATUS_STOPPED)

ORPHAN_S = 10.5
"""How long orphans are watched: past the bound of lifecycle.orphans."""

END_S = 8.0
"""How long a program is waited for that ends: past the bound of lifecycle.shutdown."""

FORK_S = 5
"""How long a forked child may take to drop what it inherits."""


def fork(rank: LoaderRank, operation: lo.Fork) -> Found:
    """A child that inherits everything, drops it and ends."""
    pid = os.fork()
    if pid == 0:
        _drop_and_end(rank, operation.how)
    return _wait(pid, FORK_S + 1.0), None


def _drop_and_end(rank: LoaderRank, how: str) -> None:
    """What the child does. Its end is its own: none of the suite's code may run after this."""
    signal.alarm(FORK_S)
    code = 1
    try:
        rank.forget()
        if how == "exit":
            atexit._run_exitfuncs()
            sys.stdout.flush()
        code = 0
    finally:
        os._exit(code)


def _wait(pid: int, bound_s: float, idle: Idleness | None = None) -> str:
    """How a child ended: "exit 0", the name of a signal, or "stuck"; idle: looks how it rests."""
    end = time.monotonic() + bound_s
    while time.monotonic() < end:
        if idle is not None:
            idle.over([pid])
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGALRM:
                return "stuck"
            return f"exit {code}" if code >= 0 else signal.Signals(-code).name
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "stuck"


def orphan(rank: LoaderRank, operation: lo.Orphan) -> Found:
    """Workers of a child that is killed become this process's children; watch them end."""
    pid = os.fork()
    if pid == 0:
        _stand_and_wait(rank, FAR if operation.between else 1)
    ready = _await_report(rank)
    family = psutil.Process(pid).children(recursive=True)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    began = time.monotonic()
    alive, rest = _watched(family, rank.case.argument("dataset").seconds + ORPHAN_S)
    left = [child for child in alive if child.is_running() and child.status() not in ENDED]
    seconds = round(time.monotonic() - began, 2)
    found = {"workers": len(family), "alive": len(left), "rest": rest, "seconds": seconds}
    return (found if ready else None), None


def _watched(family: list[psutil.Process], bound_s: float) -> tuple[list[psutil.Process], bool]:
    """Those that have not ended in time, and whether none has had anything to do for long: no
    machine is then too busy for them to end."""
    idle, pids = Idleness(STILL_S, LITTLE_S), [process.pid for process in family]
    end, alive, rest = time.monotonic() + bound_s, family, False
    while alive and time.monotonic() < end:
        _, alive = psutil.wait_procs(alive, timeout=LOOK_S)
        rest = idle.over(pids)
    return alive, rest


def _await_report(rank: LoaderRank) -> bool:
    """Wait until the child says that it has taken its items; whether it has."""
    end = time.monotonic() + 8.0
    while not (ready := rank.reported("dies")) and time.monotonic() < end:
        time.sleep(0.01)
    return ready


FAR = 1 << 20
"""More items than there are."""


def _stand_and_wait(rank: LoaderRank, count: int) -> None:
    """What the child does: take so many items, say so, and wait to be killed."""
    with contextlib.suppress(BaseException):
        _take_in_child(rank, count)
        threading.Event().wait(30.0)
    os._exit(1)


def _take_in_child(rank: LoaderRank, count: int) -> None:
    """Build the loader, take so many items, and say so once all have come to rest."""
    rank.gate.owner = os.getpid()
    rank.build(None)
    rank.iterators["orphan"] = iter(rank.sampler)
    rank.read(rank.iterators["orphan"], count)
    rank.gate.settle()
    rank.gate.report("dies")


def end(rank: LoaderRank, _: lo.End) -> Found:
    """A child that ends by itself, with an iterator that nobody has dropped."""
    pid = os.fork()
    if pid == 0:
        _take_and_end(rank)
    _await_report(rank)
    began, family = time.monotonic(), psutil.Process(pid).children(recursive=True)
    idle = Idleness(STILL_S, LITTLE_S)
    how, ready = _wait(pid, END_S, idle), rank.reported("dies")
    seconds = round(time.monotonic() - began, 2)
    for child in family:
        with contextlib.suppress(psutil.Error):
            child.kill()
    found = {"ended": how, "seconds": seconds, "rested": round(idle.rested_s, 1)}
    return (found if ready else None), None


def _take_and_end(rank: LoaderRank) -> None:
    """What the child does: what Python does at the end of a script, in that order."""
    code = 1
    with contextlib.suppress(BaseException):
        _take_in_child(rank, 1)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        rank.forget()
        code = 0
    os._exit(code)


FORKED: dict[Any, Callable[[Any, Any], Found]] = {
    lo.Fork: fork, lo.Orphan: orphan, lo.End: end,
}  # fmt: skip
