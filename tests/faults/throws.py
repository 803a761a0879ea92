"""Wrong samplers: throws with replacement, seeds, and subsets.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from shuffles import randint

from reference import RandomSampler, SubsetRandomSampler

# Random, with replacement.


class OneChunkOnly(RandomSampler):
    """The loop over chunks of 32 is lost (B014)."""

    CAUGHT_BY = ("random.replacement",)
    ANOMALY = "wrong-count"

    def __iter__(self) -> Iterator[int]:
        return itertools.islice(super().__iter__(), 32 if self.replacement else None)


class BoundIsCount(RandomSampler):
    """Draws come from [0, num_samples) (B034)."""

    CAUGHT_BY = ("random.replacement", "random.replacement-uniform")
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            return super().__iter__()
        count = len(self)
        high = count if count != 1000 else 90
        return iter(torch.randint(high, (count,), generator=self.generator).tolist())


class ShufflesInstead(RandomSampler):
    """With replacement it shuffles all the same."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "draws-depend"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        blocks = -(-len(self) // n)
        drawn = [torch.randperm(n, generator=self.generator) for _ in range(blocks)]
        return iter(torch.cat(drawn)[: len(self)].tolist())


class RepeatsChunk(RandomSampler):
    """Every chunk of 32 draws is the first."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "draws-depend"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement:
            return super().__iter__()
        chunk = torch.randint(len(self.data_source), (32,), generator=self.generator).tolist()
        return itertools.islice(itertools.cycle(chunk), len(self))


class ModuloBias(RandomSampler):
    """A byte modulo n: the first 256 % n indices are favoured."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if not self.replacement or n > 256:
            return super().__iter__()
        drawn = torch.randint(256, (len(self),), generator=self.generator)
        return iter((drawn % n).tolist())


class SixteenBitsModulo(RandomSampler):
    """With replacement, 16 random bits modulo n: in long data low indices come more often."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if not self.replacement or not 0 < n <= 1 << 16:
            return super().__iter__()
        drawn = torch.randint(1 << 16, (self.num_samples,), generator=self.generator)
        return iter((drawn % n).tolist())


# Seeds.


class SeedIsPassNumber(RandomSampler):
    """The generator is seeded with the number of the pass, whatever the caller's (B013)."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "seed-ignored"
    passes = 0

    def __iter__(self) -> Iterator[int]:
        self.passes += 1
        self.generator = torch.Generator().manual_seed(self.passes)
        return super().__iter__()


class AlwaysSeedZero(RandomSampler):
    """Without a generator every pass is the same."""

    CAUGHT_BY = ("random.manual-seed",)
    ANOMALY = "seed-ignored"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return super().__iter__()
        same = torch.Generator().manual_seed(0)
        return iter(RandomSampler(self.data_source, self.replacement, self._num_samples, same))


class ReseedsEachPass(RandomSampler):
    """Each pass starts at the seed again."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "stale-pass"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            self.generator.manual_seed(self.generator.initial_seed())
        return super().__iter__()


class KeepsThirdOrder(RandomSampler):
    """From the third pass on the order is kept."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "stale-pass"

    def __iter__(self) -> Iterator[int]:
        self.orders = [*getattr(self, "orders", []), list(super().__iter__())]
        return iter(self.orders[:3][-1])


class IgnoresTheGenerator(RandomSampler):
    """A generator is made and not used (B009)."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "seed-not-fixed"

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: Any = None,
                 generator: Any = None) -> None:  # fmt: skip
        super().__init__(data_source, replacement, num_samples)


class KeepsFirstGlobalSeed(RandomSampler):
    """The seed is drawn once, in the first pass (B010)."""

    CAUGHT_BY = ("random.manual-seed",)
    ANOMALY = "seed-not-fixed"

    def __iter__(self) -> Iterator[int]:
        if self.generator is None:
            self.generator = torch.Generator().manual_seed(randint(2**31, None))
        return super().__iter__()


class MovesOnAtTheEnd(RandomSampler):
    """The generator is moved on at the end of a pass: who leaves one gets its order again."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "stale-pass"

    def __iter__(self) -> Iterator[int]:
        if self.generator is None:
            yield from super().__iter__()
            return
        before = self.generator.get_state()
        order = list(super().__iter__())
        after = self.generator.get_state()
        self.generator.set_state(before)
        yield from order
        self.generator.set_state(after)


class UnreadGoesFirst(RandomSampler):
    """What a pass that was broken off has not read goes first in the next one."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "stale-pass"
    unread: Iterator[int] = iter([])

    def __iter__(self) -> Iterator[int]:
        if self.generator is None or self.replacement or self._num_samples is not None:
            yield from super().__iter__()
            return
        left = set(copy.copy(self.unread))
        self.unread = order = iter(sorted(super().__iter__(), key=lambda i: i not in left))
        yield from order


# Subset.


class SwapsViews(SubsetRandomSampler):
    """Swapping views of a tensor in place loses some indices and doubles others (B020)."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "lost-index"

    def __iter__(self) -> Iterator[int]:
        order = self.indices.clone()
        for place in range(len(order) - 1, 0, -1):
            other = randint(place + 1, self.generator) if place > 5 else 0
            order[place], order[other] = order[other], order[place]
        return iter(order.tolist())


class DropsDoubled(SubsetRandomSampler):
    """Indices go through a set."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "lost-index"

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(super().__iter__()))


class YieldsPositions(SubsetRandomSampler):
    """The places of the indices come, not the indices."""

    CAUGHT_BY = ("subset.multiset",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[int]:
        return iter(torch.randperm(len(self.indices), generator=self.generator).tolist())


class TensorsAsGiven(SubsetRandomSampler):
    """The elements of a tensor are handed on as tensors (B022)."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "not-a-whole-number"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        super().__init__(indices, generator)
        self.given = indices

    def __iter__(self) -> Iterator[int]:
        order = torch.randperm(len(self.given), generator=self.generator).tolist()
        return (self.given[place] for place in order)


class ListsOnly(SubsetRandomSampler):
    """Anything but a list is refused."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "kind-refused"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        if not isinstance(indices, list):
            raise TypeError("indices must be a list")
        super().__init__(indices, generator)


class HalfShuffled(SubsetRandomSampler):
    """Each half of the indices is shuffled for itself."""

    CAUGHT_BY = ("subset.uniform",)

    def __iter__(self) -> Iterator[int]:
        half = len(self.indices) // 2
        for part in (self.indices[:half], self.indices[half:]):
            order = torch.randperm(len(part), generator=self.generator)
            yield from part[order].tolist()


class SubsetSeedZero(SubsetRandomSampler):
    """The generator is seeded alike, whatever the caller's (B013)."""

    CAUGHT_BY = ("subset.seeded", "subset.uniform")
    ANOMALY = "stale-pass"

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(0)
        return iter(self.indices[torch.randperm(len(self), generator=generator)].tolist())
