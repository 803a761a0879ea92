"""Wrong loaders, with workers: random streams that workers, passes and ranks share.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B111 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

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


class _Seeding(Torch):
    """`seed` is called in each worker before the caller's own `worker_init_fn`."""

    seed: Callable[[int, int], None]

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.passes = 0
        self.own = self.worker_init_fn

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        if self.num_workers:
            self.worker_init_fn = _Init(type(self).seed, self.passes, self._given(), self.own)
        return super().__iter__()

    def _given(self) -> int:
        return torch.initial_seed() % 2**31 if self.generator is None else 0


class _Init:
    """What is passed to the workers; it must be possible to pickle it."""

    def __init__(
        self, seed: Callable[..., None], passes: int, given: int, own: Callable[[int], None] | None
    ) -> None:
        self.seed, self.passes, self.given, self.own = seed, passes, given, own

    def __call__(self, worker: int) -> None:
        self.seed(worker, self.passes, self.given)
        if self.own is not None:
            self.own(worker)


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


class SeedsByHash(_Seeding):
    """`random` is seeded with the hash of a text, which no two interpreters share."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        random.seed(hash(f"{torch.initial_seed()}/{worker}"))


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
