"""Samplers that are right, and yet no drop-in replacement: their sequence is not torch's.

No clause of the core profile has anything against most of them; in the torch profile the clauses
named `sequence` do, and one on flags. `CAUGHT_BY` lists those, `ANOMALY` is what the first of them
calls it. A number such as B021 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.utils.data as data
from honest import mix

PROFILE = "torch"


class SortsKeys(data.RandomSampler):
    """Shuffles by sorting random keys: another permutation from the same generator."""

    CAUGHT_BY = ("random.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[int]:
        if self.replacement or self.num_samples != len(self.data_source):
            yield from super().__iter__()
            return
        generator = self.generator
        if generator is None:
            seed = int(torch.empty((), dtype=torch.int64).random_().item())
            generator = torch.Generator().manual_seed(seed)
        keys = torch.rand(self.num_samples, generator=generator, dtype=torch.double)
        yield from keys.argsort().tolist()


class SeedsByInteger(data.RandomSampler):
    """Without a generator, the seed of a pass is a 31-bit number and not a 64-bit one."""

    CAUGHT_BY = ("random.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            yield from super().__iter__()
            return
        seed = int(torch.randint(2**31, ()).item())
        given = torch.Generator().manual_seed(seed)
        yield from data.RandomSampler(self.data_source, self.replacement, self.num_samples, given)


class BatchesAhead(data.RandomSampler):
    """Draws with replacement in one call, so that the pass consumes the generator otherwise (B021).

    One further draw stands in for what a fused loop reads too much.
    """

    CAUGHT_BY = ("random.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[int]:
        yield from super().__iter__()
        if self.generator is not None:
            torch.randint(2, (), generator=self.generator)


class ShufflesTwice(data.SubsetRandomSampler):
    """A shuffle of a shuffle: as random, and not torch's."""

    CAUGHT_BY = ("subset.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[int]:
        order = torch.randperm(len(self.indices), generator=self.generator)
        order = order[torch.randperm(len(order), generator=self.generator)]
        yield from (self.indices[place] for place in order.tolist())


class SearchesSums(data.WeightedRandomSampler):
    """Draws with replacement from uniforms in single precision."""

    CAUGHT_BY = ("weighted.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            yield from super().__iter__()
            return
        upper = (self.weights / self.weights.max()).cumsum(0)
        drawn = torch.rand(self.num_samples, generator=self.generator).double() * upper[-1]
        yield from torch.searchsorted(upper, drawn, right=True).tolist()


class OrdersWithinBatch(data.BatchSampler):
    """The items of a batch are put in order, for a dataset that is read faster so."""

    CAUGHT_BY = ("batch.sequence", "batch.concatenation")
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[list[int]]:
        yield from (sorted(batch) for batch in super().__iter__())


class MixesSeedAndEpoch(data.DistributedSampler):
    """Seed and epoch are mixed, as they should be, and not added as torch does."""

    CAUGHT_BY = ("distributed.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[Any]:
        given, epoch = self.seed, self.epoch
        self.seed, self.epoch = mix(given, epoch), 0
        try:
            return super().__iter__()
        finally:
            self.seed, self.epoch = given, epoch


class DropsTheHead(data.DistributedSampler):
    """`drop_last=True` drops what comes first, not what comes last."""

    CAUGHT_BY = ("distributed.sequence",)
    ANOMALY = "not-torch-order"

    def __iter__(self) -> Iterator[Any]:
        if not self.drop_last:
            return super().__iter__()
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(len(order), generator=generator).tolist()
        kept = order[len(order) - self.total_size :]
        return iter(kept[self.rank :: self.num_replicas])


class FlagsByTruth(data.BatchSampler):
    """`drop_last` is whatever the value is worth, so "no" is taken for yes."""

    CAUGHT_BY = ("sampler.flags",)
    ANOMALY = "accepted"

    def __init__(self, sampler: Any, batch_size: int, drop_last: Any) -> None:
        super().__init__(sampler, batch_size, bool(drop_last))


class RefusesNegativeSums(data.DistributedSampler[Any]):
    """A pass refuses a seed and an epoch whose sum is negative, with which torch's own shuffles."""

    CAUGHT_BY = ("distributed.sequence",)
    ANOMALY = "fails-unlike-torch"

    def __iter__(self) -> Iterator[int]:
        if self.shuffle and self.seed + self.epoch < 0:
            raise ValueError("seed and epoch must not be negative together")
        return super().__iter__()
