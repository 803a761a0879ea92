"""Wrong loaders, with workers: streams, state and epochs that workers, passes and ranks share.

Each class breaks one rule of `spec/workers.md`, on top of the reference or of torch's loader, often
only where few would look: in the second pass, with three workers, with persistent ones. `CAUGHT_BY`
lists the clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number
such as B111 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import copy
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader as Torch
from torch.utils.data import get_worker_info

from reference import DataLoader

# Random streams.


class _Seeding(Torch):
    """`seed` is called in each worker before the caller's own `worker_init_fn`."""

    seed: Callable[[int, int], None]

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.passes = 0
        self.first = torch.initial_seed() % 2**31

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        if self.num_workers:
            given = torch.initial_seed() % 2**31 if self.generator is None else 0
            self.worker_init_fn = _Init(type(self).seed, self.passes, given)
        return super().__iter__()


class _Init:
    """What is passed to the workers; it must be possible to pickle it."""

    def __init__(self, seed: Callable[..., None], passes: int, given: int) -> None:
        self.seed, self.passes, self.given = seed, passes, given

    def __call__(self, worker: int) -> None:
        self.seed(worker, self.passes, self.given)


def _seed_all(seed: int) -> None:
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


class SameNumpy(_Seeding):
    """numpy is in the same state in all workers and in all passes (B111)."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "workers-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        np.random.seed(given % 2**32)


class SeedOfWorker(_Seeding):
    """Each worker is seeded with the seed and its number: in each pass alike (B114)."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(given + worker)


class PassPlusWorker(_Seeding):
    """Worker 0 in the second pass continues where worker 1 was in the first."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(given + passes + worker)


class ThirdLikeFirst(_Seeding):
    """Only two streams of `random`: with three workers, two of them are alike."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "workers-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        random.seed(1000 * given + 2 * passes + worker % 2)


class Rewinds(DataLoader[Any]):
    """Persistent workers begin each pass with the seed of the first."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    def __iter__(self) -> Iterator[Any]:
        self._passes = 0 if self.persistent_workers else self._passes
        return super().__iter__()


class SeedOfTheClock(_Seeding):
    """Workers are seeded with the time (B116)."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(time.time_ns() % 2**31 + worker)


class NumpyFromTheSystem(_Seeding):
    """torch and `random` follow the seed; numpy is seeded by the system."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        np.random.seed(int.from_bytes(os.urandom(4), "little"))


class DeafToGenerator(Torch):
    """The workers' seeds come from the global generator although one was passed."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **{**kwargs, "generator": None})


class RanksAlike(Torch):
    """The rank has no part in the seeds (B113)."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"


class OnlyTorchKnowsTheRank(_Seeding):
    """torch is seeded by rank, numpy and `random` are not (B075)."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        rank = dist.get_rank() if dist.is_initialized() else 0
        torch.manual_seed(torch.initial_seed() + 1000 * (rank + 1))


class RankOfWorker(_Seeding):
    """Rank and worker are added up: worker 1 of rank 0 and worker 0 of rank 1 are alike."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        rank = dist.get_rank() if dist.is_initialized() else 0
        _seed_all(given + 1000 * passes + rank + worker)


class CopiesGenerators(Torch):
    """Each worker has its copy of the dataset's generators, in the same state (B112)."""

    CAUGHT_BY = ("workers.object-rng",)
    ANOMALY = "generators-alike"


class OnlyNumpyObjects(_Seeding):
    """Of the generators that a dataset holds, only numpy's are seeded anew."""

    CAUGHT_BY = ("workers.object-rng",)
    ANOMALY = "generators-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        dataset = get_worker_info().dataset
        for name, value in vars(dataset).items():
            if isinstance(value, np.random.Generator):
                setattr(dataset, name, np.random.default_rng([passes, worker]))


# State and epochs.


class FirstState(DataLoader[Any]):
    """The dataset is copied when the loader is made."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(copy.deepcopy(dataset), *args, **kwargs)


class KeptCopies(Torch):
    """Persistent workers keep the dataset as it was in the first pass (B133)."""

    CAUGHT_BY = ("workers.state", "workers.persistent", "workers.two-iterators")
    ANOMALY = "stale-state"


class OnePassLate(DataLoader[Any]):
    """Workers are sent the dataset as it was one pass ago."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __iter__(self) -> Iterator[Any]:
        given = self.dataset
        self.dataset = getattr(self, "older", None) or copy.deepcopy(given)
        try:
            return super().__iter__()
        finally:
            self.older, self.dataset = copy.deepcopy(given), given


class LazyWithoutWorkers(Torch):
    """Without workers the sampler is asked at the first `next` (B136)."""

    CAUGHT_BY = ("workers.set-epoch", "workers.sampler-once")
    ANOMALY = "epoch-leaked"


class LazyWithWorkers(DataLoader[Any]):
    """A pass begins with its first `next`, with workers too."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()


class LooksAgain(DataLoader[Any]):
    """The order is asked for again in the middle of a pass."""

    CAUGHT_BY = ("workers.set-epoch", "workers.sampler-once")
    ANOMALY = "epoch-leaked"

    def _draws(self) -> Any:
        return super()._draws() if self._iterable else _LooksAgain(super()._draws())


class _LooksAgain:
    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count():
            found = list(self.batches)[place : place + 1]
            if not found:
                return
            yield found[0]


class DrawsIntoTheNext(DataLoader[Any]):
    """At the end of a pass the next one is begun, before its epoch is announced (B137, B138)."""

    CAUGHT_BY = ("workers.set-epoch", "workers.state")
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        started = getattr(self, "ready", None) or super().__iter__()
        self.ready: Any = None
        return _Chained(started, self)

    def begin(self) -> None:
        self.ready = super().__iter__()


class _Chained(Iterator[Any]):
    def __init__(self, items: Iterator[Any], loader: DrawsIntoTheNext) -> None:
        self.items, self.loader = items, loader

    def __next__(self) -> Any:
        try:
            return next(self.items)
        except StopIteration:
            if self.loader is not None:
                self.loader.begin()
            self.loader = None
            raise


# Workers that are kept.


class SameOrderAgain(DataLoader[Any]):
    """Persistent workers are handed the order of the first pass in each pass."""

    CAUGHT_BY = ("workers.persistent", "workers.sampler-once", "workers.set-epoch")
    ANOMALY = "other-order"

    def _draws(self) -> Any:
        if self._iterable or not self.persistent_workers:
            return super()._draws()
        self.known = getattr(self, "known", None) or list(super()._draws())
        return self.known


class DrawsWhenKept(DataLoader[Any]):
    """From the second pass on, persistent workers cost a number of the global generator."""

    CAUGHT_BY = ("workers.persistent",)
    ANOMALY = "other-draws"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers and self._passes:
            np.random.rand()
        return super().__iter__()


class OneIteratorOnly(DataLoader[Any]):
    """With persistent workers a second iterator ends the first (B140)."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return super().__iter__()
        self.latest = super().__iter__()
        return _Latest(self, self.latest)


class _Latest(Iterator[Any]):
    def __init__(self, loader: OneIteratorOnly, items: Iterator[Any]) -> None:
        self.loader, self.items = loader, items

    def __next__(self) -> Any:
        if self.loader.latest is not self.items:
            raise StopIteration
        return next(self.items)


class SharedIterator(DataLoader[Any]):
    """With persistent workers `iter` gives the iterator that is not at its end yet (B140)."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return super().__iter__()
        if getattr(self, "live", None) is None or self.live._ended:
            self.live: Any = super().__iter__()
        return self.live


class RefusesForEver(DataLoader[Any]):
    """Once two iterators were asked for, no third one is given, whatever became of them."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "refused"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers and self._passes:
            raise RuntimeError("this loader has an iterator")
        return super().__iter__()


# The sampler.


class AsksTwice(Torch):
    """With workers the sampler is asked twice for its order (B001)."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-restarted"


class LooksIfEmpty(DataLoader[Any]):
    """A first iterator of the sampler only tells whether there is anything."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-restarted"

    def _draws(self) -> Any:
        drawn = super()._draws()
        if not self._iterable:
            next(iter(drawn), None)
        return drawn


class RemembersOrder(DataLoader[Any]):
    """The order of the first pass is kept for all."""

    CAUGHT_BY = ("workers.sampler-once", "workers.set-epoch")
    ANOMALY = "sampler-not-asked"

    def _draws(self) -> Any:
        if self._iterable:
            return super()._draws()
        self.known = getattr(self, "known", None) or list(super()._draws())
        return self.known


# Ranks.


class FirstRankDropsTail(DataLoader[Any]):
    """Rank 0 drops its last short batch, the others keep theirs."""

    CAUGHT_BY = ("workers.ranks",)
    ANOMALY = "unequal-batches"

    def _draws(self) -> Any:
        drawn = super()._draws()
        first = dist.is_initialized() and dist.get_rank() == 0
        return [b for b in drawn if len(b) == self.batch_size] if first else drawn


class EpochBehind(DataLoader[Any]):
    """The batches that were drawn ahead belong to the epoch before (B137)."""

    CAUGHT_BY = ("workers.ranks", "workers.set-epoch")
    ANOMALY = "uncovered"

    def _draws(self) -> Any:
        if self._iterable:
            return super()._draws()
        drawn = list(super()._draws())
        older, self.older = getattr(self, "older", drawn), drawn
        return [*older[:2], *drawn[2:]]


# A timeout.


class NoTimeout(DataLoader[Any]):
    """The timeout is stored, and never looked at."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout = 0.0


class FiveTimesAsLong(DataLoader[Any]):
    """The timeout is counted five times before it is believed."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "late-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout *= 5


class _Watched(Iterator[Any]):
    """An iterator that knows how many timeouts it has seen."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items, self.late = items, 0

    def __next__(self) -> Any:
        try:
            return self.item()
        except RuntimeError:
            self.late += 1
            raise

    def item(self) -> Any:
        return next(self.items)


class LosesTheLate(DataLoader[Any]):
    """The batch that came too late is thrown away."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        return _Losing(super().__iter__())


class _Losing(_Watched):
    def item(self) -> Any:
        while self.late:
            next(self.items)
            self.late -= 1
        return next(self.items)


class EndsAfterTimeout(DataLoader[Any]):
    """After a timeout the pass is over, as if all had been delivered."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        return _Ending(super().__iter__())


class _Ending(_Watched):
    def item(self) -> Any:
        if self.late:
            raise StopIteration
        return next(self.items)
