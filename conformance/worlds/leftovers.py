"""What a loader leaves behind: child processes, threads, descriptors, shared memory.

A process-wide servant of multiprocessing or torch (resource tracker, fork server, resource sharer)
is started once and stays; it is nobody's leftover. What remains is compared with what was there
before the loader was constructed.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from conformance.worlds.patience import Bound
from conformance.worlds.segments import segments_standing

SERVANTS = ("resource_tracker", "forkserver", "resource_sharer", "torch_shm_manager")
OPEN = Path("/proc/self/fd")


@dataclass(frozen=True)
class Standing:
    """What stands at one moment."""

    children: frozenset[int]
    threads: frozenset[int] = frozenset()
    descriptors: frozenset[tuple[int, str]] = frozenset()
    segments: frozenset[str] = frozenset()


def standing(pids: frozenset[int] | None = None) -> Standing:
    """What stands now. pids: processes, gone by now perhaps, that were of the family.

    Without them the segments of all processes are counted: a new worker may get the number of one
    that has left some long ago.
    """
    now = children()
    family = None if pids is None else pids | now.children | {os.getpid()}
    return Standing(now.children, _threads(), _descriptors(), segments_standing(family))


def children() -> Standing:
    """The same of child processes alone: to look for all takes 2 ms."""
    return Standing(frozenset(child.pid for child in descendants(frozenset())))


CLOSED_S = 2.0
"""How long descriptors may take to be closed, once children and threads are gone."""


def leftovers(
    before: Standing, pids: frozenset[int], bound_s: float, least: int | None = None
) -> dict[str, Any]:
    """What stands now and did not before; waits up to `bound_s` for it to go.

    children, threads, descriptors, segments: counts. what: a few of them by name. seconds: how
    long children and threads took to go. collects: whether garbage is collected at all. least: how
    many descriptors are no reason to wait.
    """
    began = time.monotonic()
    now = _once(lambda now: not _alive(now, before), pids, bound_s)
    seconds = round(time.monotonic() - began, 2)
    if not _alive(now, before) and least is not None:
        now = _once(lambda now: len(now.descriptors - before.descriptors) <= least, pids, CLOSED_S)
    opened, segments = now.descriptors - before.descriptors, now.segments - before.segments
    left = now.children - before.children, now.threads - before.threads
    return {
        "children": len(left[0]), "threads": len(left[1]),
        "descriptors": len(opened), "segments": len(segments),
        "what": [
            *map(_command, left[0]), *map(_thread, left[1]),
            *(t for _, t in sorted(opened)), *segments,
        ][:8],
        "seconds": seconds, "collects": not left[0] or _collects(),
    }  # fmt: skip


def _collects() -> bool:
    """Whether garbage is collected here: a process forked during a collection never does."""

    class Canary:
        pass

    canary: Any = Canary()
    canary.itself, seen = canary, weakref.ref(canary)
    del canary
    gc.collect()
    return seen() is None


def _alive(now: Standing, before: Standing) -> bool:
    return bool(now.children - before.children or now.threads - before.threads)


def _once(holds: Callable[[Standing], bool], pids: frozenset[int], bound_s: float) -> Standing:
    """What stands as soon as `holds` says so, or when the time is up in which those who stand could
    run.

    Garbage is collected again now and then: gc.collect() does nothing at all while another thread
    is collecting.
    """
    bound = Bound(bound_s, [os.getpid()])
    for look in itertools.count(1):
        if holds(now := standing(pids)) or bound.over():
            break
        if look % COLLECTED_LOOKS == 0:
            gc.collect()
        time.sleep(0.02 if look < MANY_LOOKS else 0.1)
    return now


COLLECTED_LOOKS, MANY_LOOKS = 10, 50


def descendants(before: frozenset[int]) -> list[psutil.Process]:
    """The descendants, zombies too, that were not there before."""
    if not _has_children():
        return []
    found = psutil.Process().children(recursive=True)
    return [child for child in found if child.pid not in before and not _serves(child)]


def _has_children() -> bool:
    """Whether there is any child; psutil reads the state of every process to tell."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except AttributeError:  # not everywhere
        return True
    return True


def _serves(child: psutil.Process) -> bool:
    """Whether it is a servant: a child of this process itself, and no fork of it.

    What is forked has the command line of who forked it, be that this process or a fork server.
    """
    try:
        line = child.cmdline()
        named = any(name in " ".join(line) for name in SERVANTS)
        return named and child.ppid() == os.getpid() and line != psutil.Process().cmdline()
    except psutil.Error:
        return False


def _command(pid: int) -> str:
    with contextlib.suppress(psutil.Error):
        child = psutil.Process(pid)
        line, own = child.cmdline(), psutil.Process().cmdline()
        # What is forked has the command line of who forked it.
        forked = "forked by the loader's own process" if line == own else " ".join(line)[:60]
        return f"process {pid} ({forked or 'ended'}, {child.status()})"
    return f"process {pid}"


def _thread(ident: int) -> str:
    for thread in threading.enumerate():
        if thread.ident == ident:
            target = getattr(thread, "_target", None)
            called = getattr(target, "__qualname__", None) or type(thread).__name__
            return f"thread {thread.name!r} in {called}"
    return "a thread that has just ended"


def _threads() -> frozenset[int]:
    """Python threads. Those that libraries start for themselves are no loader's."""
    return frozenset(
        thread.ident or 0 for thread in threading.enumerate()
        if thread.name != WATCH and "resource_sharer" not in repr(getattr(thread, "_target", ""))
    )  # fmt: skip


def _descriptors() -> frozenset[tuple[int, str]]:
    found = set()
    for path in OPEN.iterdir():
        with contextlib.suppress(OSError):
            found.add((int(path.name), str(path.readlink())))
    return frozenset(pair for pair in found if not pair[1].startswith("/proc/"))


WATCH = "conformance-watch"
"""The name of the suite's own watching thread."""
