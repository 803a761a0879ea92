"""Slips about workers: what is asked too soon, and what changes on its way from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from good_worker_failures import Resuming
from worker_streams import _Init, _seed_all, _Seeding

from reference import DataLoader


class KnowsItsRankTooSoon(_Seeding):
    """The rank that is a part of the workers' seeds is asked for when the loader is built."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.rank = dist.get_rank() if dist.is_initialized() else 0

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(10_000 * given + 10 * passes + worker)

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        if self.num_workers:
            given = torch.initial_seed() % 2**31 if self.generator is None else 0
            told = type(self).seed, self.passes, given + 77 * self.rank
            self.worker_init_fn = _Init(*told)
        return super(_Seeding, self).__iter__()


def _tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.nbytes >= 1 << 16:
        return torch.from_numpy(value)
    return [_tensors(each) for each in value] if type(value) is list else value


class ArraysBecomeTensors(DataLoader[Any]):
    """Large arrays travel from workers in shared memory, as tensors, and stay tensors."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return map(_tensors, batches) if self.num_workers else batches


class DrawsAnewAfterADeath(DataLoader[Any]):
    """After a worker's death it goes on behind what it gave, but of a new pass of the sampler."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers or not self.in_order:
            return super().__iter__()
        return Resuming(super().__iter__)
