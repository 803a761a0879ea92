"""Wrong ways to order what ranks divide: seeds, epochs and the shuffle itself.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from typing import Any

import torch
from honest import DistributedSampler, mix


class SeedByRank(DistributedSampler):
    """Each rank shuffles with a seed of its own (B053)."""

    CAUGHT_BY = ("distributed.cover", "distributed.drop", "distributed.small")
    ANOMALY = "lost-index"

    def _pass_seed(self) -> int:
        return mix(self.seed + self.rank, self.epoch)


class NeverBroadcast(DistributedSampler):
    """The seed of a pass comes from the rank's own global generator (B054, B063)."""

    CAUGHT_BY = ("distributed.one-sequence", "distributed.cover", "sampler.private-rng")
    ANOMALY = "ranks-disagree"

    def _pass_seed(self) -> int:
        return int(torch.randint(2**31, ()).item())


class HashOrder(DistributedSampler):
    """The order goes through a set of strings, which every process arranges its own way (B210)."""

    CAUGHT_BY = ("distributed.one-sequence", "distributed.cover", "sampler.same-everywhere")
    ANOMALY = "ranks-disagree"

    def _order(self, n: int) -> torch.Tensor:
        return torch.tensor([int(word) for word in {str(k) for k in super()._order(n).tolist()}])


class LaterRankForgetsEpoch(DistributedSampler):
    """Only rank 0 hears of the epoch, so the others divide the order of epoch 0 (B098)."""

    CAUGHT_BY = ("distributed.cover", "distributed.drop")
    ANOMALY = "lost-index"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.epoch = self.epoch if self.rank == 0 else 0


class StaleFromThirdEpoch(DistributedSampler):
    """Epochs 0, 1 and 2 have orders of their own; all later ones repeat epoch 2 (B015)."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed, min(self.epoch, 2))


class ShortCounter(DistributedSampler):
    """The epoch is kept in three bits, so epoch 8 is epoch 0."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed, self.epoch % 8)


class IgnoresEpoch(DistributedSampler):
    """`set_epoch` is heard and has no effect (B052)."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed, 0)


class IgnoresSeed(DistributedSampler):
    """The epoch alone is the seed (B055)."""

    CAUGHT_BY = ("distributed.seed",)
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(0, self.epoch)


class AddsEpoch(DistributedSampler):
    """Seed and epoch are added, so (0, 1) is (1, 0) (B056)."""

    CAUGHT_BY = ("distributed.mix",)
    ANOMALY = "seed-epoch-added"

    def _pass_seed(self) -> int:
        return mix(self.seed + self.epoch, 0)


class AlwaysShuffles(DistributedSampler):
    """`shuffle=False` is ignored (B077)."""

    CAUGHT_BY = ("distributed.order",)
    ANOMALY = "order-lost"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.shuffle = True


class NeverShuffles(DistributedSampler):
    """`shuffle=True` is ignored (B076)."""

    CAUGHT_BY = ("distributed.uniform", "distributed.epochs-differ", "distributed.seed")
    ANOMALY = ""

    def _order(self, n: int) -> torch.Tensor:
        return torch.arange(n)


class Descends(DistributedSampler):
    """Without shuffling the dataset is read from its end."""

    CAUGHT_BY = ("distributed.order",)
    ANOMALY = "order-lost"

    def _order(self, n: int) -> torch.Tensor:
        return super()._order(n) if self.shuffle else torch.arange(n).flip(0)


class OrderByWorldSize(DistributedSampler):
    """The number of ranks goes into the shuffle."""

    CAUGHT_BY = ("distributed.any-world-size",)
    ANOMALY = "order-depends-on-world-size"

    def _pass_seed(self) -> int:
        return mix(mix(self.seed, self.epoch), self.num_replicas)


class RotatesOnly(DistributedSampler):
    """A shuffle is a rotation of the dataset."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = ""

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle or not n:
            return super()._order(n)
        return torch.arange(n).roll(self._pass_seed() % n)


class SmallBuffer(DistributedSampler):
    """The shuffle works through a buffer of eight items, as streaming loaders do (B159)."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = ""

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        generator = torch.Generator().manual_seed(self._pass_seed())
        picks = torch.randint(8, (n,), generator=generator).tolist()
        buffer, order = list(range(min(8, n))), []
        for pick, later in zip(picks, [*range(8, n), *[-1] * 8], strict=False):
            place = pick % len(buffer)
            order.append(buffer[place])
            buffer[place] = later
            if later < 0:
                del buffer[place]
        return torch.tensor(order, dtype=torch.int64)


class ShufflesOwnShare(DistributedSampler):
    """A rank keeps its share of the unshuffled data for ever and shuffles only that (B159)."""

    CAUGHT_BY = ("distributed.uniform",)
    ANOMALY = ""

    def _order(self, n: int) -> torch.Tensor:
        return torch.arange(n)

    def _places(self, n: int) -> torch.Tensor:
        found = super()._places(n)
        if not self.shuffle:
            return found
        generator = torch.Generator().manual_seed(self._pass_seed())
        return found[torch.randperm(len(found), generator=generator)]


class ForgetsEarlyEpochs(DistributedSampler):
    """The epoch is kept in one byte, so the order comes again after 256 epochs."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch % 256)
