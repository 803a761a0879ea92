"""Wrong loaders: what stays of them where an end comes otherwise than their authors had in mind.

Each class breaks one rule of `spec/lifecycle.md`. `CAUGHT_BY` lists the clauses that must report
the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import threading
import uuid
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import plain_loader
import torch.utils.data
from plain_loader import Crew, Pass
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from reference import DataLoader


class _MendingPass(Pass):
    def received(self) -> tuple[str, Any]:
        try:
            return super().received()
        except RuntimeError:
            if self.loader.persistent:
                self._mend(self.pending[0])
                self.loader.crew = self.crew
            raise

    def _mend(self, worker: int) -> None:
        pid, pipe = self.crew.members[worker]
        pipe.close()
        os.waitpid(pid, 0)
        self.crew.members[worker] = self.crew.start(worker)


class OthersAnswerLate(plain_loader.DataLoader):
    """The worker that died is started again, and what the others owed belongs to the next pass."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    passes = _MendingPass


class _ParkedCrew(Crew):
    def prepare(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def work(self, worker: int, pipe: Any) -> None:
        self.members.clear()
        try:
            super().work(worker, pipe)
        except EOFError:
            signal.pause()


class ParkedForGood(plain_loader.DataLoader):
    """A worker without work waits for a signal, also when there is nobody who would send it."""

    CAUGHT_BY = ("lifecycle.orphans",)
    ANOMALY = "late-orphans"
    crews = _ParkedCrew


class PipeOfAFailedStart(DataLoader[Any]):
    """The pipe that wakes a pass is closed with it, and stays where there was none."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "growing-descriptors"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return super().__iter__()
        ends = os.pipe()
        made: Any = super().__iter__()
        made.closed = Finalize(made, lambda: [os.close(end) for end in ends], exitpriority=5)
        return made


def _forget(board: SharedMemory) -> None:
    board.close()
    board.unlink()


class BoardOfAFailedStart(DataLoader[Any]):
    """Each pass has a page of shared memory, whose name is taken away at the end of the pass."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "growing-segments"

    def __iter__(self) -> Iterator[Any]:
        board = SharedMemory(create=True, size=4096)
        made: Any = super().__iter__()
        made.board = Finalize(made, _forget, (board,), exitpriority=5)
        return made


class _FilingCrew(Crew):
    def answer(self, indices: Any, stream: Any) -> bytes:
        path = Path(f"/dev/shm/batch-{uuid.uuid4().hex}")
        path.write_bytes(super().answer(indices, stream))
        return pickle.dumps(("file", path))

    def receive(self, worker: int) -> tuple[str, Any]:
        _, path = super().receive(worker)
        found: tuple[str, Any] = pickle.loads(path.read_bytes())
        path.unlink()
        return found


class FilesOfALeftPass(plain_loader.DataLoader):
    """Batches travel as files in shared memory, and those that nobody asks for any more stay."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "growing-segments"
    crews = _FilingCrew


class _Ahead(Iterator[Any]):
    """Makes the next batch in a thread while the caller computes."""

    def __init__(self, made: Iterator[Any]) -> None:
        self.made: queue.Queue[Any] = queue.Queue(1)
        threading.Thread(target=self._fill, args=(made, self.made), daemon=True).start()

    @staticmethod
    def _fill(made: Iterator[Any], results: queue.Queue[Any]) -> None:
        with contextlib.suppress(StopIteration):
            while True:
                results.put((True, next(made)))
        results.put((False, None))

    def __next__(self) -> Any:
        more, batch = self.made.get()
        if more:
            return batch
        self.made.put((False, None))
        raise StopIteration


class ThreadAtAFullQueue(DataLoader[Any]):
    """Without workers, a thread that has a batch ready waits for its taker, who may have gone."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        return made if self.num_workers else _Ahead(made)


class _Forgetting(_MultiProcessingDataLoaderIter):
    def _shutdown_workers(self) -> None:
        self._persistent_workers = False
        super()._shutdown_workers()


class ForgetsEndedStreams(torch.utils.data.DataLoader):  # type: ignore[type-arg]
    """Kept workers whose streams have ended count as gone, and nobody tells them to leave."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"

    def _get_iterator(self) -> Any:
        return _Forgetting(self) if self.num_workers else super()._get_iterator()
