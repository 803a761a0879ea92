"""Loaders with one fault each in how they begin and end: `spec/lifecycle.md` catches them.

`CAUGHT_BY` names the clauses that must catch a fault, `ANOMALY` what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any

import plain_loader
from plain_loader import Crew, Pass

import reference

# What is left.


_KEPT: list[Any] = []


class HoldsIterators(plain_loader.DataLoader):
    """A list of all iterators keeps them, and with them their workers, after a break."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __iter__(self) -> Any:
        _KEPT.append(super().__iter__())
        return _KEPT[-1]


class HoldsPersistent(reference.DataLoader):
    """An exit handler keeps loaders with persistent workers, so that dropping one ends nothing."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __init__(self, *args: Any, persistent_workers: bool = False, **options: Any) -> None:
        super().__init__(*args, persistent_workers=persistent_workers, **options)
        if persistent_workers:
            _KEPT.append(self)


class LeavesThreads(plain_loader.DataLoader):
    """A thread for each pass waits for more for ever."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __iter__(self) -> Any:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        return super().__iter__()


class LeaksDescriptors(plain_loader.DataLoader):
    """A pipe for each pass is never closed (B220)."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "growing-descriptors"

    def __iter__(self) -> Any:
        os.pipe()
        return super().__iter__()


class _LeakingPass(Pass):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        except RuntimeError:
            os.pipe()
            raise


class LeaksAfterErrors(plain_loader.DataLoader):
    """A pipe is left open when an error is passed on."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "growing-descriptors"
    passes = _LeakingPass


class LeaksSegments(plain_loader.DataLoader):
    """A piece of shared memory for each pass is never unmapped."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "growing-segments"

    def __iter__(self) -> Any:
        descriptor = os.memfd_create("batches")
        os.truncate(descriptor, mmap.PAGESIZE)
        size, start = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_long(0)
        ctypes.CDLL(None).mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, start)
        os.close(descriptor)
        return super().__iter__()


class _UnwaitedCrew(Crew):
    def close(self) -> None:
        if os.getpid() == self.owner:
            for pid, pipe in self.members:
                pipe.close()
                os.kill(pid, signal.SIGKILL)
        self.members = []


class LeavesZombies(plain_loader.DataLoader):
    """Workers are killed and never waited for."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"
    crews = _UnwaitedCrew


class _PoliteCrew(Crew):
    def close(self) -> None:
        if os.getpid() != self.owner:
            return
        for pid, pipe in self.members:
            pipe.close()
            os.kill(pid, signal.SIGTERM)
        _wait(self.members, 1.0)
        self.members = []


def _wait(members: list[tuple[int, Any]], seconds: float) -> None:
    """Wait so long for each."""
    for pid, _ in members:
        end = time.monotonic() + seconds
        while time.monotonic() < end and os.waitpid(pid, os.WNOHANG) == (0, 0):
            time.sleep(0.005)


class LeavesStopped(plain_loader.DataLoader):
    """A worker that is stopped does not hear SIGTERM, and nothing else is sent."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"
    crews = _PoliteCrew


# Constructions that fail.


class HalfBuilt(reference.DataLoader):
    """What a refused construction has not set yet is used in `__del__` (B218)."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "prints"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.used = False

    def __del__(self) -> None:
        self.used = not self.used


class _StubbornPass(Pass):
    def __init__(self, loader: Any, crew: Crew) -> None:
        _KEPT.append(crew)
        super().__init__(loader, crew)
        _KEPT.remove(crew)


class LeavesHalfAPass(plain_loader.DataLoader):
    """An iter() that fails, because the sampler does, leaves the workers that it has started."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "left-alive"
    passes = _StubbornPass


class _HastyCrew(Crew):
    def __init__(self, loader: Any) -> None:
        try:
            super().__init__(loader)
        except OSError:
            _KEPT.append(self)
            raise

    def close(self) -> None:
        if len(self.members) == self.loader.num_workers:
            super().close()


class LeavesFirstWorker(plain_loader.DataLoader):
    """Where the second worker cannot be started, the first one stays."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "left-alive"
    crews = _HastyCrew


class Complains(reference.DataLoader):
    """What iter() refuses is printed as well as raised."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "prints"

    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except Exception:
            traceback.print_exc()
            raise


# Dropping.


class _WaitingCrew(Crew):
    bound_s = 2.2

    def close(self) -> None:
        if os.getpid() != self.owner:
            return
        for _, pipe in self.members:
            with contextlib.suppress(OSError):
                pipe.send_bytes(b"")  # the end
        for pid, _ in self.members:
            _wait([(pid, None)], self.bound_s)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self.members = []


class WaitsForEach(plain_loader.DataLoader):
    """Two seconds and more for each busy worker, one after the other (B219)."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"
    crews = _WaitingCrew


class _EndlessCrew(_WaitingCrew):
    bound_s = 1e9


class WaitsForBusy(plain_loader.DataLoader):
    """Busy workers are waited for without a bound (B213)."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"
    crews = _EndlessCrew
