"""Wrong loaders: right as long as one thread calls, and that the main one.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import asyncio
import ctypes
import signal
import threading
from collections.abc import Iterator
from typing import Any

import plain_loader
from plain_loader import Crew, Pass
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

PR_SET_PDEATHSIG = 1


class _TiedCrew(Crew):
    def prepare(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class DiesWithThread(plain_loader.DataLoader):
    """Workers ask the kernel for a signal at the parent's end: it comes when that thread ends."""

    CAUGHT_BY = ("lifecycle.threads",)
    ANOMALY = "bound-to-a-thread"
    crews = _TiedCrew


class TakesAlarms(DataLoader[Any]):
    """A handler is set for the time in which workers start; only the main thread may set one."""

    CAUGHT_BY = ("lifecycle.threads",)
    ANOMALY = "bound-to-a-thread"

    def __iter__(self) -> Any:
        before = signal.signal(signal.SIGALRM, self._too_late)
        signal.alarm(60)
        try:
            return super().__iter__()
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def _too_late(self, number: int, frame: Any) -> None:
        raise RuntimeError("the workers did not start within 60 s")


class _OwnPass(Pass):
    def __init__(self, *args: Any) -> None:
        self.own = threading.local()
        super().__init__(*args)
        self.own.before = None

    def __next__(self) -> Any:
        batch = super().__next__()
        self.own.before = self.own.before, batch
        return batch


class KeepsForThread(plain_loader.DataLoader):
    """The batch before is kept in a `threading.local`, so that threads do not disturb each other:
    one that did not begin the pass finds nothing."""

    CAUGHT_BY = ("lifecycle.threads",)
    ANOMALY = "bound-to-a-thread"
    passes = _OwnPass


class _TrustingIter(_MultiProcessingDataLoaderIter):
    def _try_get_data(self, timeout: float = 0.0) -> Any:
        return super()._try_get_data(timeout=float(1 << 20))


class HearsOfSignals(DataLoader[Any]):
    """Whoever waits for a batch looks at no worker: SIGCHLD tells, and that in the main thread."""

    CAUGHT_BY = ("lifecycle.threads",)
    ANOMALY = "bound-to-a-thread"

    def _get_iterator(self) -> Any:
        return _TrustingIter(self) if self.num_workers else super()._get_iterator()


class RunsInALoop(DataLoader[Any]):
    """Without workers batches are fetched in the event loop, which only the main thread has."""

    CAUGHT_BY = ("lifecycle.threads",)
    ANOMALY = "bound-to-a-thread"

    def __iter__(self) -> Any:
        return super().__iter__() if self.num_workers else self._looped()

    def _looped(self) -> Iterator[Any]:
        loop = asyncio.get_event_loop_policy().get_event_loop()
        batches = super().__iter__()
        while (batch := loop.run_until_complete(_asked(batches))) is not None:
            yield batch


async def _asked(batches: Iterator[Any]) -> Any:
    return next(batches, None)
