"""Wrong only for some values: large or small ones, other types, other items, other machines.

Distributed samplers and wrappers derive from `honest.py`, the others from the reference.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from honest import DistributedSampler, DistributedSamplerWrapper, mix, whole

from reference import BatchSampler, DatasetFromSampler, SubsetRandomSampler


class EpochOfTenBits(DistributedSampler):
    """The epoch counts modulo 1024, so that epoch 1024 is epoch 0 again."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed, self.epoch % 1024)


class SeedOfSixteenBits(DistributedSampler):
    """Only the last 16 bits of the seed count."""

    CAUGHT_BY = ("distributed.seed",)
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(self.seed & 0xFFFF, self.epoch)


class SeedWithoutSign(DistributedSampler):
    """Seeds -1 and 1 are one: the sign is squared away."""

    CAUGHT_BY = ("distributed.seed",)
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(self.seed**2, self.epoch)


class HundredEpochsASeed(DistributedSampler):
    """Each seed has a hundred epochs of its own, and then come those of the next seed."""

    CAUGHT_BY = ("distributed.mix",)
    ANOMALY = "seed-epoch-alike"

    def _pass_seed(self) -> int:
        return mix(100 * self.seed + self.epoch)


class SeedAndEpochInEitherOrder(DistributedSampler):
    """Seed 1 in epoch 2 is seed 2 in epoch 1: the two numbers are multiplied and added."""

    CAUGHT_BY = ("distributed.mix",)
    ANOMALY = "seed-epoch-added"

    def _pass_seed(self) -> int:
        return mix(self.seed + self.epoch, self.seed * self.epoch)


class EpochShiftedAsItCame(DistributedSampler):
    """The epoch is kept in the type in which it came, where a shift loses its upper bits."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-not-fixed"

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch if isinstance(epoch, np.integer) else whole("epoch", epoch)

    def _pass_seed(self) -> int:
        return mix(self.seed, int(self.epoch << 4))


class RanksOfOneByte(DistributedSampler):
    """Sizes are computed in the type in which `num_replicas` came."""

    CAUGHT_BY = ("sampler.integer-like",)

    def __init__(
        self, dataset: Any, num_replicas: Any = None, rank: int | None = None, **options: Any
    ) -> None:
        super().__init__(dataset, num_replicas, rank, **options)
        self.given = num_replicas

    def _share(self, n: int) -> int:
        if not isinstance(self.given, np.integer):
            return super()._share(n)
        return int(np.array(n).astype(self.given.dtype) // self.given)


class IndicesAsFloats(SubsetRandomSampler):
    """The indices pass through float64, which holds whole numbers up to 2^53."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[int]:
        return (int(float(index)) for index in super().__iter__())


class EndsAtNone(BatchSampler[Any]):
    """None is taken for the end of the inner sampler."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "lost-index"

    def __iter__(self) -> Iterator[list[Any]]:
        items = iter(self.sampler)
        given = list(iter(lambda: next(items, None), None))
        yield from BatchSampler(given, self.batch_size, self.drop_last)


class NumbersFromBooleans(BatchSampler[Any]):
    """What is true or false becomes 1 or 0."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[list[Any]]:
        for batch in super().__iter__():
            yield [int(item) if isinstance(item, bool) else item for item in batch]


class LeavesOutMinusOne(DistributedSamplerWrapper):
    """Inner items that are -1 are taken for padding."""

    CAUGHT_BY = ("wrapper.cover",)
    ANOMALY = "lost-index"

    def _draw(self) -> list[Any]:
        return [item for item in super()._draw() if type(item) is not int or item != -1]


class RankOfTheTask(DistributedSampler):
    """Without a rank, the number of the scheduler's task is preferred to the rank of the group."""

    CAUGHT_BY = ("distributed.cover",)
    ANOMALY = "lost-index"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        told = os.environ.get("SLURM_PROCID")
        super().__init__(dataset, num_replicas, rank, **options)
        if rank is None and told is not None:
            self.rank = int(told)


class NeverReadsBack(DatasetFromSampler):
    """The view reads on, and gives its last item for a place that it has already passed."""

    CAUGHT_BY = ("wrapper.view",)
    ANOMALY = "view-differs"

    read = 0
    last: Any = None

    def __getitem__(self, index: int) -> Any:
        if index == 0 or index >= self.read or index < 0:
            self.read, self.last = index + 1, super().__getitem__(index)
        return self.last


class EndlessBackwards(DatasetFromSampler):
    """However far below 0 an index is, it comes round."""

    CAUGHT_BY = ("wrapper.view",)
    ANOMALY = "view-unbounded"

    def __getitem__(self, index: int) -> Any:
        count = len(self)
        return super().__getitem__(index % count if index < 0 and count else index)
