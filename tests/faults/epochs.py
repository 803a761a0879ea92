"""Wrong only in some epochs, for some seeds, or from the second pass on: distributed samplers.

All derive from `honest.py`, which breaks no rule. `CAUGHT_BY` lists the clauses that must report
the fault, `ANOMALY` is what the first of them calls it. A number such as B016 is a row of the
corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from honest import DistributedSampler, mix, whole


class OrderOfTwoEpochs(DistributedSampler):
    """The epoch is divided by two and rounded down, so epochs 2k and 2k + 1 have one order."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed, self.epoch // 2)


class TurnsRound(DistributedSampler):
    """Every second epoch is the one before, read from its end."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = "orders-related"

    def _order(self, n: int) -> torch.Tensor:
        epoch, self.epoch = self.epoch, self.epoch // 2
        order = super()._order(n)
        self.epoch = epoch
        return order.flip(0) if self.shuffle and epoch % 2 else order


class TurnsOn(DistributedSampler):
    """Long data is shuffled once for all epochs, and each epoch starts one item further on."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = "passes-repeat"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle or n < 16:
            return super()._order(n)
        once = torch.Generator().manual_seed(mix(self.seed))
        return torch.randperm(n, generator=once).roll(self.epoch)


class FirstEpochInOrder(DistributedSampler):
    """Epoch 0 is not shuffled: `if self.epoch` was meant to ask whether an epoch was set."""

    CAUGHT_BY = ("distributed.seed",)
    ANOMALY = "seed-ignored"

    def _order(self, n: int) -> torch.Tensor:
        return super()._order(n) if self.epoch else torch.arange(n)


class SeedZeroIsNone(DistributedSampler):
    """Seed 0 is taken for no seed, and nothing is shuffled."""

    CAUGHT_BY = ("distributed.epochs-differ", "distributed.uniform")
    ANOMALY = "stale-epoch"

    def _order(self, n: int) -> torch.Tensor:
        return super()._order(n) if self.seed else torch.arange(n)


class SeedTimesEpoch(DistributedSampler):
    """Seed and epoch are multiplied, so that epoch 0 has one order for all seeds (B055)."""

    CAUGHT_BY = ("distributed.seed", "distributed.epochs-differ")
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(self.seed * self.epoch)


class RemembersByEpoch(DistributedSampler):
    """Orders are kept by length and epoch for all samplers of the process, whatever their seed."""

    CAUGHT_BY = ("distributed.seed",)
    ANOMALY = "seed-ignored"

    kept: ClassVar[dict[Any, torch.Tensor]] = {}

    def _order(self, n: int) -> torch.Tensor:
        key = n, self.epoch, self.shuffle
        if key not in self.kept:
            self.kept[key] = super()._order(n)
        return self.kept[key]


class NeverGoesBack(DistributedSampler):
    """An epoch before the present one is not gone back to (B016)."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def set_epoch(self, epoch: int) -> None:
        self.epoch = max(self.epoch, whole("epoch", epoch))


class EpochOnePassLate(DistributedSampler):
    """An epoch that is set counts for the pass after the next (B133)."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    told = 0

    def set_epoch(self, epoch: int) -> None:
        self.told = whole("epoch", epoch)

    def __iter__(self) -> Iterator[int]:
        share = super().__iter__()
        self.epoch = self.told
        return share


class ShorterSecondPass(DistributedSampler):
    """From the second `iter` on, the last item is missing."""

    CAUGHT_BY = ("sampler.restart", "sampler.length")
    ANOMALY = "no-restart"

    begun = False

    def __iter__(self) -> Iterator[int]:
        share = list(super().__iter__())
        again, self.begun = self.begun, True
        return iter(share[:-1] if again else share)


class GoesOnWhereItStopped(DistributedSampler):
    """A pass that was broken off goes on in the next one (B002)."""

    CAUGHT_BY = ("sampler.restart", "sampler.length")
    ANOMALY = "no-restart"

    rest: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[int]:
        share = self.rest or tuple(super().__iter__())
        for place, index in enumerate(share):
            self.rest = share[place + 1 :]
            yield index


class OtherOnceMeasured(DistributedSampler):
    """Once `len` was called, the last item is the first again."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-changes-order"

    measured = False

    def __len__(self) -> int:
        self.measured = True
        return super().__len__()

    def __iter__(self) -> Iterator[int]:
        share = list(super().__iter__())
        return iter([*share[:-1], share[0]] if self.measured and share else share)
