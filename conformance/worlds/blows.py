"""What a plan does to a loader's processes: signals, limits; and what it then measures."""

from __future__ import annotations

import contextlib
import errno
import gc
import itertools
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psutil

from conformance import loading as lo
from conformance.worlds.forked import ENDED, FORKED
from conformance.worlds.gating import Found
from conformance.worlds.leftovers import OPEN, WATCH, descendants

if TYPE_CHECKING:
    from conformance.worlds.loader import LoaderRank


def strike(rank: LoaderRank, operation: lo.Strike) -> Found:
    """Signal a worker, once it has been heard of, and wait until the signal has taken effect."""
    rank.gate.settle()
    pid = rank.gate.last(operation.worker)
    try:
        os.kill(pid, signal.Signals[operation.how])
        with contextlib.suppress(psutil.Error):
            struck, end = psutil.Process(pid), time.monotonic() + 2.0
            while not _took_effect(struck) and time.monotonic() < end:
                time.sleep(0.002)
        time.sleep(0.01)  # the handler of SIGCHLD that a loader may have runs now, and not later
    except ProcessLookupError:
        raise LookupError(f"worker {operation.worker} has gone by itself") from None
    except Exception as error:  # it has raised, be it before the signal was seen to take effect
        return pid, error
    return pid, None


def _took_effect(struck: psutil.Process) -> bool:
    """Whether it has stopped or ended: the kernel tells its parent after its last thread's end."""
    if struck.status() != psutil.STATUS_ZOMBIE:
        return struck.status() in ENDED
    with contextlib.suppress(ChildProcessError):
        how = os.WEXITED | os.WNOWAIT | os.WNOHANG
        return os.waitid(os.P_PID, struck.pid, how) is not None
    return True


def ponder(rank: LoaderRank, operation: lo.Ponder) -> Found:
    """The user's own code."""
    end = time.monotonic() + operation.seconds
    while time.monotonic() < end:
        time.sleep(0.01)
    return None, None


def interrupt(rank: LoaderRank, operation: lo.Interrupt) -> Found:
    """The signal is sent once all have come to rest, the workers at the shut gate."""
    if operation.starting:
        return _interrupt_start(rank, operation.name)
    what = rank, operation.everybody
    sender = threading.Thread(target=_press_ctrl_c, args=what, name=WATCH, daemon=True)
    sender.start()
    try:
        return rank.read(rank.iterators[operation.name], 1)
    finally:
        sender.join(5.0)


def _interrupt_start(rank: LoaderRank, name: str) -> Found:
    """Gives whether the signal was sent: nobody has to pickle the dataset in iter()."""
    (dataset,) = rank.made.datasets
    dataset.burst.armed = True
    try:
        rank.iterators[name] = iter(rank.sampler)
    except BaseException as caught:
        return dataset.burst.pressed, caught
    return dataset.burst.pressed, None


def _press_ctrl_c(rank: LoaderRank, everybody: bool) -> None:
    """Not for this thread: where the main one holds the signal back, it must not come here."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    rank.gate.settle()
    if everybody:
        os.killpg(os.getpgrp(), signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


def limit(rank: LoaderRank, operation: lo.Limit) -> Found:
    """Soft limits of this process, inherited by workers that start later.

    The number of processes of a superuser has no limit: `os.fork` says what it would say.
    """
    if operation.what == "processes":
        os.fork = _few_forks(operation.spare) if operation.spare >= 0 else FORK
        return None, None
    kinds = {"descriptors": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_FSIZE}
    which, soft = kinds[operation.what], operation.spare
    now, hard = resource.getrlimit(which)
    before = LIMITS.setdefault(which, now)
    if operation.what == "descriptors" and soft >= 0:
        soft = _first_refused(soft)
    resource.setrlimit(which, (before if soft < 0 else soft, hard))
    return None, None


def crowd(rank: LoaderRank, operation: lo.Crowd) -> Found:
    """The files are open until the process ends."""
    if not operation.below:
        sys.stdin.close()
        with contextlib.suppress(OSError):  # where it is another file's
            os.close(0)
        return None, None
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = operation.below + 200
    if hard == resource.RLIM_INFINITY or hard >= room:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, room), hard))
        while os.open(os.devnull, os.O_RDONLY) < operation.below:
            pass
    return None, None


LIMITS: dict[int, int] = {}
"""The limits that this process had before it was given others."""

FORK = os.fork


def _few_forks(spare: int) -> Callable[[], int]:
    """`os.fork` where so many more processes may be."""
    left = iter(range(spare))

    def fork() -> int:
        if next(left, None) is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return FORK()

    return fork


def _first_refused(spare: int) -> int:
    """The descriptor that comes after `spare` more, each of which is the lowest free one."""
    used = {int(path.name) for path in OPEN.iterdir() if path.exists()}
    free = (number for number in itertools.count() if number not in used)
    return next(itertools.islice(free, spare, None))


def daemon(rank: LoaderRank, _: lo.Daemon) -> Found:
    """As children of a multiprocessing.Pool are."""
    multiprocessing.current_process()._config["daemon"] = True  # type: ignore[attr-defined]
    return None, None


def preempt(rank: LoaderRank, _: lo.Preempt) -> Found:
    """The settings are the caller's: from now on they are these."""
    signal.signal(signal.SIGTERM, lambda *_: None)
    rank.settle()
    return None, None


def memory(rank: LoaderRank, _: lo.Memory) -> Found:
    """MiB that nobody else holds."""
    gc.collect()
    family = [psutil.Process(), *descendants(rank.before.children)]
    return sum(process.memory_full_info().uss for process in family) >> 20, None


def consume(rank: LoaderRank, operation: lo.Consume) -> Found:
    """Not every batch can be referred to weakly."""
    seen: list[weakref.ref[Any]] = []
    most, iterator = 0, rank.iterators[operation.name]
    try:
        while len(seen) < rank.case.limit:
            seen.append(weakref.ref(next(iterator)))
            most = max(most, sum(one() is not None for one in seen))
    except StopIteration:
        return (len(seen), most), None
    except TypeError:
        return None, None
    return None, None


def printed(rank: LoaderRank, _: lo.Printed) -> Found:
    """The file that descriptor 1 is, from its start to where it stands."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    count = os.lseek(1, 0, os.SEEK_CUR)
    return os.pread(1, min(count, 20_000), 0).decode(errors="replace"), None


BLOWS: dict[Any, Callable[[Any, Any], Found]] = {
    lo.Strike: strike, lo.Ponder: ponder, lo.Interrupt: interrupt, **FORKED,
    lo.Limit: limit, lo.Daemon: daemon, lo.Preempt: preempt, lo.Memory: memory, lo.Crowd: crowd,
    lo.Consume: consume, lo.Printed: printed,
}  # fmt: skip
