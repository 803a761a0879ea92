"""Right samplers that look unlike the reference: none of them may be accused of anything.

They keep torch's padding and division, as the reference does, and declare it. What differs is the
generator, the laziness, the mixing of seed and epoch, or how ranks come to agree. Other policies
need another module: `good_blocks.py`, `good_sentinel.py`, `good_uneven.py`, `good_repeat.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from honest import DistributedSampler as Base
from honest import mix

CONFORMANCE = {"policies": {"pads": "wrap", "divides": "interleaved"}}


class DistributedSampler(Base):
    """Base of the good ones: the global order is a list of Python ints."""

    def order(self, n: int) -> list[int]:
        """The global order of n indices."""
        order = list(range(n))
        if self.shuffle:
            random.Random(mix(self.seed, self.epoch)).shuffle(order)
        return order

    def __iter__(self) -> Iterator[int]:
        order, count = self.order(len(self.dataset)), self._share(len(self.dataset))
        places = [(k * self.num_replicas + self.rank) % len(order) for k in range(count)]
        return iter([order[place] for place in places])


class PythonRandom(DistributedSampler):
    """Shuffles with a private `random.Random`."""


class NumpyGenerator(DistributedSampler):
    """Shuffles with numpy's PCG64, seeded with the pair of seed and epoch."""

    def order(self, n: int) -> list[int]:
        if not self.shuffle:
            return list(range(n))
        words = [self.seed & (2**64 - 1), self.epoch & (2**64 - 1)]
        return np.random.default_rng(words).permutation(n).tolist()


class HashSorted(DistributedSampler):
    """Shuffles by sorting the indices by 64-bit hashes."""

    def order(self, n: int) -> list[int]:
        if not self.shuffle:
            return list(range(n))
        with np.errstate(over="ignore"):
            x = np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            x += np.uint64(mix(self.seed, self.epoch))
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
            return np.argsort(x ^ (x >> np.uint64(31)), kind="stable").tolist()


class Lazy(DistributedSampler):
    """A generator function: nothing happens before the first item, and nothing is kept."""

    def __iter__(self) -> Iterator[int]:
        order = self.order(len(self.dataset))
        for step in range(len(self)):
            yield order[(step * self.num_replicas + self.rank) % len(order)]


class Borrows(DistributedSampler):
    """Borrows torch's global generator for the shuffle and puts its state back."""

    def order(self, n: int) -> list[int]:
        if not self.shuffle:
            return list(range(n))
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(mix(self.seed, self.epoch))
            return torch.randperm(n).tolist()


class AgreesByBroadcast(DistributedSampler):
    """Without arguments for its rank, it takes rank 0's seed for everybody's at construction."""

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        super().__init__(dataset, num_replicas, rank, **options)
        if num_replicas is None and rank is None:
            seed = torch.tensor([self.seed])
            dist.broadcast(seed, src=0)
            self.seed = int(seed.item())


class NoLength(DistributedSampler):
    """Has no length, and says so by the TypeError that the spec asks for."""

    def __len__(self) -> int:
        raise TypeError("the length is not known")


class RefusesResize(DistributedSampler):
    """A dataset whose length has changed is refused with a clear error."""

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.n = len(dataset)

    def __iter__(self) -> Iterator[int]:
        if len(self.dataset) != self.n:
            raise RuntimeError(f"dataset had {self.n} items and has {len(self.dataset)}")
        return super().__iter__()
