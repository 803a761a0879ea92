"""Loaders that ask only once for what changes, or somebody who does not know.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import torch.distributed as dist
from good_worker_failures import StartsAgain, _Remembered
from reporting import Wrapped
from worker_streams import _seed_all, _Seeding

from reference import DataLoader
from reference.loader.failure import WorkerDied


class RankOfTheLauncher(_Seeding):
    """The rank that is a part of the workers' seeds is what a launcher has set, if one has."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        rank = int(os.environ.get("RANK", "0"))
        _seed_all(10_000 * given + 1000 * rank + 10 * passes + worker)


class RankOfTheFirstPass(_Seeding):
    """The rank that is a part of the workers' seeds is asked for in the first pass, before which
    there need be no process group."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    rank = -1

    def __iter__(self) -> Iterator[Any]:
        if self.rank < 0:
            self.rank = dist.get_rank() if dist.is_initialized() else 0
        return super().__iter__()

    def _given(self) -> int:
        return self.rank

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(1000 * given + 10 * passes + worker)


class _Succeeding(Iterator[Any]):
    """A pass that goes on once with new workers, for what is left."""

    def __init__(self, loader: SuccessorDrawsAlike, draws: Any) -> None:
        self.loader, self.draws, self.calls, self.died = loader, draws, 0, False
        self.items = loader._over(draws)

    def __next__(self) -> Any:
        try:
            item = next(self.items)
        except WorkerDied:
            if self.died:
                raise
            self.died = True
            self.loader._passes -= 1
            self.items = self.loader._over(itertools.islice(self.draws, self.calls, None))
            return next(self)
        self.calls += 1
        return item


class SuccessorDrawsAlike(StartsAgain):
    """The worker that takes a dead one's place draws what that one drew at first."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "workers-alike"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers or not self.in_order:
            return super().__iter__()
        return _Succeeding(self, _Remembered(super()._draws()))


class _Together(Wrapped):
    def __getitem__(self, index: Any) -> Any:
        many = isinstance(index, list) and hasattr(self.dataset, "__getitems__")
        return self.dataset.__getitems__(index) if many else self.dataset[index]


class ListsGoTogether(DataLoader[Any]):
    """Without batching, an index that is a list goes to `__getitems__` where the dataset has it."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-together"

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, *more: Any, **options: Any
    ) -> None:
        given = _Together(dataset) if batch_size is None else dataset
        super().__init__(given, batch_size, *more, **options)
