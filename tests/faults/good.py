"""Right samplers that look unlike the reference: none of them may be accused of anything.

They keep torch's padding and division, as the reference does, and declare it. What differs is the
generator, the laziness, the mixing of seed and epoch, or how ranks come to agree. Other policies
need another module: `good_blocks.py`, `good_sentinel.py`, `good_uneven.py`, `good_repeat.py`.
"""

from __future__ import annotations

import hashlib
import operator
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

CONFORMANCE = {"policies": {"pads": "wrap", "divides": "interleaved"}}


def whole(name: str, value: Any, least: int | None = None) -> int:
    """`value` as an int, or one clear error that names the argument."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, but is {value!r}")
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, but is {value!r}") from None
    if least is not None and found < least:
        raise ValueError(f"{name} must be at least {least}, but is {found}")
    return found


def hashed(seed: int, epoch: int) -> int:
    """64 bits of a cryptographic hash of seed and epoch."""
    text = f"{seed} {epoch}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class DistributedSampler:
    """Base of the good ones: written from the spec, with no line of the reference."""

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if (num_replicas is None or rank is None) and not dist.is_initialized():
            raise RuntimeError("num_replicas and rank are needed without a process group")
        self.width = whole(
            "num_replicas", dist.get_world_size() if num_replicas is None else num_replicas, 1
        )
        self.rank = whole("rank", dist.get_rank() if rank is None else rank, 0)
        if self.rank >= self.width:
            raise ValueError(f"rank must be below {self.width}, but is {self.rank}")
        if not hasattr(dataset, "__len__"):
            raise TypeError("dataset must have a length")
        self.dataset, self.shuffle, self.drop_last = dataset, shuffle, drop_last
        self.seed, self.epoch = whole("seed", seed), 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = whole("epoch", epoch)

    def order(self, n: int) -> list[int]:
        """The global order of n indices."""
        order = list(range(n))
        if self.shuffle:
            random.Random(hashed(self.seed, self.epoch)).shuffle(order)
        return order

    def __len__(self) -> int:
        n = len(self.dataset)
        return n // self.width if self.drop_last else -(-n // self.width)

    def __iter__(self) -> Iterator[int]:
        order, count = self.order(len(self.dataset)), len(self)
        return iter([order[(k * self.width + self.rank) % len(order)] for k in range(count)])


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
            x += np.uint64(hashed(self.seed, self.epoch))
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
            return np.argsort(x ^ (x >> np.uint64(31)), kind="stable").tolist()


class Lazy(DistributedSampler):
    """A generator function: nothing happens before the first item, and nothing is kept."""

    def __iter__(self) -> Iterator[int]:
        order, count = self.order(len(self.dataset)), len(self)
        for step in range(count):
            yield order[(step * self.width + self.rank) % len(order)]


class Borrows(DistributedSampler):
    """Borrows torch's global generator for the shuffle and puts its state back."""

    def order(self, n: int) -> list[int]:
        if not self.shuffle:
            return list(range(n))
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(hashed(self.seed, self.epoch) >> 1)
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

    def __iter__(self) -> Iterator[int]:
        order, count = self.order(len(self.dataset)), DistributedSampler.__len__(self)
        return iter([order[(k * self.width + self.rank) % len(order)] for k in range(count)])


class RefusesResize(DistributedSampler):
    """A dataset whose length has changed is refused with a clear error."""

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.n = len(dataset)

    def __iter__(self) -> Iterator[int]:
        if len(self.dataset) != self.n:
            raise RuntimeError(f"dataset had {self.n} items and has {len(self.dataset)}")
        return super().__iter__()
