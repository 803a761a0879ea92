"""Wrong ways to divide an epoch among ranks: each class breaks one rule of `spec/distributed.md`.

All derive from `honest.py`, which breaks none, so that what a verdict names is the one change.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs, from which most of these come.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from honest import DistributedSampler


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


class SixteenBits(DistributedSampler):
    """Indices are kept in 16 bits, so those from 65536 on come out as small ones."""

    CAUGHT_BY = ("distributed.cover", "distributed.uniform")
    ANOMALY = "lost-index"

    def _order(self, n: int) -> torch.Tensor:
        return super()._order(n) % (1 << 16)


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


class OneIsNotTrue(DistributedSampler):
    """Whether a pass drops its rest is asked by `is True`; its length asks whether it is true."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def _places(self, n: int) -> torch.Tensor:
        if self.drop_last and self.drop_last is not True:
            count = -(-n // self.num_replicas)
            return (torch.arange(count) * self.num_replicas + self.rank) % max(n, 1)
        return super()._places(n)
