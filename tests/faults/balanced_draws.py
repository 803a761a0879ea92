"""Wrong draws of class-balanced samplers that only large classes, or odd seeds, show.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from balanced import _Drawn

from reference import BalanceClassSampler, WeightedBalanceClassSampler


class AbsoluteSeed(BalanceClassSampler):
    """Python's generator, which takes the absolute value of a number, so -1 is the seed 1."""

    CAUGHT_BY = ("balanced.seeded",)
    ANOMALY = "seed-ignored"

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        super().__init__(labels, mode, random.Random(seed).getrandbits(40))


class DealsRounds(BalanceClassSampler):
    """The classes are dealt out in rounds, and mixed within 24 items."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def __iter__(self) -> Iterator[int]:
        drawn = [*super().__iter__()]
        if len(drawn) < 1000 or len(set(self.counts)) > 1:
            yield from drawn
            return
        number = {index: place for place, held in enumerate(self.members) for index in held}
        piles: list[list[int]] = [[] for _ in self.members]
        for index in drawn:
            piles[number[index]].append(index)
        dealt = [index for turn in zip(*piles, strict=True) for index in turn]
        mixed = random.Random(self.seed + self.epoch)
        for start in range(0, len(dealt), 24):
            yield from mixed.sample(dealt[start : start + 24], len(dealt[start : start + 24]))


class DrawsBlindly(WeightedBalanceClassSampler):
    """Where a class is a hundred times what is wanted of it, nobody looks for doubles."""

    CAUGHT_BY = ("balanced.distinct",)
    ANOMALY = "doubled-member"

    def __iter__(self) -> Iterator[int]:
        drawn = torch.tensor([*super().__iter__()])
        chance = torch.Generator().manual_seed(abs(hash((self.seed, self.epoch))) % 2**40)
        for held in map(torch.as_tensor, self.members):
            mine = torch.isin(drawn, held)
            wanted = int(mine.sum())
            if len(held) > 100 * wanted > 0:
                drawn[mine] = held[torch.randint(len(held), (wanted,), generator=chance)]
        return iter(drawn.tolist())


class TwelveBitsForEpochs(_Drawn):
    """The seed stands above twelve bits for the epoch, which an odd seed shares with epoch 4096."""

    CAUGHT_BY = ("balanced.seeded",)
    ANOMALY = "stale-epoch"

    def rng(self) -> Any:
        return np.random.default_rng(self.seed << 12 | self.epoch)
