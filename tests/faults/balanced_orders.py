"""Wrong class-balanced samplers: what their order depends on, and what they accept.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B091 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from honest import mix

from reference import BalanceClassSampler, WeightedBalanceClassSampler


class DrawsMembersFromNumpy(BalanceClassSampler):
    """Members are drawn from numpy's global generator, which ranks do not share (B091)."""

    CAUGHT_BY = ("balanced.seeded", "sampler.private-rng")
    ANOMALY = "not-reproducible"

    def __iter__(self) -> Iterator[int]:
        pairs = zip(self.members, self.counts, strict=True)
        drawn = [np.random.choice(m, count, replace=count > len(m)) for m, count in pairs]
        return iter(np.random.permutation(np.concatenate(drawn)).tolist())


class RepeatsFirstEpoch(BalanceClassSampler):
    """The pass is drawn once, and every epoch repeats it (B052)."""

    CAUGHT_BY = ("balanced.seeded", "balanced.reach")
    ANOMALY = "stale-epoch"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.epoch = 0


class EpochsInPairs(BalanceClassSampler):
    """Two epochs in a row have one order: the epoch is divided by two, and rounded down."""

    CAUGHT_BY = ("balanced.seeded",)
    ANOMALY = "stale-epoch"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.epoch //= 2


class ClassesOfASet(BalanceClassSampler):
    """Classes are drawn in the order of a set of their names, which each process hashes its own
    way."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __iter__(self) -> Iterator[int]:
        names = [str(self.labels[one[0]]) for one in self.members]
        order = [names.index(name) for name in {*names}]
        found = [self.members[place] for place in order]
        drawn = BalanceClassSampler.__new__(BalanceClassSampler)
        drawn.__dict__.update(vars(self), members=found)
        return iter([*drawn])

    def __init__(
        self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0
    ) -> None:
        super().__init__(labels, mode, seed)
        self.labels = list(labels)


class SeedWithoutEffect(WeightedBalanceClassSampler):
    """The seed is taken and not used: all runs have the same passes (B055)."""

    CAUGHT_BY = ("balanced.seeded",)
    ANOMALY = "seed-ignored"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, weight, length)


class CutsWeights(WeightedBalanceClassSampler):
    """Weights beyond the number of classes are left out, and missing ones count as 0 (B087)."""

    CAUGHT_BY = ("balanced.reject", "sampler.reject")
    ANOMALY = "accepted"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        given = list(weight)
        classes = len(np.unique(np.asarray(labels)))
        super().__init__(labels, [*given, *[0.0] * classes][:classes], length, seed)


class UnknownModeIsDefault(BalanceClassSampler):
    """An unknown mode is taken for downsampling."""

    CAUGHT_BY = ("balanced.reject", "sampler.reject")
    ANOMALY = "accepted"

    def __init__(self, labels: Sequence[Any], mode: Any = "downsampling", seed: int = 0) -> None:
        known = mode == "upsampling" or isinstance(mode, int)
        super().__init__(labels, mode if known else "downsampling", seed)


class SeedsItself(WeightedBalanceClassSampler):
    """Construction draws a seed of its own, and so each rank divides another pass (B054, B095)."""

    CAUGHT_BY = ("balanced.distributed", "balanced.seeded", "sampler.private-rng")
    ANOMALY = "ranks-disagree"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, weight, length, mix(seed, int(np.random.randint(2**31))))
