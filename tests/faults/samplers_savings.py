"""Samplers that spare memory or draws where there are many items, and lose what they stand for.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import torch

import reference
from reference.sampler import python_ints

MANY = 1024


class OneBuffer(reference.RandomSampler):
    """All passes draw into one tensor, from which an older one under way goes on reading."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "doubled-index"

    order = torch.empty(0, dtype=torch.int64)

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.replacement or self.num_samples != n or n == 0:
            yield from super().__iter__()
            return
        if len(self.order) != n:
            self.order = torch.empty(n, dtype=torch.int64)
        self.order.copy_(torch.tensor([*super().__iter__()]))
        yield from python_ints(self.order)


class TakenForARange(reference.SubsetRandomSampler):
    """Many indices are kept as a range if their ends are as far apart as their number says."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "foreign-index"

    def __init__(self, indices: Sequence[int], generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        found = self.indices
        if len(found) >= MANY and found[-1] - found[0] == len(found) - 1:
            self.indices = torch.arange(int(found[0]), int(found[-1]) + 1)


class DrawsUntilDistinct(reference.WeightedRandomSampler):
    """A few of many are drawn with replacement, and all again where fewer than wanted differ: the
    heavy ones are drawn less often than they weigh."""

    CAUGHT_BY = ("weighted.first-draw",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        few = 1 < self.num_samples <= len(self.weights) / 16
        if self.replacement or not few or len(self.weights) < 256:
            yield from super().__iter__()
            return
        for _ in range(8):
            draws = torch.multinomial(
                self.weights, 4 * self.num_samples, replacement=True, generator=self.generator
            )
            distinct = [*dict.fromkeys(draws.tolist())]
            if len(distinct) >= self.num_samples:
                yield from distinct[: self.num_samples]
                return
        yield from super().__iter__()


class EpochOfTheData(reference.DistributedSampler):
    """The epoch is kept for the dataset, so that its samplers need to be told once: another sampler
    of the same data moves this one along."""

    CAUGHT_BY = ("sampler.interleave",)
    ANOMALY = "iterators-entangled"

    epochs: ClassVar[dict[int, int]] = {}

    @property
    def epoch(self) -> int:
        return self.epochs.get(id(self.dataset), 0)

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        if "dataset" in vars(self):  # not while it is being made
            self.epochs[id(self.dataset)] = epoch
