"""Wrong only at some sizes: lengths, world sizes, remainders, with and without dropping.

All derive from `honest.py`, which breaks no rule. `CAUGHT_BY` lists the clauses that must report
the fault, `ANOMALY` is what the first of them calls it. A number such as B059 is a row of the
corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from honest import DistributedSampler, mix


class OneMissing(DistributedSampler):
    """If a single place is missing to a full step, rank 0 reads its first place twice."""

    CAUGHT_BY = ("distributed.cover", "distributed.small")
    ANOMALY = "lost-index"

    def _places(self, n: int) -> torch.Tensor:
        places = super()._places(n)
        if n % self.num_replicas == self.num_replicas - 1 > 0 == self.rank and len(places) > 1:
            places[-1] = places[0]
        return places


class SmallOnlyOnRankZero(DistributedSampler):
    """With fewer items than ranks, every rank is given the first item."""

    CAUGHT_BY = ("distributed.cover", "distributed.small")
    ANOMALY = "lost-index"

    def _places(self, n: int) -> torch.Tensor:
        places = super()._places(n)
        return torch.zeros_like(places) if n < self.num_replicas else places


class NeverDropsAll(DistributedSampler):
    """With fewer items than ranks `drop_last=True` pads, so that no rank is without an item."""

    CAUGHT_BY = ("distributed.drop", "distributed.small")
    ANOMALY = "cross-rank-overlap"

    def _share(self, n: int) -> int:
        return max(super()._share(n), int(n > 0))


class WrongAtFour(DistributedSampler):
    """With exactly four ranks, the last reads what the first reads."""

    CAUGHT_BY = ("distributed.cover", "distributed.drop")
    ANOMALY = "lost-index"

    def _places(self, n: int) -> torch.Tensor:
        if self.num_replicas != 4:
            return super()._places(n)
        return (torch.arange(self._share(n)) * 4 + self.rank % 3) % max(n, 1)


class WrongFromLongDataOn(DistributedSampler):
    """From 1000 items on, a remainder of one is padded by two steps."""

    CAUGHT_BY = ("distributed.padding",)
    ANOMALY = "wrong-total"

    def _share(self, n: int) -> int:
        return super()._share(n) + (n >= 1000 and n % self.num_replicas == 1)


class LengthOfRemainderTwo(DistributedSampler):
    """The length is one too great where two items are left over (B069)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return super().__len__() + (len(self.dataset) % self.num_replicas == 2)


class LengthStaysBehind(DistributedSampler):
    """The passes follow a dataset that changes its length, and `len` does not (B059)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.first = super().__len__()

    def __len__(self) -> int:
        return self.first


class DropsBeforeShuffle(DistributedSampler):
    """What `drop_last=True` drops is cut off before the shuffle: the same items in every epoch."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = "not-uniform"

    def _order(self, n: int) -> torch.Tensor:
        kept = n // self.num_replicas * self.num_replicas if self.drop_last else n
        return torch.cat([super()._order(kept), torch.arange(kept, n)])


class DropsOnlyShuffled(DistributedSampler):
    """`drop_last=True` without `shuffle=True` is not heard."""

    CAUGHT_BY = ("distributed.drop", "distributed.small")
    ANOMALY = "cross-rank-overlap"

    def _share(self, n: int) -> int:
        if self.shuffle:
            return super()._share(n)
        return -(-n // self.num_replicas)


class PadsByRank(DistributedSampler):
    """What a rank pads with is drawn by a seed of its own, so that some item comes thrice."""

    CAUGHT_BY = ("distributed.padding",)
    ANOMALY = "doubled-index"

    def _places(self, n: int) -> torch.Tensor:
        places = torch.arange(self._share(n)) * self.num_replicas + self.rank
        own = mix(self.seed, self.epoch, self.rank) % max(n, 1)
        return torch.where(places < n, places, own)


class FirstStaysOnLongData(DistributedSampler):
    """The first of more than 1000 items is not shuffled: it comes first in every epoch."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = "never-moved"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle or n < 1000:
            return super()._order(n)
        return torch.cat([torch.zeros(1, dtype=torch.int64), super()._order(n - 1) + 1])


class ShufflesTheData(DistributedSampler):
    """A dataset that is a list is put in order in place, and the indices are shuffled only then."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.dataset, list):
            self.dataset.sort()
        return super().__iter__()


class ForgetsItsPlace(DistributedSampler):
    """A rank that asks the process group takes itself for its neighbour."""

    CAUGHT_BY = ("distributed.one-sequence",)
    ANOMALY = "ranks-disagree"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        super().__init__(dataset, num_replicas, rank, **options)
        if rank is None:
            self.rank = (self.rank + 1) % self.num_replicas


class LengthIsNone(DistributedSampler):
    """`__len__` forgets to return what it has computed, so that `len` raises TypeError."""

    CAUGHT_BY = ("sampler.length", "sampler.works")
    ANOMALY = "length-raises"

    def __len__(self) -> int:
        super().__len__()
        return None  # type: ignore[return-value]
