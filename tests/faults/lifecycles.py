"""Loaders with one fault each in how they begin and end: `spec/lifecycle.md` catches them.

`CAUGHT_BY` names the clauses that must catch a fault, `ANOMALY` what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
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


# Interrupts.


class _DeafPass(Pass):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        except KeyboardInterrupt:
            raise StopIteration from None


class EndsAtInterrupt(plain_loader.DataLoader):
    """Ctrl-C looks like the end of the data."""

    CAUGHT_BY = ("lifecycle.interrupt",)
    ANOMALY = "interrupt-lost"
    passes = _DeafPass


class _MisreadingPass(Pass):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        except KeyboardInterrupt as error:
            raise RuntimeError("a worker died") from error


class MisreadsInterrupt(plain_loader.DataLoader):
    """Ctrl-C is told as the death of a worker."""

    CAUGHT_BY = ("lifecycle.interrupt",)
    ANOMALY = "interrupt-replaced"
    passes = _MisreadingPass


class _EchoingCrew(Crew):
    def prepare(self) -> None:
        super().prepare()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def answer(self, indices: Any, stream: Any) -> bytes:
        try:
            return super().answer(indices, stream)
        except KeyboardInterrupt as error:
            return pickle.dumps(("error", error))


class InterruptsTwice(plain_loader.DataLoader):
    """Workers hand their own KeyboardInterrupt on to the main process (B127)."""

    CAUGHT_BY = ("lifecycle.interrupt",)
    ANOMALY = "interrupted-again"
    crews = _EchoingCrew


class _ForgetfulPass(Pass):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        except KeyboardInterrupt:
            _KEPT.append(self.crew)
            raise


class SurvivesInterrupt(plain_loader.DataLoader):
    """After Ctrl-C nobody ends the workers."""

    CAUGHT_BY = ("lifecycle.interrupt",)
    ANOMALY = "late-end"
    passes = _ForgetfulPass


class _LoudCrew(Crew):
    def prepare(self) -> None:
        super().prepare()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def work(self, worker: int, pipe: Connection) -> None:
        try:
            super().work(worker, pipe)
        except KeyboardInterrupt:
            traceback.print_exc()
            sys.stderr.flush()


class LoudWorkers(plain_loader.DataLoader):
    """Each worker prints a traceback at Ctrl-C."""

    CAUGHT_BY = ("lifecycle.interrupt-quiet",)
    ANOMALY = "traceback-of-a-worker"
    crews = _LoudCrew


class _LoudIdleCrew(_LoudCrew):
    def answer(self, indices: Any, stream: Any) -> bytes:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return super().answer(indices, stream)


class LoudIdleWorkers(plain_loader.DataLoader):
    """Only a worker that has nothing to do prints a traceback at Ctrl-C."""

    CAUGHT_BY = ("lifecycle.interrupt-quiet",)
    ANOMALY = "traceback-of-a-worker"
    crews = _LoudIdleCrew


# Orphans and forks.


class _AbandonedCrew(Crew):
    def prepare(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class WaitsAsOrphan(plain_loader.DataLoader):
    """A worker waits for work on a pipe whose other end its brother holds too (B219)."""

    CAUGHT_BY = ("lifecycle.orphans",)
    ANOMALY = "late-orphans"
    crews = _AbandonedCrew


class _StubbornCrew(Crew):
    def prepare(self) -> None:
        super().prepare()
        if not self.members:
            ctypes.CDLL(None).prctl(plain_loader.PR_SET_PDEATHSIG, 0)

    def work(self, worker: int, pipe: Connection) -> None:
        while True:
            with contextlib.suppress(EOFError, OSError):
                super().work(worker, pipe)
            time.sleep(1.0)


class FirstWorkerStays(plain_loader.DataLoader):
    """The first worker takes a broken pipe for a passing trouble and tries again."""

    CAUGHT_BY = ("lifecycle.orphans",)
    ANOMALY = "late-orphans"
    crews = _StubbornCrew


class _MeddlingCrew(Crew):
    def close(self) -> None:
        self.owner = os.getpid()
        with contextlib.suppress(ChildProcessError):
            super().close()
        self.members = []


class ChildEndsWorkers(plain_loader.DataLoader):
    """A forked child that drops the iterator ends the parent's workers (B214)."""

    CAUGHT_BY = ("lifecycle.fork",)
    ANOMALY = "parent-affected"
    crews = _MeddlingCrew


class _ComplainingCrew(Crew):
    def close(self) -> None:
        assert os.getpid() == self.owner, "can only end a child process"
        super().close()


class ChildComplains(plain_loader.DataLoader):
    """A forked child, and so a worker of the next pass, prints an AssertionError (B166)."""

    CAUGHT_BY = ("lifecycle.fork",)
    ANOMALY = "prints"
    crews = _ComplainingCrew


class _JoiningCrew(Crew):
    def close(self) -> None:
        while os.getpid() != self.owner and self.members:
            time.sleep(0.1)  # until they have ended
        super().close()


class ChildWaits(plain_loader.DataLoader):
    """A forked child that drops the iterator waits for workers that are not its children."""

    CAUGHT_BY = ("lifecycle.fork",)
    ANOMALY = "child-affected"
    crews = _JoiningCrew


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
