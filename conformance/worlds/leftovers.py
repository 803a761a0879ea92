"""What a loader leaves behind: child processes, threads, descriptors, shared memory.

A process-wide servant of multiprocessing or torch (resource tracker, fork server, resource sharer)
is started once and stays; it is nobody's leftover. What remains is compared with what was there
before the loader was constructed.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

SERVANTS = ("resource_tracker", "forkserver", "resource_sharer", "torch_shm_manager")
SHARED, OPEN = Path("/dev/shm"), Path("/proc/self/fd")


@dataclass(frozen=True)
class Standing:
    """What stands at one moment."""

    children: frozenset[int]
    threads: frozenset[int]
    descriptors: frozenset[tuple[int, str]]
    segments: frozenset[str]


def standing(pids: frozenset[int] = frozenset()) -> Standing:
    """What stands now. pids: processes, gone by now perhaps, that were of the family."""
    children = _children()
    return Standing(
        children, _threads(), _descriptors(), _segments(pids | children | {os.getpid()})
    )


def leftovers(before: Standing, pids: frozenset[int], bound_s: float) -> dict[str, Any]:
    """What stands now and did not before; waits up to `bound_s` for it to go.

    children, threads, descriptors, segments: counts. what: a few of them by name. seconds: how
    long children and threads took to go.
    """
    began = time.monotonic()
    while True:
        now = standing(pids)
        left = now.children - before.children, now.threads - before.threads
        if not any(left) or time.monotonic() - began > bound_s:
            break
        time.sleep(0.02)
    opened = now.descriptors - before.descriptors
    segments = now.segments - before.segments
    return {
        "children": len(left[0]), "threads": len(left[1]),
        "descriptors": len(opened), "segments": len(segments),
        "what": [*map(_command, left[0]), *(text for _, text in sorted(opened)), *segments][:8],
        "seconds": round(time.monotonic() - began, 2),
    }  # fmt: skip


def descendants(before: frozenset[int]) -> list[psutil.Process]:
    """The descendants, zombies too, that were not there before."""
    found = psutil.Process().children(recursive=True)
    return [child for child in found if child.pid not in before and not _serves(child)]


def _children() -> frozenset[int]:
    return frozenset(child.pid for child in descendants(frozenset()))


def _serves(child: psutil.Process) -> bool:
    try:
        return any(name in " ".join(child.cmdline()) for name in SERVANTS)
    except psutil.Error:
        return False


def _command(pid: int) -> str:
    with contextlib.suppress(psutil.Error):
        child = psutil.Process(pid)
        return f"process {child.status()}: {' '.join(child.cmdline())[:60]}"
    return "process"


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


def _segments(pids: frozenset[int]) -> frozenset[str]:
    """Segments in shared memory that these processes made: torch puts the number in the name."""
    names = (path.name for path in SHARED.glob("torch_*"))
    return frozenset(name for name in names if name.split("_")[1] in map(str, pids))


WATCH = "conformance-watch"
"""The name of the suite's own watching thread."""
