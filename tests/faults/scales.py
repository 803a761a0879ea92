"""Faults that show at scale alone: in long shuffles, among very uneven weights, in large classes.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import honest
import numpy as np
import torch
from balanced import _Drawn

from reference import RandomSampler, SubsetRandomSampler, WeightedRandomSampler

BUFFER = 1000


def by_keys(n: int, keys: int, generator: torch.Generator | None) -> torch.Tensor:
    """An order sorted by random keys: those that are equal leave their items in order."""
    return torch.argsort(torch.randint(keys, (n,), generator=generator), stable=True)


# Shuffles.


class SortsBySeventeenBits(RandomSampler):
    """A long shuffle sorts by random numbers of 17 bits, and where two tie, items stay in order."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "order-kept"
    keys = 1 << 17

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.replacement or n <= BUFFER:
            yield from super().__iter__()
            return
        orders = (by_keys(n, self.keys, self.generator).tolist() for _ in itertools.count())
        yield from itertools.islice(itertools.chain.from_iterable(orders), len(self))


class SortsSingleKeys(SortsBySeventeenBits):
    """A long shuffle sorts by the 24 bits of single precision; of 10^6 such numbers some tie."""

    keys = 1 << 24


class SortsByBytes(SubsetRandomSampler):
    """A shuffle sorts by two random bytes, of which one is always 0 or 1."""

    CAUGHT_BY = ("subset.uniform",)
    ANOMALY = "order-kept"

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices[by_keys(len(self), 1 << 9, self.generator)].tolist())


class SortsRanksByHalves(honest.DistributedSampler):
    """The global order sorts by keys in half precision."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = "order-kept"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        generator = torch.Generator().manual_seed(self._pass_seed())
        return torch.argsort(torch.rand(n, generator=generator).half(), stable=True)


class SortsInnerByShorts(honest.DistributedSamplerWrapper):
    """The inner pass is sorted by random numbers below 10,000."""

    CAUGHT_BY = ("wrapper.uniform",)
    ANOMALY = "order-kept"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        return by_keys(n, 10_000, torch.Generator().manual_seed(self._pass_seed()))


class FlowsThroughBuffer(honest.DistributedSamplerWrapper):
    """A long inner pass is shuffled in blocks of 1,000."""

    CAUGHT_BY = ("wrapper.uniform",)
    ANOMALY = "shuffled-locally"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        generator = torch.Generator().manual_seed(self._pass_seed())
        blocks = torch.arange(n).split(BUFFER)
        shuffled = [block[torch.randperm(len(block), generator=generator)] for block in blocks]
        return torch.cat([*shuffled, torch.arange(0)])


# Throws.


class ThrowsInSinglePrecision(RandomSampler):
    """A throw is a single-precision fraction of n, so that most indices of long data never come."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            return super().__iter__()
        n, drawn = len(self.data_source), torch.rand(len(self), generator=self.generator)
        return iter((drawn * n).long().clamp(max=n - 1).tolist())


class ThrowsOfThirtyTwoBits(RandomSampler):
    """A throw has 32 bits, and data that is longer is never drawn beyond them."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            return super().__iter__()
        n = min(len(self.data_source), 1 << 32)
        return iter(torch.randint(n, (len(self),), generator=self.generator).tolist())


# Weights.


class LightCountsAsNothing(WeightedRandomSampler):
    """Weights below a millionth of the heaviest are lost in a table of that size."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        if self.replacement and self.weights.count_nonzero() > BUFFER:
            self.weights = torch.where(self.weights * 1e6 < self.weights.max(), 0.0, self.weights)


class CapsTheHeavy(WeightedRandomSampler):
    """What is heavier than fifty times the mean is capped there."""

    CAUGHT_BY = ("weighted.frequencies", "weighted.first-draw")
    ANOMALY = "wrong-frequency"

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.weights = self.weights.clamp(max=float(self.weights.mean()) * 50)


class MixesWhatCame(WeightedRandomSampler):
    """Without replacement, what was drawn of many weights is shuffled, its first item too."""

    CAUGHT_BY = ("weighted.first-draw",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        drawn = list(super().__iter__())
        if self.replacement or len(self.weights) <= BUFFER:
            return iter(drawn)
        order = torch.randperm(len(drawn), generator=self.generator).tolist()
        return iter([drawn[place] for place in order])


# Classes.


class MixesThroughBuffer(_Drawn):
    """Long passes, class after class, flow through a buffer that is too small to mix them."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        items = np.concatenate(drawn)
        blocks = (items[start : start + BUFFER] for start in range(0, len(items), BUFFER))
        return np.concatenate([rng.permutation(block) for block in blocks])


class MixesInFours(_Drawn):
    """Long passes are mixed in fours of one class, which stay together."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        if sum(map(len, drawn)) <= BUFFER:
            return super().mixed(rng, drawn)
        fours = [each[start : start + 4] for each in drawn for start in range(0, len(each), 4)]
        return np.concatenate([fours[place] for place in rng.permutation(len(fours))])


class DrawsFromTheHead(_Drawn):
    """Of a large class only the first members are ever drawn, enough for a pass."""

    CAUGHT_BY = ("balanced.reach",)
    ANOMALY = "members-unequal"

    def pick(self, rng: Any, members: Any, count: int) -> Any:
        return super().pick(rng, members[: max(count, BUFFER)], count)


# Items.


class TensorsForMany(RandomSampler):
    """A pass of more than 2**16 items is not made into a list: its items are tensors."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        items = super().__iter__()
        return iter(torch.tensor(list(items))) if len(self) > 1 << 16 else items
