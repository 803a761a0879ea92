"""Shuffles and draws that look random one by one, and of which one tells what the next will be.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B019 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from reference import RandomSampler, SubsetRandomSampler, WeightedRandomSampler


class _Shuffled(RandomSampler):
    """The rules of a pass one by one: the generator, its blocks, and a block."""

    def __iter__(self) -> Iterator[int]:
        if self.replacement or not len(self.data_source):
            yield from super().__iter__()
            return
        yield from self.blocks(len(self.data_source), self._seeded())[: self.num_samples]

    def _seeded(self) -> torch.Generator:
        if self.generator is not None:
            return self.generator
        return torch.Generator().manual_seed(int(torch.randint(2**62, ()).item()))

    def blocks(self, n: int, generator: torch.Generator) -> list[int]:
        count = math.ceil(self.num_samples / n)
        return [item for _ in range(count) for item in self.block(n, generator)]

    def block(self, n: int, generator: torch.Generator) -> list[int]:
        return torch.randperm(n, generator=generator).tolist()


class OnlyStartsElsewhere(_Shuffled):
    """The first pass with a generator is a shuffle, and each later one a rotation of it."""

    CAUGHT_BY = ("random.uniform",)

    first: list[int] | None = None

    def block(self, n: int, generator: torch.Generator) -> list[int]:
        found = super().block(n, generator)
        if self.generator is None:
            return found
        if self.first is None or len(self.first) != n:
            self.first = found
        start = found[0]
        return self.first[start:] + self.first[:start]


class EvenSteps(_Shuffled):
    """Long data is stepped through with one random step from one random start."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "even-steps"

    def block(self, n: int, generator: torch.Generator) -> list[int]:
        if n <= 64:
            return super().block(n, generator)
        start, step = torch.randint(1, n, (2,), generator=generator).tolist()
        while math.gcd(step, n) > 1:
            step = step % n + 1
        return [(start + step * place) % n for place in range(n)]


class LastStaysOnLongData(_Shuffled):
    """The last of more than 64 items is never moved; shorter data is shuffled well."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "never-moved"

    def block(self, n: int, generator: torch.Generator) -> list[int]:
        if n <= 64:
            return super().block(n, generator)
        return [*super().block(n - 1, generator), n - 1]


class CountsUpSeeds(_Shuffled):
    """Passes are seeded by the generator's first seed and their number, not by what it holds."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "seed-ignored"

    passes = 0

    def _seeded(self) -> torch.Generator:
        if self.generator is None:
            return super()._seeded()
        self.passes += 1
        return torch.Generator().manual_seed(self.generator.initial_seed() + self.passes)


class NeverTheLast(RandomSampler):
    """With replacement, the last of more than 100 indices is never drawn."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        top = len(self.data_source) - 1
        shown = super().__iter__()
        return (
            min(index, top - 1) if self.replacement and top >= 100 else index for index in shown
        )


class SubsetTurnsRound(SubsetRandomSampler):
    """Every second pass is the one before, from its end."""

    CAUGHT_BY = ("subset.uniform",)
    ANOMALY = "orders-related"

    last: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[int]:
        if self.last:
            items, self.last = self.last[::-1], ()
        else:
            items = self.last = tuple(super().__iter__())
        yield from items


class NeverTheLastWeight(WeightedRandomSampler):
    """With replacement, the last of more than 64 indices is taken for the one before it."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        top = len(self.weights) - 1
        drawn = super().__iter__()
        return (min(index, top - 1) if self.replacement and top >= 64 else index for index in drawn)


class DrawsInPairs(WeightedRandomSampler):
    """With replacement, each index that is drawn comes twice in a row."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "draws-repeated"

    def __iter__(self) -> Iterator[int]:
        drawn = list(super().__iter__())
        if self.replacement:
            drawn[1::2] = drawn[: len(drawn) // 2 * 2 : 2]
        yield from drawn


class DistinctWhileItCan(WeightedRandomSampler):
    """With replacement, fewer draws than there are indices are drawn without."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement or self.num_samples > int((self.weights > 0).sum()):
            yield from super().__iter__()
            return
        others = WeightedRandomSampler(self.weights, self.num_samples, False, self.generator)
        yield from others


class MirrorsThrows(RandomSampler):
    """With replacement every second draw mirrors another, to even a pass out."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "draws-depend"

    def __iter__(self) -> Iterator[int]:
        drawn = list(super().__iter__())
        if not self.replacement:
            return iter(drawn)
        half, last = drawn[: (len(drawn) + 1) // 2], len(self.data_source) - 1
        paired = [*half, *(last - i for i in half)][: len(drawn)]
        mixed = torch.Generator().manual_seed(sum(drawn))
        return iter([paired[place] for place in torch.randperm(len(paired), generator=mixed)])
