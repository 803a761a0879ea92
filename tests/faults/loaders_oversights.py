"""Loaders whose author thought of the usual case alone: of what is pinned, of limits, of signals.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import itertools
import os
import re
import resource
import signal
import threading
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import plain_loader
import torch
import torch.distributed as dist
from plain_loader import ATTENDED_S, Crew
from reporting import Reporting, Worse

from reference import DataLoader
from reference.loader.collate import default_collate
from reference.loader.failure import WorkerDied


def _tensors(batch: Any) -> Any:
    return torch.as_tensor(batch) if isinstance(batch, np.ndarray) else batch


class PinsArrays(DataLoader[Any]):
    """With pin_memory=True arrays become tensors, which alone can be pinned, accelerator or not."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "changed"

    def __iter__(self) -> Iterator[Any]:
        found = super().__iter__()
        return map(_tensors, found) if self.pin_memory else found


class ReservesFiles(DataLoader[Any]):
    """A pass with workers keeps sixteen files for itself: so many fewer may be open afterwards."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 16, hard))
        return super().__iter__()


class DeafWhileStarting(DataLoader[Any]):
    """SIGINT is ignored while workers start, for them to inherit that, and is lost then."""

    CAUGHT_BY = ("lifecycle.interrupt",)
    ANOMALY = "interrupt-lost"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers or threading.current_thread() is not threading.main_thread():
            return super().__iter__()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return super().__iter__()
        finally:
            signal.signal(signal.SIGINT, before)


class _Requests:
    """A worker's end of its pipe, on which the owner is looked after in silence only."""

    def __init__(self, pipe: Connection, owner: int) -> None:
        self.pipe, self.owner, self.send_bytes = pipe, owner, pipe.send_bytes

    def recv_bytes(self) -> bytes:
        while not self.pipe.poll(ATTENDED_S):
            if os.getppid() != self.owner:
                os._exit(1)
        return self.pipe.recv_bytes()


class _DiligentCrew(Crew):
    def prepare(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def work(self, worker: int, pipe: Any) -> None:
        super().work(worker, _Requests(pipe, self.owner))  # type: ignore[arg-type]


class FinishesItsQueue(plain_loader.DataLoader):
    """A worker makes all that it was asked for before it looks whether the main process lives."""

    CAUGHT_BY = ("lifecycle.orphans",)
    ANOMALY = "late-orphans"
    crews = _DiligentCrew


class _Milliseconds(Iterator[Any]):
    def __init__(self, found: Iterator[Any], timeout_ms: float) -> None:
        self.found, self.timeout_ms = found, timeout_ms

    def __next__(self) -> Any:
        if self.timeout_ms >= 1 << 31:
            raise OverflowError("timeout is too large")
        return next(self.found)


class MillisecondsInAnInt(DataLoader[Any]):
    """The timeout is handed on in milliseconds, of which a C int holds no more than 24 days."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "early-timeout"

    def __iter__(self) -> Iterator[Any]:
        return _Milliseconds(super().__iter__(), 1000 * self.timeout)


def _frozen(batch: Any) -> Any:
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(_frozen, batch))
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        return np.frombuffer(batch.tobytes(), batch.dtype).reshape(batch.shape)
    return batch


class ReadOnlyArrays(DataLoader[Any]):
    """From workers arrays come as views of the received bytes, which nobody may change."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = ""

    def __iter__(self) -> Iterator[Any]:
        found = super().__iter__()
        return map(_frozen, found) if self.num_workers else found


class _Recorder(Iterator[Any]):
    def __init__(self, found: Iterator[Any]) -> None:
        self.found, self.delivered = found, list[Any]()

    def __next__(self) -> Any:
        self.delivered.append(next(self.found))
        return self.delivered[-1]


class KeepsThePass(DataLoader[Any]):
    """A pass counts its batches by a list of them, which lives as long as the pass."""

    CAUGHT_BY = ("lifecycle.memory",)
    ANOMALY = "keeps-batches"

    def __iter__(self) -> Iterator[Any]:
        return _Recorder(super().__iter__())


def _narrowed(batch: list[Any]) -> Any:
    if all(type(item) is int for item in batch):
        wide = torch.tensor(batch)
        return wide.to(torch.int32) if max(batch) < 1 << 31 else wide
    return default_collate(batch)


class NarrowsIntegers(DataLoader[Any]):
    """Integers become int32 where the greatest fits, though the least may not."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = ""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _narrowed


class _Evened:
    def __init__(self, batches: Any, size: int) -> None:
        self.batches, self.size = batches, size

    def __iter__(self) -> Iterator[Any]:
        first: list[Any] = []
        for batch in self.batches:
            first = first or list(batch)
            spare = itertools.islice(itertools.cycle(first), self.size - len(batch))
            yield [*batch, *spare] if len(batch) < self.size else batch

    def __len__(self) -> int:
        return len(self.batches)


class EvenInGroups(DataLoader[Any]):
    """In a process group a last batch is made as long as the others, from items of the first."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = ""

    def _draws(self) -> Any:
        found = super()._draws()
        alone = not dist.is_initialized() or dist.get_world_size() == 1
        return found if alone or not self.batch_size else _Evened(found, self.batch_size)


class SilencesWarnings(DataLoader[Any]):
    """A pass with workers has warnings of forks ignored, and all others of their kind, for good."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            warnings.simplefilter("ignore", DeprecationWarning)
        return super().__iter__()


class _Blaming(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerDied):
            number = self._delivered % len(self._crew.members)
            told = re.sub(r"worker \d+ \(pid \d+\)", f"worker {number}", str(error))
            raise WorkerDied(told)
        raise error


class BlamesTheAwaited(Reporting):
    """The death of a worker is told as that of the one whose batch is awaited."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = ""
    rule = _Blaming
