"""One global order of the data, divided among ranks.

The rule stands here once, for every sampler that is divided. All ranks know the same global
sequence of n places. It is continued from its own start up to a multiple of the number of ranks,
or cut off at one (`drop_last`); then rank r of W reads the places r, r + W, r + 2W, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sized

import numpy as np
import torch
import torch.distributed as dist

from reference import arguments
from reference.sampler import Sampler, T_co, mix, python_ints


def share(n: int, num_replicas: int, drop_last: bool) -> int:
    """How many of n places each rank reads."""
    return n // num_replicas if drop_last else -(-n // num_replicas)


def shard(order: torch.Tensor, num_replicas: int, rank: int, drop_last: bool) -> torch.Tensor:
    """What one rank reads of a global sequence of shape (n,): shape (share,)."""
    count = share(len(order), num_replicas, drop_last)
    read = order[rank : count * num_replicas : num_replicas]
    if len(read) == count:
        return read
    # Only the last place of a rank can lie beyond the end: the others are below n by definition.
    last = ((count - 1) * num_replicas + rank) % len(order)
    return torch.cat([read, order[last : last + 1]])


class ShardedSampler(Sampler[T_co]):
    """Base of the samplers that read one rank's places of a sequence known to all ranks."""

    def __init__(
        self, num_replicas: int | None, rank: int | None, shuffle: bool, seed: int, drop_last: bool
    ) -> None:
        if num_replicas is None or rank is None:
            if not (dist.is_available() and dist.is_initialized()):
                raise RuntimeError(
                    "num_replicas and rank must both be given where torch.distributed has no"
                    " process group to ask"
                )
            num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
            rank = dist.get_rank() if rank is None else rank
        self.num_replicas = arguments.integer("num_replicas", num_replicas, 1)
        self.rank = arguments.integer("rank", rank, 0)
        if self.rank >= self.num_replicas:
            raise ValueError(f"rank must be below num_replicas={self.num_replicas}, but is {rank}")
        self.shuffle = arguments.boolean("shuffle", shuffle)
        self.seed = arguments.integer("seed", seed)
        self.drop_last = arguments.boolean("drop_last", drop_last)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the passes that start from now on; TypeError if not an integer."""
        self.epoch = arguments.integer("epoch", epoch)

    def _pass_seed(self) -> int:
        return mix(self.seed, self.epoch)

    def _order(self, n: int) -> torch.Tensor:
        """The global order: a permutation of range(n), int64, shape (n,)."""
        if not self.shuffle:
            return torch.arange(n, device="cpu")
        # torch's generator takes 32 bits of a seed: some epochs of a long run would be alike.
        return torch.from_numpy(np.random.default_rng(self._pass_seed()).permutation(n))

    def _shard(self, order: torch.Tensor) -> torch.Tensor:
        return shard(order, self.num_replicas, self.rank, self.drop_last)

    def _share(self, n: int) -> int:
        return share(n, self.num_replicas, self.drop_last)


class DistributedSampler(ShardedSampler[int]):
    """Yields one rank's share of the indices of a dataset, equally many on every rank.

    The global order depends on (seed, epoch, n) alone. It is shuffled anew for each epoch that
    `set_epoch` announces; without `set_epoch` every pass repeats the same order. The length of the
    dataset is read anew for each pass. `num_replicas` and `rank` default to the world size and
    rank of torch.distributed.

    Raises RuntimeError if they are left out and there is no process group, TypeError or ValueError
    for sizes that are not integers of at least 1, a rank outside [0, num_replicas) and a dataset
    without a length.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(num_replicas, rank, shuffle, seed, drop_last)
        self.dataset = arguments.sized("dataset", dataset)

    def __iter__(self) -> Iterator[int]:
        return python_ints(self._shard(self._order(len(self.dataset))))

    def __len__(self) -> int:
        return self._share(len(self.dataset))
