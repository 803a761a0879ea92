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

from reference import BatchSampler, RandomSampler, SubsetRandomSampler

LARGE = 1 << 14
"""From so many items on the other way is taken."""

SPARSE = 64
"""The other way is taken where not more than one of so many is wanted."""


class FewInOrder(RandomSampler):
    """A few of many are drawn until they differ, and come in ascending order."""

    CAUGHT_BY = ("random.uniform",)

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if self.replacement or count * SPARSE > n:
            return super().__iter__()
        drawn: set[int] = set()
        while len(drawn) < count:
            drawn.add(int(torch.randint(n, (), generator=self.generator)))
        return iter(sorted(drawn))


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
    """An array or a tensor of bytes is taken for a mask."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "other-indices"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        if str(getattr(indices, "dtype", "")).endswith("uint8"):
            indices = np.flatnonzero(np.asarray(indices))
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
