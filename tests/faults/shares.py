"""Wrong ways to divide an epoch among ranks: each class breaks one rule of `spec/distributed.md`.

All derive from `honest.py`, which breaks none, so that what a verdict names is the one change.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs, from which most of these come.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
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


class WrongAtThree(DistributedSampler):
    """With exactly three ranks the last one reads the place of its neighbour."""

    CAUGHT_BY = ("distributed.cover", "distributed.drop")
    ANOMALY = "lost-index"

    def _places(self, n: int) -> torch.Tensor:
        found = super()._places(n)
        return found - 1 if self.num_replicas == 3 and self.rank == 2 and n >= 3 else found


class OneLeftOver(DistributedSampler):
    """A single item left over goes to rank 0 and is padded on no other rank."""

    CAUGHT_BY = ("distributed.equal-counts", "distributed.small")
    ANOMALY = "unequal-counts"

    def _places(self, n: int) -> torch.Tensor:
        found = super()._places(n)
        left_over = n % self.num_replicas == 1 and self.num_replicas > 1 and not self.drop_last
        return found[:-1] if left_over and self.rank else found


class OnePaddingPass(DistributedSampler):
    """The head of the sequence is copied once, too little for more than 2n ranks (B048 to B050)."""

    CAUGHT_BY = ("distributed.small", "sampler.works")
    ANOMALY = "small-crash"

    def _places(self, n: int) -> torch.Tensor:
        total = self._share(n) * self.num_replicas
        padded = [*range(n), *range(n)][:total]
        assert len(padded) == total
        return torch.tensor(padded[self.rank :: self.num_replicas], dtype=torch.int64)


class EmptyLateRanks(DistributedSampler):
    """With fewer items than ranks, the ranks that come too late have an empty pass (B066, B081)."""

    CAUGHT_BY = ("distributed.equal-counts", "distributed.small")
    ANOMALY = "unequal-counts"

    def _places(self, n: int) -> torch.Tensor:
        return super()._places(n)[: 0 if self.rank >= n else None]


class Unpadded(DistributedSampler):
    """The first ranks have one item more, and nobody said so (B060, B061)."""

    CAUGHT_BY = ("distributed.equal-counts", "distributed.small")
    ANOMALY = "unequal-counts"

    def _places(self, n: int) -> torch.Tensor:
        end = self._share(n) * self.num_replicas if self.drop_last else n
        return torch.arange(self.rank, end, self.num_replicas)


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


class SixteenBits(DistributedSampler):
    """Indices are kept in 16 bits, so those from 65536 on come out as small ones."""

    CAUGHT_BY = ("distributed.cover", "distributed.uniform")
    ANOMALY = "lost-index"

    def _order(self, n: int) -> torch.Tensor:
        return super()._order(n) % (1 << 16)


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


class IgnoresDropLast(DistributedSampler):
    """`drop_last=True` is ignored, and the tail is padded (B039)."""

    CAUGHT_BY = ("distributed.drop", "distributed.small")
    ANOMALY = "cross-rank-overlap"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.drop_last = False


class DropsFullStep(DistributedSampler):
    """`drop_last=True` drops the last step even if it is complete."""

    CAUGHT_BY = ("distributed.drop", "distributed.small")
    ANOMALY = "wrong-total"

    def _share(self, n: int) -> int:
        return max(0, n - 1) // self.num_replicas if self.drop_last else super()._share(n)

    def _places(self, n: int) -> torch.Tensor:
        return super()._places(n)[: self._share(n)]


class ReadsAll(DistributedSampler):
    """Every rank reads the whole epoch (B101)."""

    CAUGHT_BY = ("distributed.padding", "distributed.drop")
    ANOMALY = "wrong-total"

    def _places(self, n: int) -> torch.Tensor:
        return torch.arange(n)

    def __len__(self) -> int:
        return len(self.dataset)


class PadsWithFirst(DistributedSampler):
    """All padding is the first index again, many times over (B051)."""

    CAUGHT_BY = ("distributed.padding", "distributed.small")
    ANOMALY = "doubled-index"

    def _places(self, n: int) -> torch.Tensor:
        unbounded = torch.arange(self._share(n)) * self.num_replicas + self.rank
        return torch.where(unbounded < n, unbounded, 0)


class PadsExtraStep(DistributedSampler):
    """A whole step of padding is added even where the ranks come out even."""

    CAUGHT_BY = ("distributed.padding", "distributed.small")
    ANOMALY = "wrong-total"

    def _share(self, n: int) -> int:
        return super()._share(n) if self.drop_last or not n else n // self.num_replicas + 1

    def _places(self, n: int) -> torch.Tensor:
        return (torch.arange(self._share(n)) * self.num_replicas + self.rank) % max(n, 1)


class PadsBetween(DistributedSampler):
    """Padding stands in the middle, beside the item that it repeats (B051, B107)."""

    CAUGHT_BY = ("distributed.padding-last",)
    ANOMALY = "padding-inside"

    def _places(self, n: int) -> torch.Tensor:
        padded = torch.arange(self._share(n) * self.num_replicas) % max(n, 1)
        return padded.sort().values[self.rank :: self.num_replicas]


class PadsOnOneRank(DistributedSampler):
    """The last rank starts with all the padding, and its neighbours have none (B067)."""

    CAUGHT_BY = ("distributed.padding-last",)
    ANOMALY = "padding-inside"

    def _places(self, n: int) -> torch.Tensor:
        share = self._share(n)
        spare = 0 if self.drop_last else share * self.num_replicas - n
        own = torch.arange(share) + self.rank * share
        last = self.rank == self.num_replicas - 1
        return (own - spare if last else own) % max(n, 1)


class BlocksOverlap(DistributedSampler):
    """Ranks read blocks, and each block starts on the last item of the one before."""

    CAUGHT_BY = ("distributed.drop", "distributed.cover")
    ANOMALY = "cross-rank-overlap"

    def _places(self, n: int) -> torch.Tensor:
        share = self._share(n)
        start = self.rank * share - (1 if self.rank and share else 0)
        return (torch.arange(share) + start) % max(n, 1)


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


class GuessesRank(DistributedSampler):
    """Without a process group it takes itself for rank 0 of 1."""

    CAUGHT_BY = ("distributed.no-group",)
    ANOMALY = "group-guessed"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        if not dist.is_initialized():
            num_replicas = 1 if num_replicas is None else num_replicas
            rank = 0 if rank is None else rank
        super().__init__(dataset, num_replicas, rank, **options)


class AsksEnvironment(DistributedSampler):
    """Without a process group it fails with the KeyError of an environment variable."""

    CAUGHT_BY = ("distributed.no-group",)
    ANOMALY = "wrong-exception"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        if (num_replicas is None or rank is None) and not dist.is_initialized():
            raise KeyError("WORLD_SIZE")
        super().__init__(dataset, num_replicas, rank, **options)


class StridesThenDrops(DistributedSampler):
    """Each rank drops the tail of its own share by a rule of its own (B061, B062, B064)."""

    CAUGHT_BY = ("distributed.batches", "distributed.equal-counts")
    ANOMALY = "unequal-batches"

    def _places(self, n: int) -> torch.Tensor:
        own = torch.arange(self.rank, n, self.num_replicas)
        return own[: len(own) // 2 * 2] if self.drop_last else own


class ForgetsEarlyEpochs(DistributedSampler):
    """The epoch is kept in one byte, so the order comes again after 256 epochs."""

    CAUGHT_BY = ("distributed.epochs-differ",)
    ANOMALY = "stale-epoch"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch % 256)
