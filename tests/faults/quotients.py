"""Wrong where a quotient is made of floats, or an array of the wrong memory.

Distributed samplers derive from `honest.py`, the others from the reference. `CAUGHT_BY` lists the
clauses that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from honest import DistributedSampler, DistributedSamplerWrapper

from reference import (
    BatchSampler,
    SubsetRandomSampler,
    WeightedBalanceClassSampler,
    WeightedRandomSampler,
)


class PowersOfOne(WeightedRandomSampler):
    """Without replacement, the keys u^(1/w) of light weights come to 0, of heavy ones to 1."""

    CAUGHT_BY = ("weighted.first-draw",)
    ANOMALY = "wrong-frequency"

    def _race(self) -> torch.Tensor:
        uniform = torch.rand(len(self.weights), generator=self.generator, dtype=torch.double)
        keys = uniform ** (1 / self.given)
        return keys.masked_fill_(self.given == 0, -1).topk(self.num_samples).indices

    def __init__(self, weights: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(weights, *args, **kwargs)
        self.given = torch.tensor(np.asarray(weights, dtype=np.float64))


class BatchesPerItem(BatchSampler[Any]):
    """The length is multiplied by 1 / batch_size: 49 items are no batch of 49."""

    CAUGHT_BY = ("batch.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        batches = len(self.sampler) * (1 / self.batch_size)  # type: ignore[arg-type]
        return int(batches) if self.drop_last else math.ceil(batches)


class LengthInSinglePrecision(BatchSampler[Any]):
    """The number of batches is made of tensors: beyond 2^24 items it is off by some."""

    CAUGHT_BY = ("batch.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        batches = torch.tensor(float(len(self.sampler))) / self.batch_size  # type: ignore[arg-type]
        return int(batches.floor() if self.drop_last else batches.ceil())


class SharePerRank(DistributedSampler):
    """The share is multiplied by 1 / num_replicas: of 98 items 49 ranks read one, not two."""

    CAUGHT_BY = ("distributed.drop", "distributed.padding")

    def _share(self, n: int) -> int:
        share = n * (1 / self.num_replicas)
        return int(share) if self.drop_last else math.ceil(share)


class InnerSharePerRank(DistributedSamplerWrapper):
    """The same of a wrapper, whose last rank is given one item more than there are."""

    CAUGHT_BY = ("wrapper.cover",)

    def _share(self, n: int) -> int:
        share = n * (1 / self.num_replicas)
        return int(share) if self.drop_last else math.ceil(share)


class RoundedDownShares(WeightedBalanceClassSampler):
    """Shares in floats are rounded down, and the first classes with a fraction get what is left."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Sequence[Any], weight: Any, length: int, seed: int = 0) -> None:
        super().__init__(labels, weight, length, seed)
        given = np.asarray(weight, dtype=np.float64)
        shares = given / given.sum() * length
        counts = np.floor(shares).astype(int)
        counts[np.flatnonzero(shares > counts)[: length - counts.sum()]] += 1
        self.counts = counts.tolist()


class SharesMemory(SubsetRandomSampler):
    """An array is taken as a tensor where it lies: one that is read from its end is refused."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "kind-refused"

    def __init__(self, indices: Any, generator: torch.Generator | None = None) -> None:
        found = torch.from_numpy(indices) if isinstance(indices, np.ndarray) else indices
        super().__init__(found, generator)
