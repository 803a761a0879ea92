"""Wrong loaders that take one sign for the whole, and limits that nobody has told of.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

import torch
from loaders import _Collates
from loaders_neglects import _Sending
from loaders_shortcuts import _Asking
from reporting import Reporting
from worker_shortcuts import _Benched

from reference import DataLoader
from reference.loader.bench import Bench
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch, Ended, MapFetcher, Outcome, StreamFetcher
from reference.loader.reorder import ReorderBuffer
from reference.loader.worker import Job

# What one sign stands for.


class FlagsByTheFirst(_Collates):
    """Items are taken for flags if the first of them is one, whatever numbers follow it."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        if type(samples[0]) is bool:
            return torch.tensor([bool(sample) for sample in samples])
        return super().merged(samples)


class _EndsInCollation(StreamFetcher):
    def _sample(self) -> Any:
        try:
            return super()._sample()
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):
                self._stream = None
                return Ended([])
            raise


class CollationEndsStreams(_Asking):
    """With batching off, a StopIteration of `collate_fn` is taken for the end of the stream."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"
    fetcher = _EndsInCollation


class _AsksOneByOne(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        try:
            return super()._all_samples(indices)
        except NotImplementedError:
            return self._samples(indices)


class TakesItForNotThere(_Asking):
    """A NotImplementedError that comes out of `__getitems__` is taken for its absence."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"
    fetcher = _AsksOneByOne


def _as_range(batch: Any) -> Any:
    """A batch whose ends are as far apart as those of a range, as that range."""
    if type(batch) is not list or {*map(type, batch)} != {int}:
        return batch
    first, last = batch[0], batch[-1]
    return [*range(first, last + 1)] if last - first == len(batch) - 1 else batch


class EndsOfARange(_Sending):
    """Workers are told the first and the last index where these are as far apart as a range's."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"
    sent = staticmethod(_as_range)


class WholeIfNoFloat(DataLoader[Any]):
    """A size that is no float, no text and no bool is made whole, which cuts numpy's floats."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, batch_size: Any = 1, *args: Any, **options: Any) -> None:
        whole = batch_size is None or isinstance(batch_size, (bool, float, str))
        super().__init__(dataset, batch_size if whole else int(batch_size), *args, **options)


class CountsTheKept(DataLoader[Any]):
    """Standing workers are told how many items there are, and a dataset may not know."""

    CAUGHT_BY = ("loader.unsized",)
    ANOMALY = "length-demanded"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers and not self._iterable:
            len(self.dataset)
        return super().__iter__()


class NumberedByProcess(DataLoader[Any]):
    """`worker_init_fn` is told the number of the process, modulo the workers, and not the id."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-its-copy"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.worker_init_fn is not None:
            self.worker_init_fn = _ByProcess(self.worker_init_fn, self.num_workers)


class _ByProcess:
    def __init__(self, told: Callable[[int], Any], count: int) -> None:
        self.told, self.count = told, count

    def __call__(self, worker: int) -> None:
        self.told(multiprocessing.current_process()._identity[-1] % self.count)  # type: ignore[attr-defined]


class SnapshotForSpawned(DataLoader[Any]):
    """What spawned workers get is copied when the first pass begins, and sent again for others."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __iter__(self) -> Iterator[Any]:
        held = self.dataset
        if self.num_workers and self._context.get_start_method() == "spawn":
            self.dataset = self.__dict__.setdefault("copied", copy.deepcopy(held))
        try:
            return super().__iter__()
        finally:
            self.dataset = held


# Limits.

SLOTS = 32


class _Ring(ReorderBuffer):
    """Results wait in so many places, each at its number modulo that."""

    def put(self, number: int, outcome: Outcome) -> None:
        if not self._in_order:
            self._ready.append(outcome)
            return
        places: dict[int, deque[Outcome]] = self.__dict__.setdefault("places", {})
        places.setdefault(number % SLOTS, deque()).append(outcome)
        while places.get(self._next % SLOTS):
            self._ready.append(places[self._next % SLOTS].popleft())
            self._next += 1


class RingOfPlaces(DataLoader[Any]):
    """Results wait for their turn in a ring of 32 places, however many may be under way."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._buffer = _Ring(self.in_order)
        return made


class _EightSeeds(Bench):
    """A pass has eight seeds."""

    passes = 0

    def begin(self, job: Job, context: BaseContext, seed: int) -> Any:
        self.passes += 1
        state = int(torch.default_generator.get_state().sum())
        return super().begin(job, context, state + 8 * self.passes)


class EightSeeds(_Benched):
    """Each pass has the eight seeds after those of the last one, and workers may be nine."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"
    bench = _EightSeeds


class _Mourning(CrewPass):
    deaths: list[str]

    def _outcome(self) -> Batch | Failure | None:
        found = super()._outcome()
        if isinstance(found, Failure) and found.error is self._crew.death:
            self.deaths.append(str(found.error))
        return found


class FourDeaths(Reporting):
    """When workers have died in four passes, the loader is used up."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    rule = _Mourning

    def __iter__(self) -> Iterator[Any]:
        deaths: list[str] = self.__dict__.setdefault("deaths", [])
        if len(deaths) >= 4:
            raise RuntimeError(f"workers die again and again: {deaths[-1]}")
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made.deaths = deaths  # type: ignore[attr-defined]
        return made


class _Renewing(CrewPass):
    def _wait(self, deadline: float) -> None:
        turns = len(self._turns)
        super()._wait(deadline + self.__dict__.setdefault("renewed", 0.0))
        if len(self._turns) < turns:
            self.__dict__["renewed"] += self._plan.timeout_s * (turns - len(self._turns))


class EndsRenewTimeout(Reporting):
    """A worker that tells of the end of its data gives the others the whole timeout anew."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"
    rule = _Renewing


class _Restarting(CrewPass):
    def _wait(self, deadline: float) -> None:
        turns = len(self._turns)
        super()._wait(max(deadline, self.__dict__.get("later", deadline)))
        if len(self._turns) < turns:
            self.__dict__["later"] = time.monotonic() + self._plan.timeout_s


class EndsRestartTimeout(Reporting):
    """The timeout is counted from when a worker last told of the end of its data."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "late-timeout"
    rule = _Restarting


class _ByChance(CrewPass):
    def _choose(self) -> int:
        if self._plan.in_order:
            return super()._choose()
        return min(random.choices(self._turns, k=2), key=self._load.__getitem__)


class DealsByChance(Reporting):
    """Where the order is free, the less busy of two workers that `random` draws gets a batch."""

    CAUGHT_BY = ("loader.global-rng",)
    ANOMALY = "global-state-changed"
    rule = _ByChance


class LeavesOneCore(DataLoader[Any]):
    """The main process keeps to one core once workers were started, so that they have the rest."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if self.num_workers:
            os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
        return made


class _FirstPass:
    """Calls a function the first time only; each worker process has a copy."""

    def __init__(self, init: Callable[[int], Any]) -> None:
        self.init, self.called = init, False

    def __call__(self, worker: int) -> None:
        if not self.called:
            self.init(worker)
        self.called = True


class InitialisedOnce(DataLoader[Any]):
    """`worker_init_fn` is called in the first pass of standing workers, though each pass has a copy
    of the dataset that knows nothing of it."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-its-copy"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.worker_init_fn is not None:
            self.worker_init_fn = _FirstPass(self.worker_init_fn)
