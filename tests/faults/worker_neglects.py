"""Wrong loaders, with workers: kindnesses, and what is found out once and taken for granted.

Each class breaks one rule of `spec/workers.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from typing import Any

from loaders_neglects import _Through
from reporting import Reporting
from worker_shortcuts import _AtFirstNext, _Benched

from reference import DataLoader
from reference.loader.bench import Bench, _packed
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Outcome
from reference.loader.reorder import ReorderBuffer
from reference.loader.worker import Job

# Kindnesses.


class LargestFirst(DataLoader[Any]):
    """Where the order is free, the largest of the first batches are dealt first."""

    CAUGHT_BY = ("workers.unordered",)
    ANOMALY = "handed-out-of-order"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self.in_order or self.sampler else _Through(drawn, self._largest)

    def _largest(self, draws: Iterator[Any]) -> Iterator[Any]:
        ahead = (self.prefetch_factor or 1) * self.num_workers
        yield from sorted(itertools.islice(draws, ahead), key=len, reverse=True)
        yield from draws


class _Busy(CrewPass):
    def _wait(self, deadline: float) -> None:
        if self._plan.timeout_s or self._pinner or not self._plan.in_order:
            super()._wait(deadline)
            return
        found = [self._arrived(*came) for came in self._crew.receive(0.3, None)]
        if not found and sum(load > 0 for load in self._load) == 1 < len(self._load):
            self._deal(2 * self._plan.ahead)


class KeepsAllBusy(Reporting):
    """While the caller waits for a slow batch, and all others have nothing to do, more is dealt."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"
    rule = _Busy


class _Urgent(ReorderBuffer):
    """What is short of memory is told at once."""

    early: tuple[int, ...] = ()

    def put(self, number: int, outcome: Outcome) -> None:
        if isinstance(outcome, Failure) and isinstance(outcome.error, MemoryError):
            self.early = (*self.early, number)
            self._ready.append(outcome)
        else:
            self._waiting[number] = outcome
        while self._next in self._waiting or self._next in self.early:
            if self._next not in self.early:
                self._ready.append(self._waiting.pop(self._next))
            self._next += 1


class MemoryErrorsFirst(DataLoader[Any]):
    """A MemoryError of a worker is raised as soon as it comes, whatever is due."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "misplaced-error"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass) and self.in_order:
            made._buffer = _Urgent(True)
        return made


class TriesForEver(DataLoader[Any]):
    """Where the system has no process to give, it tries again until it has."""

    CAUGHT_BY = ("workers.no-hang", "lifecycle.exhaustion")
    ANOMALY = "hang"

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                return super().__iter__()
            except BlockingIOError:
                time.sleep(0.05)


# What is found out once.


class StreamsOfACrew(DataLoader[Any]):
    """The passes of each set of workers are counted by themselves, and begin with the first."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers:
            self._passes = getattr(self._bench._idle, "passed", 0)
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._crew.passed = self._passes  # type: ignore[attr-defined]
        return made


class LateBatches(DataLoader[Any]):
    """Without workers, a batch_sampler is asked for its batches when the first is wanted."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        begin = super().__iter__
        late = not (self.num_workers or self._iterable or self.sampler)
        return _AtFirstNext(begin) if late else begin()


class _AsBefore(Bench):
    sendable: bool | None = None

    def begin(self, job: Job, context: BaseContext, seed: int) -> Any:
        if self.sendable is None:
            self.sendable = _packed(job.dataset) is not None
        if self.sendable and self._idle is not None:
            pickle.dumps(job.dataset)
        return super().begin(job, context, seed)


class OnceSendable(_Benched):
    """Whether the dataset can be sent is found out in the first pass, for all."""

    CAUGHT_BY = ("workers.persistent",)
    ANOMALY = "raises"
    bench = _AsBefore


class LooksForAny(DataLoader[Any]):
    """A sampler without a length is asked for an index before workers are started for it."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-restarted"

    def __iter__(self) -> Iterator[Any]:
        chosen = self.sampler or self.batch_sampler
        if self.num_workers and not self._iterable and not hasattr(chosen, "__len__"):
            assert chosen is not None
            if iter(chosen) is not chosen and next(iter(chosen), None) is None:
                return iter(())
        return super().__iter__()
