"""Wrong orders and shuffles: faults of `spec/sequential.md`, `spec/random.md` and `spec/subset.md`.

All derive from the reference. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY`
is what the first of them calls it. A number such as B019 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from reference import RandomSampler, SequentialSampler, SubsetRandomSampler

SHORT = 1 << 16


def randint(high: int, generator: torch.Generator | None) -> int:
    return int(torch.randint(high, (), generator=generator))


# Sequential.


class CountsInSixteenBits(SequentialSampler):
    """Indices from 2^16 on start over at 0."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __iter__(self) -> Iterator[int]:
        return (index % SHORT for index in super().__iter__())


class KeepsFirstLength(SequentialSampler):
    """The length is read once, at construction."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __init__(self, data_source: Any) -> None:
        super().__init__(range(len(data_source)))


class GivesUpOnLongData(SequentialSampler):
    """Data of more than 2^16 items ends in an exception."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        if len(self) > SHORT:
            raise OverflowError(len(self))
        return super().__iter__()


# Random, without replacement.


class EndsAfterData(RandomSampler):
    """A pass never has more than n items (B008)."""

    CAUGHT_BY = ("random.permutation", "random.replacement")
    ANOMALY = "wrong-count"

    def __iter__(self) -> Iterator[int]:
        return itertools.islice(super().__iter__(), len(self.data_source))


class RefusesCount(RandomSampler):
    """`num_samples` is refused without replacement (B008)."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "crash"

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: Any = None,
                 generator: Any = None) -> None:  # fmt: skip
        if num_samples is not None and not replacement:
            raise ValueError("num_samples should not be specified without replacement")
        super().__init__(data_source, replacement, num_samples, generator)


class DoublesFromThirdPass(RandomSampler):
    """From the third pass on the first index comes in place of the second, too."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "doubled-index"
    passes = 0

    def __iter__(self) -> Iterator[int]:
        self.passes += 1
        order = list(super().__iter__())
        if self.passes > 2 and len(order) > 1:
            order[1] = order[0]
        return iter(order)


class TailFromLastBlock(RandomSampler):
    """What is left over after the whole blocks is filled up with draws, not with a permutation."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "doubled-index"

    def __iter__(self) -> Iterator[int]:
        order, n = list(super().__iter__()), len(self.data_source)
        rest = len(order) % n
        return iter(order[: len(order) - rest] + [randint(n, self.generator) for _ in range(rest)])


class LastStays(RandomSampler):
    """The swaps stop one too early: the last item is never moved."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        for start in range(0, len(self), n):
            block = [*torch.randperm(n - 1, generator=self.generator).tolist(), n - 1]
            yield from block[: len(self) - start]


class NaiveSwaps(RandomSampler):
    """Each place is swapped with any other, not only with those that are left."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        order = list(range(n))
        partners = torch.randint(n, (n,), generator=self.generator).tolist()
        for place, other in enumerate(partners):
            order[place], order[other] = order[other], order[place]
        return itertools.islice(itertools.cycle(order), len(self))


class NaiveSwapsOnLongData(NaiveSwaps):
    """The same, but for long data only."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "shuffled-locally"

    def __iter__(self) -> Iterator[int]:
        naive = len(self.data_source) > SHORT
        return super().__iter__() if naive else RandomSampler.__iter__(self)


class Rotates(RandomSampler):
    """The order is right but for where it starts."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "passes-repeat"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        start = randint(n, self.generator)
        return ((start + place) % n for place in range(len(self)))


class ShuffleInPairs(RandomSampler):
    """Long data is shuffled in twos, which stay together."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "shuffled-in-blocks"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if n <= SHORT:
            return super().__iter__()
        rows = [range(start, min(n, start + 2)) for start in range(0, n, 2)]
        order = torch.randperm(len(rows), generator=self.generator).tolist()
        flat = itertools.chain.from_iterable(rows[row] for row in order)
        return itertools.islice(itertools.cycle(flat), len(self))


class ShuffleBuffer(RandomSampler):
    """A buffer of 10,000 items is shuffled as the data flows through it."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "shuffled-locally"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if n <= 10_000:
            yield from super().__iter__()
            return
        blocks = (range(start, min(n, start + 10_000)) for start in range(0, n, 10_000))
        order = [
            block[place]
            for block in blocks
            for place in torch.randperm(len(block), generator=self.generator).tolist()
        ]
        yield from itertools.islice(itertools.cycle(order), len(self))


class ShuffleInEights(RandomSampler):
    """Long data is shuffled in eights, each shuffled in itself."""

    CAUGHT_BY = ("random.uniform",)

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if n <= SHORT:
            yield from super().__iter__()
            return
        eights = torch.randperm(n // 8, generator=self.generator) * 8
        inner = torch.rand(n // 8, 8, generator=self.generator).argsort(1)
        order = [*(eights[:, None] + inner).flatten().tolist(), *range(n // 8 * 8, n)]
        yield from itertools.islice(itertools.cycle(order), len(self))


class CutsFirst(RandomSampler):
    """A pass shorter than the data is a shuffle of the data's head (B019)."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.replacement or len(self) >= n:
            return super().__iter__()
        return iter(torch.randperm(len(self), generator=self.generator).tolist())


class BiasedFromThirdPass(RandomSampler):
    """From the third pass on, the larger half of long data comes last."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "shuffled-locally"
    passes = 0

    def __iter__(self) -> Iterator[int]:
        self.passes += 1
        n, order = len(self.data_source), super().__iter__()
        if self.passes > 2 and len(self) == n > 64:
            return iter(sorted(order, key=lambda index: index > n // 2))
        return order


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
