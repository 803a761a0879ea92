"""Right loaders that look unlike torch's and the reference: `spec/lifecycle.md` accuses none."""

from __future__ import annotations

import copy
import itertools
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import plain_loader
from plain_loader import Crew, Pass
from torch.utils.data import IterableDataset

import reference


class Forking(plain_loader.DataLoader):
    """Forks, whatever the start method; kills at once; takes lambdas; daemonic or not."""


class SetsAndPutsBack(reference.DataLoader[Any]):
    """While workers start, SIGINT waits and the environment is theirs; then all is as it was."""

    def __iter__(self) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return super().__iter__()
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = "1"
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().__iter__()
        finally:
            os.environ.pop("OMP_NUM_THREADS")
            if before is not None:
                os.environ["OMP_NUM_THREADS"] = before
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


class _AskingCrew(Crew):
    def close(self) -> None:
        if os.getpid() != self.owner:
            return
        for _, pipe in self.members:
            pipe.close()
        end = time.monotonic() + 0.5
        for pid, _ in self.members:
            while os.waitpid(pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.005)
        self.members = []


class Asking(plain_loader.DataLoader):
    """Ends its workers by hanging up, and kills those that have not ended after half a second."""

    crews = _AskingCrew


class _WrappingPass(Pass):
    def received(self) -> tuple[str, Any]:
        try:
            return super().received()
        except RuntimeError as error:
            raise OSError("one of my processes is gone, so this pass is over") from error


class Wrapping(plain_loader.DataLoader):
    """Wraps the death of a worker in an error of its own."""

    passes = _WrappingPass


class FallingBack(reference.DataLoader[Any]):
    """Where something cannot be sent to workers, it warns, and the pass is one without workers."""

    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except TypeError as error:
            warnings.warn(f"this pass has no workers: {error}", stacklevel=2)
            lone = copy.copy(self)
            lone.num_workers = 0
            return iter(lone)


class Threaded(plain_loader.DataLoader):
    """Loads in threads: there are no processes that could be struck, orphaned or left behind."""

    def __iter__(self) -> Iterator[Any]:
        return _ThreadedPass(self)


class _ThreadedPass:
    def __init__(self, loader: Threaded) -> None:
        stream = isinstance(loader.dataset, IterableDataset)
        self.batches = ([item] for item in loader.dataset) if stream else loader.batches()
        self.load = loader.collate_fn if stream else _load
        self.loader, self.pending = loader, deque[Future[Any]]()
        begin, number = loader.worker_init_fn, itertools.count()
        started = (lambda: begin(next(number))) if begin else None
        self.pool = ThreadPoolExecutor(loader.num_workers, initializer=started)
        self.deal()

    def deal(self) -> None:
        """Keep so many batches under way."""
        while len(self.pending) < self.loader.ahead:
            batch = next(self.batches, None)
            if batch is None:
                return
            more = (batch,) if self.load is not _load else (self.loader.settings(), batch)
            self.pending.append(self.pool.submit(self.load, *more))

    def __iter__(self) -> _ThreadedPass:
        return self

    def __next__(self) -> Any:
        if not self.pending:
            self.pool.shutdown()
            raise StopIteration
        future = self.pending.popleft()
        self.deal()
        return future.result()

    def __del__(self) -> None:
        if hasattr(self, "pool"):
            self.pool.shutdown(wait=False, cancel_futures=True)


def _load(loader: Any, indices: list[int]) -> Any:
    return loader.collate_fn([loader.dataset[index] for index in indices])
