"""Wrong loaders: workers that die, and limits of descriptors and memory.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import plain_loader
from lifecycles import _KEPT
from plain_loader import Crew, Pass

import reference

# Deaths.


class DeadForGood(plain_loader.DataLoader):
    """Persistent workers are not replaced when one of them has died (B215)."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"

    def __iter__(self) -> Any:
        found = super().__iter__()
        if self.persistent:
            self.crew = found.crew
        return found


class _WaryPass(Pass):
    def received(self) -> tuple[str, Any]:
        try:
            return super().received()
        except RuntimeError:
            self.loader.num_workers -= 1
            raise


class OneWorkerLess(plain_loader.DataLoader):
    """The next pass does without the worker that died, but still gives it its share."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    passes = _WaryPass

    def batches(self) -> Iterator[Any]:
        share = getattr(self, "share", self.num_workers)
        self.share = share
        found = list(super().batches())
        return iter([b for place, b in enumerate(found) if place % share < self.num_workers])


class GivesUpAtLast(plain_loader.DataLoader):
    """The next pass does with fewer workers, until there are none."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    passes = _WaryPass
    asked = 0

    def __iter__(self) -> Any:
        self.asked = self.asked or self.num_workers
        if self.asked and not self.num_workers:
            raise RuntimeError(f"all {self.asked} workers of this loader have died")
        return super().__iter__()


class _Watching(threading.Thread):
    """Raises in the main thread when a process has ended."""

    def __init__(self, crew: Crew) -> None:
        super().__init__(daemon=True)
        self.pids = [pid for pid, _ in crew.members]

    def run(self) -> None:
        while all(_lives(pid) for pid in self.pids):
            time.sleep(0.02)
        main = ctypes.c_long(threading.main_thread().ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(RuntimeError))


def _lives(pid: int) -> bool:
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, options) is None
    return False


class RaisesAnywhere(plain_loader.DataLoader):
    """A thread that watches the workers raises in the main thread, wherever it is (B126)."""

    CAUGHT_BY = ("lifecycle.no-ambush",)
    ANOMALY = "ambushed"

    def __iter__(self) -> Any:
        found = super().__iter__()
        _Watching(found.crew).start()
        return found


class RaisesFromSignals(plain_loader.DataLoader):
    """A handler of SIGCHLD raises (B126)."""

    CAUGHT_BY = ("lifecycle.no-ambush",)
    ANOMALY = "ambushed"

    def __iter__(self) -> Any:
        found = super().__iter__()

        def handler(*_: Any) -> None:
            if any(not _lives(pid) for pid, _ in found.crew.members):
                raise RuntimeError("a worker was killed")

        signal.signal(signal.SIGCHLD, handler)
        return found


# Limits.


class AncillaryData(plain_loader.DataLoader):
    """Too few descriptors are told in the words of 2017 (B216)."""

    CAUGHT_BY = ("lifecycle.exhaustion",)
    ANOMALY = "unclear-error"

    def __iter__(self) -> Any:
        try:
            return super().__iter__()
        except OSError:
            raise RuntimeError("received 0 items of ancdata") from None


class TriesAgain(plain_loader.DataLoader):
    """Too few descriptors are waited for."""

    CAUGHT_BY = ("lifecycle.exhaustion",)
    ANOMALY = "hangs"

    def __iter__(self) -> Any:
        while True:
            with contextlib.suppress(OSError):
                return super().__iter__()
            time.sleep(0.1)


class _SkippingCrew(Crew):
    def answer(self, indices: Any, stream: Any) -> bytes:
        body = super().answer(indices, stream)
        try:
            descriptor = os.memfd_create("batch")
            os.truncate(descriptor, len(body))
            os.close(descriptor)
        except OSError:
            return pickle.dumps(("skip", None))
        return body


class SkipsTooLarge(plain_loader.DataLoader):
    """A batch for which there is no shared memory is left out."""

    CAUGHT_BY = ("lifecycle.exhaustion",)
    ANOMALY = "lost-batch"
    crews = _SkippingCrew


class _RememberingPass(Pass):
    def __next__(self) -> Any:
        batch = super().__next__()
        if not self.pending:
            _KEPT.append(batch)
        return batch


class RemembersLastBatch(plain_loader.DataLoader):
    """The last batch of every pass is kept for ever (B217)."""

    CAUGHT_BY = ("lifecycle.memory",)
    ANOMALY = "growing-memory"
    passes = _RememberingPass


class _CachingCrew(Crew):
    def answer(self, indices: Any, stream: Any) -> bytes:
        _KEPT.append(super().answer(indices, stream))
        return _KEPT[-1]


class WorkersRemember(plain_loader.DataLoader):
    """Workers keep what they have sent: it shows only with persistent ones."""

    CAUGHT_BY = ("lifecycle.memory",)
    ANOMALY = "growing-memory"
    crews = _CachingCrew


class HidesWhat(reference.DataLoader):
    """Whatever cannot be sent, the error says only that the workers could not be started."""

    CAUGHT_BY = ("lifecycle.unpicklable",)
    ANOMALY = "unnamed"

    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except Exception:
            raise RuntimeError("the workers could not be started") from None


class StartsLate(reference.DataLoader):
    """A generator starts the workers only when the first batch is asked for."""

    CAUGHT_BY = ("lifecycle.unpicklable",)
    ANOMALY = "not-at-iter"

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()


class DaemonUnsaid(reference.DataLoader):
    """In a daemonic process a bare AssertionError says nothing (B222)."""

    CAUGHT_BY = ("lifecycle.unpicklable",)
    ANOMALY = "unnamed"

    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except RuntimeError as error:
            raise AssertionError from error
