"""Class-balanced sampling for distributed training as it was published, faults included.

Written anew from a description of that code. What it gets wrong:

1. it draws from numpy's global generator, so each rank divides another sequence;
2. the epoch stops at the wrapper, and the inner order follows neither seed nor epoch;
3. `itemgetter(*indices)` gives a bare item for one index, and raises for none;
4. the count of a class is looked up by the value of its label;
5. the wrapper shuffles, although the inner order is what the caller chose;
6. a class with weight and without members, or a weight too few, fails in the first pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import torch.utils.data as data
from iteround import saferound


class BalanceClassSampler(data.Sampler):
    """As many items of each class as the smallest or the largest class has, or as `mode` says."""

    def __init__(self, labels: Sequence[int], mode: str | int = "downsampling") -> None:
        found = np.array(labels)
        self.members = {label: np.arange(len(found))[found == label] for label in set(labels)}
        sizes = {label: len(indices) for label, indices in self.members.items()}
        self.per_class = mode if isinstance(mode, int) else min(sizes.values())
        if mode == "upsampling":
            self.per_class = max(sizes.values())
        self.length = self.per_class * len(set(labels))

    def __iter__(self) -> Iterator[int]:
        drawn: list[int] = []
        for key in sorted(self.members):
            few = self.per_class > len(self.members[key])
            drawn += np.random.choice(self.members[key], self.per_class, replace=few).tolist()
        np.random.shuffle(drawn)
        return iter(drawn)

    def __len__(self) -> int:
        return self.length


class WeightedBalanceClassSampler(data.Sampler):
    """`length` items, divided among the classes in proportion to `weight`."""

    def __init__(self, labels: Sequence[int], weight: Sequence[float], length: int) -> None:
        found = np.array(labels)
        share = np.array(weight, dtype=float)
        share = share / share.sum() * length
        self.samples_per_class = np.array(saferound(share.tolist(), places=0)).astype(int)
        classes = range(len(self.samples_per_class))
        self.members = {label: np.arange(len(found))[found == label].tolist() for label in classes}
        self.length = length

    def __iter__(self) -> Iterator[int]:
        drawn: list[int] = []
        for key in sorted(self.members):
            count = self.samples_per_class[key]
            few = count > len(self.members[key])
            drawn += np.random.choice(self.members[key], count, replace=few).tolist()
        np.random.shuffle(drawn)
        return iter(drawn)

    def __len__(self) -> int:
        return self.length


class DatasetFromSampler(data.Dataset):
    """Shows a sampler as a dataset: item k is the k-th that it yields."""

    def __init__(self, sampler: Any) -> None:
        self.sampler, self.items = sampler, None

    def __getitem__(self, index: int) -> Any:
        if self.items is None:
            self.items = list(self.sampler)
        return self.items[index]

    def __len__(self) -> int:
        return len(self.sampler)


class DistributedSamplerWrapper(data.DistributedSampler):
    """Divides any sampler by dividing the positions of its items."""

    def __init__(
        self, sampler: Any, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(DatasetFromSampler(sampler), num_replicas, rank, shuffle)
        self.sampler = sampler

    def __iter__(self) -> Iterator[Any]:
        self.dataset = DatasetFromSampler(self.sampler)
        return iter(itemgetter(*super().__iter__())(self.dataset))
