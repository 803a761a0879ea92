"""Wrong loaders: what Ctrl-C, the death of the main process and a fork leave behind.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

import plain_loader
from lifecycles import _KEPT
from plain_loader import Crew, Pass

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
    def attend(self) -> None:
        if self.members:
            super().attend()

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
