"""A small loader, right but plain: it forks a process for each worker and gives it a pipe.

It is right as far as `spec/lifecycle.md` goes, and unlike torch: there are no queues and no
threads but that which looks after the parent, batches travel as bytes, a drop kills. Faults derive
from it, and go wrong in one of its methods.
"""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe
from types import SimpleNamespace
from typing import Any

from torch.utils.data import IterableDataset, SequentialSampler
from torch.utils.data._utils import worker as _torch_worker
from torch.utils.data._utils.collate import default_collate

ATTENDED_S = 0.2
"""How often a worker looks whether the main process lives."""


class Crew:
    """The worker processes of one loader. What happens at their start and end are its methods."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader, self.owner = loader.settings(), os.getpid()
        self.members: list[tuple[int, Connection]] = []
        try:
            for worker in range(loader.num_workers):
                self.members.append(self.start(worker))
        except BaseException:
            self.close()
            raise

    def start(self, worker: int) -> tuple[int, Connection]:
        """Fork one worker."""
        ours, theirs = Pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        pid = os.fork()
        if pid == 0:
            self.guarded(worker, theirs)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return pid, ours

    def guarded(self, worker: int, pipe: Connection) -> None:
        """The worker's life; nothing after it may run."""
        try:
            self.prepare()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
            self.work(worker, pipe)
        finally:
            os._exit(0)

    def prepare(self) -> None:
        """Ctrl-C is the main process's; whose end is the worker's end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=self.attend, daemon=True).start()

    def attend(self) -> None:
        """End with the main process; a signal of the kernel would come when a thread of it ends."""
        while os.getppid() == self.owner:
            time.sleep(ATTENDED_S)
        os._exit(1)

    def work(self, worker: int, pipe: Connection) -> None:
        """Answer every request until there are no more."""
        loader = self.loader
        _torch_worker._worker_info = SimpleNamespace(  # type: ignore[assignment]
            id=worker, num_workers=loader.num_workers, seed=worker, dataset=loader.dataset
        )
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(worker)
        stream = iter(loader.dataset) if isinstance(loader.dataset, IterableDataset) else None
        while True:
            pipe.send_bytes(self.answer(pickle.loads(pipe.recv_bytes()), stream))

    def answer(self, indices: Any, stream: Any) -> bytes:
        """A batch as bytes, the end of a stream, or an error."""
        try:
            if stream is None:
                items = [self.loader.dataset[index] for index in indices]
            else:
                items = list(itertools.islice(stream, self.loader.batch_size))
            return pickle.dumps(("batch", self.collated(items)) if items else ("end", None))
        except Exception as error:
            return pickle.dumps(("error", RuntimeError(f"{type(error).__name__}: {error}")))

    def collated(self, items: list[Any]) -> Any:
        """A batch. torch must not know that this is a worker, or it would collate into a file in
        shared memory, which stays if a kill comes before it has taken away its name."""
        info, _torch_worker._worker_info = _torch_worker._worker_info, None
        try:
            return self.loader.collate_fn(items)
        finally:
            _torch_worker._worker_info = info

    def ask(self, worker: int, indices: Any) -> None:
        """Send a request."""
        self.members[worker][1].send_bytes(pickle.dumps(indices))

    def receive(self, worker: int) -> tuple[str, Any]:
        """Wait for an answer; RuntimeError if the worker has died."""
        try:
            found: tuple[str, Any] = pickle.loads(self.members[worker][1].recv_bytes())
            return found
        except (EOFError, ConnectionResetError) as error:
            raise RuntimeError(f"worker {worker} (pid {self.members[worker][0]}) died") from error

    def close(self) -> None:
        """Kill all; in a forked child they are not ours."""
        if os.getpid() != self.owner:
            return
        for pid, pipe in self.members:
            pipe.close()
            os.kill(pid, signal.SIGKILL)
        for pid, _ in self.members:
            os.waitpid(pid, 0)
        self.members = []

    def __del__(self) -> None:
        self.close()


class Pass:
    """One pass: batches are dealt to the workers in turn, and received in the same order."""

    def __init__(self, loader: DataLoader, crew: Crew) -> None:
        self.loader, self.crew = loader, crew
        self.batches, self.turn = loader.batches(), itertools.cycle(range(loader.num_workers))
        self.pending: deque[int] = deque()
        self.over = False
        self.deal(loader.ahead)

    def __iter__(self) -> Pass:
        return self

    def deal(self, ahead: int) -> None:
        """Send requests until `ahead` are under way."""
        while len(self.pending) < ahead:
            batch = next(self.batches, None)
            if batch is None:
                return
            worker = next(self.turn)
            self.pending.append(worker)
            try:
                self.crew.ask(worker, batch)
            except OSError:
                return  # it died: its answer will say so

    def __next__(self) -> Any:
        while not self.over and self.pending:
            kind, value = self.received()
            self.pending.popleft()
            if kind == "error":
                try:
                    raise value
                finally:
                    del value  # else the error, its traceback and this pass would be a cycle
            if kind == "batch":
                self.deal(self.loader.ahead)
                return value
        self.over = True
        self.loader.passed(self)
        raise StopIteration

    def received(self) -> tuple[str, Any]:
        """The next answer."""
        try:
            return self.crew.receive(self.pending[0])
        except RuntimeError:
            self.over = True
            raise


class DataLoader:
    """Takes what a loader takes, and heeds what these clauses need."""

    crews: Callable[..., Crew] = Crew
    passes: Callable[..., Pass] = Pass

    def __init__(
        self, dataset: Any, batch_size: int = 1, sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, worker_init_fn: Any = None, *, prefetch_factor: int = 2,
        persistent_workers: bool = False, multiprocessing_context: Any = None,
    ) -> None:  # fmt: skip
        if num_workers < 1 or batch_size < 1 or prefetch_factor < 1:
            raise ValueError("num_workers, batch_size and prefetch_factor are at least 1")
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers
        self.sampler, self.worker_init_fn = sampler, worker_init_fn
        self.collate_fn = collate_fn or default_collate
        self.persistent, self.ahead = persistent_workers, prefetch_factor * num_workers
        self.crew: Crew | None = None

    def settings(self) -> SimpleNamespace:
        """What the workers need to know; the loader itself would be held by them."""
        return SimpleNamespace(**{k: v for k, v in vars(self).items() if k != "crew"})

    def batches(self) -> Iterator[Any]:
        """The requests of one pass."""
        if isinstance(self.dataset, IterableDataset):
            return iter([()] * 100)
        order = iter(SequentialSampler(self.dataset) if self.sampler is None else self.sampler)
        return iter(lambda: list(itertools.islice(order, self.batch_size)) or None, None)

    def __iter__(self) -> Any:
        crew, self.crew = self.crew, None
        return self.passes(self, crew or self.crews(self))

    def passed(self, done: Pass) -> None:
        """A pass has come to its end: persistent workers wait for the next one."""
        if self.persistent and not done.pending:
            self.crew = done.crew
        else:
            done.crew.close()
