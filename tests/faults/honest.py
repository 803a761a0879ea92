"""A right distributed sampler and wrapper, made to be broken: the base of the fault zoo.

Written from the spec, with no line of the reference, so that the zoo does not change with it. Each
hook states one rule, and a fault replaces one hook.
"""

from __future__ import annotations

import hashlib
import operator
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.distributed as dist


def whole(name: str, value: Any, least: int | None = None) -> int:
    """`value` as an int, or one clear error that names the argument."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, but is {value!r}")
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, but is {value!r}") from None
    if least is not None and found < least:
        raise ValueError(f"{name} must be at least {least}, but is {found}")
    return found


def mix(*numbers: int) -> int:
    """63 bits of a cryptographic hash of the numbers."""
    text = " ".join(map(str, numbers)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1


class Sharded:
    """Divides a global order: n places, continued from its start, read in turn by the ranks."""

    def __init__(
        self, num_replicas: int | None, rank: int | None, shuffle: bool, seed: int, drop_last: bool
    ) -> None:
        if (num_replicas is None or rank is None) and not dist.is_initialized():
            raise RuntimeError("num_replicas and rank are needed without a process group")
        width = dist.get_world_size() if num_replicas is None else num_replicas
        self.num_replicas = whole("num_replicas", width, 1)
        self.rank = whole("rank", dist.get_rank() if rank is None else rank, 0)
        if self.rank >= self.num_replicas:
            raise ValueError(f"rank must be below num_replicas={width}, but is {rank}")
        self.shuffle, self.drop_last = shuffle, drop_last
        self.seed, self.epoch = whole("seed", seed), 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = whole("epoch", epoch)

    def _pass_seed(self) -> int:
        return mix(self.seed, self.epoch)

    def _order(self, n: int) -> torch.Tensor:
        """The global order: a permutation of [0, n)."""
        if not self.shuffle:
            return torch.arange(n)
        return torch.randperm(n, generator=torch.Generator().manual_seed(self._pass_seed()))

    def _share(self, n: int) -> int:
        """How many of n places this rank reads."""
        return n // self.num_replicas if self.drop_last else -(-n // self.num_replicas)

    def _places(self, n: int) -> torch.Tensor:
        """Which places of the order this rank reads."""
        return (torch.arange(self._share(n)) * self.num_replicas + self.rank) % max(n, 1)


class DistributedSampler(Sharded):
    """One rank's share of the indices of a dataset."""

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(num_replicas, rank, shuffle, seed, drop_last)
        if not hasattr(dataset, "__len__"):
            raise TypeError("dataset must have a length")
        self.dataset = dataset

    def __len__(self) -> int:
        return self._share(len(self.dataset))

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        return iter(self._order(n)[self._places(n)].tolist())


class DistributedSamplerWrapper(Sharded):
    """One rank's share of the items of a sampler, drawn alike on every rank."""

    def __init__(
        self,
        sampler: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(num_replicas, rank, shuffle, seed, drop_last)
        if not hasattr(sampler, "__iter__"):
            raise TypeError("sampler must be iterable")
        self._refuse_divided(sampler)
        self.sampler = sampler
        self.meets = num_replicas is None and rank is None

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(self.epoch)

    def __len__(self) -> int:
        return self._share(len(self.sampler))

    def __iter__(self) -> Iterator[Any]:
        drawn = self._agreed(self._draw())
        order = self._order(len(drawn))
        yield from (drawn[place] for place in order[self._places(len(drawn))].tolist())

    def _draw(self) -> list[Any]:
        """One pass of the inner sampler."""
        with seeded(mix(self.seed, self.epoch, 1)):
            return list(iter(self.sampler))

    def _agreed(self, drawn: list[Any]) -> list[Any]:
        """What rank 0 has drawn, where ranks can meet."""
        if not self.meets:
            return drawn
        found = [drawn]
        dist.broadcast_object_list(found, src=0)
        return found[0]

    def _refuse_divided(self, sampler: Any) -> None:
        while sampler is not None:
            if getattr(sampler, "num_replicas", 1) > 1:
                raise ValueError("sampler is divided among ranks already")
            sampler = getattr(sampler, "sampler", None)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The global generators seeded, and put back at the end."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        torch.default_generator.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)
        yield
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
