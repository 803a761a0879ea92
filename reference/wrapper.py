"""Any sampler divided among ranks, and a sampler seen as a dataset.

The difficulty is that all ranks must divide one and the same sequence. An inner sampler that draws
from a global generator (torch's, numpy's, Python's) would yield another one on each rank, and no
rank would notice (https://github.com/Lightning-AI/pytorch-lightning/pull/12959). So the inner pass
is drawn with all three seeded from (seed, epoch), and they get their own states back. A generator
that the inner sampler owns is out of reach; for that case ranks compare what they have drawn, if
the wrapper was told by torch.distributed which ranks there are.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from reference import arguments
from reference.distributed import ShardedSampler
from reference.sampler import T_co, mix, python_ints


class DistributedSamplerWrapper(ShardedSampler[T_co]):
    """Yields one rank's share of the items of another sampler (Catalyst), batches included.

    The inner sampler is drawn anew for each pass, wholly, when the first item is asked for; its
    order is kept unless `shuffle`. `set_epoch` reaches it too. It needs no length, but without one
    `len(self)` raises TypeError. If neither `num_replicas` nor `rank` is given, the first item of a
    pass is a collective of the process group: every rank has to ask for it.

    Raises RuntimeError if `num_replicas` or `rank` is left out and there is no process group,
    ValueError if the inner sampler is divided among ranks already, and in a pass RuntimeError if
    the inner sampler belies its length or the ranks have drawn different sequences.
    """

    def __init__(
        self,
        sampler: Iterable[T_co],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(num_replicas, rank, shuffle, seed, drop_last)
        self.sampler = arguments.iterable("sampler", sampler)
        self._compare = num_replicas is None and rank is None
        _refuse_divided(sampler)

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(self.epoch)

    def __iter__(self) -> Iterator[T_co]:
        digest = None
        try:
            drawn = self._draw()
            order = self._order(len(drawn))
            if self._compare:
                digest = zlib.crc32(repr([_plain(drawn[k]) for k in order.tolist()]).encode())
        finally:  # A rank whose inner sampler raised takes part too: the others are waiting.
            digests = self._gather(digest)
        if len(set(digests)) > 1:
            raise RuntimeError(
                "sampler yielded different sequences on different ranks, or failed on one; if it"
                " owns a generator, seed that alike on every rank"
            )
        yield from (drawn[k] for k in python_ints(self._shard(order)))

    def __len__(self) -> int:
        return self._share(len(self.sampler))  # type: ignore[arg-type]

    def _pass_seed(self) -> int:
        # Not the seed that an inner sampler may use: one permutation applied twice is less random.
        return mix(super()._pass_seed(), 1)

    def _draw(self) -> list[T_co]:
        with seeded(mix(self.seed, self.epoch)):
            declared = _length(self.sampler)
            drawn = list(iter(self.sampler))
        if declared is not None and declared != len(drawn):
            raise RuntimeError(f"sampler has length {declared}, but yielded {len(drawn)} items")
        return drawn

    def _gather(self, digest: int | None) -> list[int | None]:
        if not self._compare:
            return [digest]
        digests: list[int | None] = [None] * self.num_replicas
        dist.all_gather_object(digests, digest)
        return digests


def _plain(item: Any) -> Any:
    """A tensor or an array as the list that its repr, which leaves elements out, stands for."""
    return item.tolist() if hasattr(item, "tolist") else item


class DatasetFromSampler:
    """One pass of a sampler as a map-style dataset: item k is the k-th yielded one (Catalyst).

    The pass is drawn at the first access and kept. IndexError for an index out of range.
    """

    def __init__(self, sampler: Iterable[Any]) -> None:
        self.sampler = arguments.iterable("sampler", sampler)

    def __len__(self) -> int:
        return len(self.sampler)  # type: ignore[arg-type]

    def __getitem__(self, index: int) -> Any:
        return self._items[index]

    @cached_property
    def _items(self) -> list[Any]:
        return list(iter(self.sampler))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """The global CPU generators seeded with `seed`, and their former states restored at the end."""
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


def _length(sampler: Any) -> int | None:
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):
        return None


def _refuse_divided(sampler: Any) -> None:
    """Dividing twice would show each rank a fraction of its fraction (accelerate issue 3520)."""
    met = set[int]()
    while id(sampler) not in met:  # None leads to itself, and so may a sampler
        met.add(id(sampler))
        if getattr(sampler, "num_replicas", 1) > 1 and hasattr(sampler, "rank"):
            raise ValueError(f"sampler is divided among ranks already: {type(sampler).__name__}")
        sampler = getattr(sampler, "sampler", None)
