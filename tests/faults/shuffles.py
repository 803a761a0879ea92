"""Wrong orders and shuffles: faults of `spec/sequential.md` and `spec/random.md`.

All derive from the reference. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY`
is what the first of them calls it. A number such as B019 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from reference import RandomSampler, SequentialSampler

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
