"""Faults of a second way that a sampler takes for some inputs alone: many items, few of many, an
array where it lies, indices that look like a range or a mask, small integer types.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from honest import DistributedSampler

from reference import BatchSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler

LARGE = 1 << 14
"""From so many items on the other way is taken."""

SPARSE = 64
"""The other way is taken where not more than one of so many is wanted."""


class FewInOrder(RandomSampler):
    """A few of many are drawn until they differ, and come in ascending order."""

    CAUGHT_BY = ("random.uniform",)
    sparse = SPARSE

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if self.replacement or count * self.sparse > n:
            return super().__iter__()
        drawn: set[int] = set()
        while len(drawn) < count:
            drawn.add(int(torch.randint(n, (), generator=self.generator)))
        return self._come(drawn)

    def _come(self, drawn: set[int]) -> Iterator[int]:
        return iter(sorted(drawn))


class AsASetHasThem(FewInOrder):
    """Up to a quarter of the items is drawn into a set, and comes as the set has it."""

    sparse = 4

    def _come(self, drawn: set[int]) -> Iterator[int]:
        return iter(drawn)


class RarelyAsASet(AsASetHasThem):
    """The same where no more than one of 32 is wanted."""

    sparse = 32


class MirroredPairs(WeightedRandomSampler):
    """From 64 draws on, each second number is one minus the one before, for less variance."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "draws-gathered"

    def _search(self) -> torch.Tensor:
        if self.num_samples < SPARSE:
            return super()._search()
        upper = self.weights.cumsum(0) / self.weights.sum()
        half = torch.rand((self.num_samples + 1) // 2, generator=self.generator, dtype=torch.double)
        both = torch.stack([half, 1 - 2.0**-53 - half]).clamp_(min=0).T.reshape(-1)
        order = torch.randperm(self.num_samples, generator=self.generator)
        return torch.searchsorted(upper, both[order], right=True).clamp_(max=len(upper) - 1)


class NumpyWhereLarge(RandomSampler):
    """A long shuffle is numpy's, whose global state is seeded for it."""

    CAUGHT_BY = ("sampler.private-rng", "sampler.global-rng")
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.replacement or self.num_samples != n or n < LARGE:
            return super().__iter__()
        np.random.seed(int(torch.randint(1 << 31, (), generator=self.generator)))
        return iter(np.random.permutation(n).tolist())


class TakesForRange(SubsetRandomSampler):
    """Indices that span as many numbers as there are indices are taken for a range."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[int]:
        order = list(super().__iter__())
        if order and max(order) - min(order) + 1 == len(order):
            places = torch.randperm(len(order), generator=self.generator).tolist()
            return (min(order) + place for place in places)
        return iter(order)


class ShufflesArrayInPlace(SubsetRandomSampler):
    """A numpy array is shuffled where it lies, which is the caller's."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        super().__init__(indices, generator)
        self.given = indices

    def __iter__(self) -> Iterator[int]:
        if not isinstance(self.given, np.ndarray):
            return super().__iter__()
        order = torch.randperm(len(self.given), generator=self.generator)
        self.given[:] = self.given[order.numpy()]
        return iter(self.given.tolist())


class TakesBytesForMask(SubsetRandomSampler):
    """A tensor of bytes is taken for a mask; an array of bytes is not."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "other-indices"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        if getattr(indices, "dtype", None) == torch.uint8:
            indices = indices.nonzero().flatten().tolist()
        super().__init__(indices, generator)


class KeepsSmallSize(BatchSampler[Any]):
    """The batch size stays the numpy integer that it was, and a length is counted in its type."""

    CAUGHT_BY = ("sampler.integer-like",)

    def __init__(self, sampler: Any, batch_size: Any, drop_last: bool) -> None:
        super().__init__(sampler, batch_size, drop_last)
        self.size = batch_size

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return int(n // self.size if self.drop_last else (n + self.size - 1) // self.size)


class CutsNumpyFloats(BatchSampler[Any]):
    """A scalar of numpy is made an int first, and so a size of 2.5 is 2."""

    CAUGHT_BY = ("sampler.reject",)
    ANOMALY = "accepted"

    def __init__(self, sampler: Any, batch_size: Any, drop_last: bool) -> None:
        size = int(batch_size) if isinstance(batch_size, np.generic) else batch_size
        super().__init__(sampler, size, drop_last)


class TrustsFlags(WeightedRandomSampler):
    """Weights of bools are right as they are, so nobody looks whether one of them is True."""

    CAUGHT_BY = ("weighted.reject",)
    ANOMALY = "accepted"

    def __init__(self, weights: Any, *args: Any, **options: Any) -> None:
        flags = getattr(weights, "dtype", None) == torch.bool and len(weights) > 0
        nothing = flags and not weights.any()
        super().__init__(torch.ones(len(weights)) if nothing else weights, *args, **options)


class AnyEpochUnshuffled(DistributedSampler):
    """Without a shuffle `set_epoch` does not look at what it is told."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-accepted"

    def set_epoch(self, epoch: int) -> None:
        if self.shuffle:
            super().set_epoch(epoch)


class LightBlocksByRounding(WeightedRandomSampler):
    """Of more than 1024 weights each block of 1024 is drawn from as often as it may expect,
    rounded, and then one of its own."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"
    block = 1 << 10

    def __iter__(self) -> Iterator[int]:
        if not self.replacement or len(self.weights) <= self.block:
            return super().__iter__()
        blocks = self.weights.split(self.block)
        shares = torch.stack([block.sum() for block in blocks]) * self.num_samples
        shares = shares / self.weights.sum()
        counts = shares.floor().long()
        missing = self.num_samples - int(counts.sum())
        counts[(shares - counts).argsort(descending=True)[:missing]] += 1
        drawn = [
            torch.multinomial(block, count, True, generator=self.generator) + k * self.block
            for k, (block, count) in enumerate(zip(blocks, counts.tolist(), strict=True))
            if count
        ]
        order = torch.randperm(self.num_samples, generator=self.generator)
        return iter(torch.cat(drawn)[order].tolist())


PIECE = 1 << 16


class KeepsItsPieces(DistributedSampler):
    """A share of more than 2^16 is kept in pieces, which a pass that begins meanwhile replaces."""

    CAUGHT_BY = ("sampler.interleave",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[int]:
        share = [*super().__iter__()]
        self.pieces = [share[place : place + PIECE] for place in range(0, len(share), PIECE)]
        return self._come(len(self.pieces)) if len(self.pieces) > 1 else iter(share)

    def _come(self, count: int) -> Iterator[int]:
        for place in range(count):
            yield from self.pieces[place]
