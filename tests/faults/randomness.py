"""Wrong samplers: what is yielded, and which random states decide and are touched.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from honest import DistributedSampler

from reference import RandomSampler, SequentialSampler, WeightedRandomSampler

# Indices.


class Tensors(DistributedSampler):
    """Yields 0-d tensors (B022)."""

    CAUGHT_BY = ("sampler.index", "sampler.index-int")
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return iter(torch.tensor(list(super().__iter__()), dtype=torch.int64))


class Floats(DistributedSampler):
    """Yields floats."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return map(float, super().__iter__())


class Bools(SequentialSampler):
    """Yields a mask, and not indices."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return iter([True] * len(self))


class NumpyIntegers(DistributedSampler):
    """Yields numpy integers, which overflow and are not JSON."""

    CAUGHT_BY = ("sampler.index-int",)
    ANOMALY = "not-an-int"

    def __iter__(self) -> Iterator[Any]:
        return iter(np.array(list(super().__iter__()), dtype=np.int64))


class Negative(DistributedSampler):
    """Yields -1 for the last index, which reads the dataset from its end (B206)."""

    CAUGHT_BY = ("sampler.index", "distributed.cover")
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        return (index - n if index == n - 1 else index for index in super().__iter__())


class CountsFromOne(SequentialSampler):
    """Yields 1 to n (B089)."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))


# Randomness.


class SeedsGlobal(DistributedSampler):
    """Seeds torch's global generator to shuffle (B011)."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        torch.manual_seed(self._pass_seed())
        return super().__iter__()


class SeedsNumpy(DistributedSampler):
    """Seeds numpy's global generator at construction."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        np.random.seed(self.seed % 2**32)


class ReadsPython(DistributedSampler):
    """Shuffles by a number from the `random` module, whose state it puts back (B063)."""

    CAUGHT_BY = ("sampler.private-rng", "distributed.one-sequence")
    ANOMALY = "global-rng-read"

    def _pass_seed(self) -> int:
        state = random.getstate()
        found = random.getrandbits(31)
        random.setstate(state)
        return found


class IgnoresGenerator(RandomSampler):
    """Draws from torch's global generator although the caller gave one (B009)."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        yield from torch.randperm(len(self.data_source)).tolist()


class KeepsFirstSeed(RandomSampler):
    """Without a generator it makes one at construction, deaf to `torch.manual_seed` (B010)."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-read"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.generator = self.generator or torch.Generator().manual_seed(0)


class DrawsFromNumpy(RandomSampler):
    """Without a generator it draws from numpy's global one (B091)."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-written"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            yield from super().__iter__()
        else:
            yield from np.random.permutation(len(self.data_source)).tolist()[: len(self)]


class DrawsAtIter(RandomSampler):
    """`iter` alone draws the whole pass (B001)."""

    CAUGHT_BY = ("sampler.idle-iter",)
    ANOMALY = "iter-draws"

    def __iter__(self) -> Iterator[int]:
        return iter(list(super().__iter__()))


class DrawsPiecewise(RandomSampler):
    """Draws one index at a time, so a second iterator disturbs the first."""

    CAUGHT_BY = ("sampler.interleave-generator",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[int]:
        left = list(range(len(self.data_source)))
        for _ in range(min(len(self), len(left))):
            place = int(torch.randint(len(left), (), generator=self.generator))
            yield left.pop(place)


class FollowsDefaultDtype(DistributedSampler):
    """Shuffles by sorting uniforms of the default dtype, which is not the same everywhere."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return torch.arange(n)
        return torch.rand(n, generator=torch.Generator().manual_seed(self._pass_seed())).argsort()


class HashSeed(DistributedSampler):
    """The seed is a Python hash of a string (B038)."""

    CAUGHT_BY = ("sampler.same-everywhere", "distributed.one-sequence")
    ANOMALY = "depends-on-process"

    def _pass_seed(self) -> int:
        return hash(f"{self.seed}/{self.epoch}")


class LeftOfTheLast(WeightedRandomSampler):
    """What a pass has drawn and not given begins the next one, whatever has been seeded since."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-read"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            yield from super().__iter__()
            return
        left = self.__dict__.setdefault("left", [])
        for _ in range(self.num_samples):
            left += () if left else super().__iter__()
            yield left.pop()
