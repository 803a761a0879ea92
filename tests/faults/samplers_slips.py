"""Slips of samplers: a number of bits too few, a sum for a hash, a habit taken for a nature."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
import torch

from reference import (
    BatchSampler,
    DistributedSampler,
    DistributedSamplerWrapper,
    RandomSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from reference.sampler import mix
from reference.wrapper import _length, seeded


class SumsForAHash(DistributedSampler):
    """Seed and epoch are hashed by a sum of characters times places, so that far ones meet."""

    CAUGHT_BY = ("distributed.epochs-differ", "distributed.seed")
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        text = f"{self.seed}/{self.epoch}"
        return sum(place * ord(letter) for place, letter in enumerate(text, 1)) + 1000 * len(text)


class RemindsOfTheEpoch(BatchSampler):
    """Each pass tells the inner sampler the epoch anew, also one that its owner has passed by."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "inner-told"
    epoch: int | None = None

    def __iter__(self) -> Iterator[Any]:
        if self.epoch is not None:
            self.sampler.set_epoch(self.epoch)  # type: ignore[attr-defined]
        items = chain(self.sampler)
        while batch := [*islice(items, self.batch_size)]:
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    @property
    def set_epoch(self) -> Any:
        """Offered exactly when the inner sampler has one."""
        inner = self.sampler.set_epoch  # type: ignore[attr-defined]

        def told(epoch: int) -> None:
            inner(epoch)
            self.epoch = epoch

        return told


class FloatsForDraws(WeightedRandomSampler):
    """Uniform numbers of 24 bits choose among millions of weights, which some of them favour."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def _search(self) -> torch.Tensor:
        upper = self.weights.double().cumsum(0)
        thrown = torch.rand(self.num_samples, generator=self.generator)
        return torch.searchsorted(upper, thrown.double() * upper[-1], right=True)


def _states() -> list[Any]:
    return [torch.get_rng_state().tolist(), repr(np.random.get_state()), random.getstate()]


class JudgesByTheFirstPass(DistributedSamplerWrapper):
    """An inner sampler that drew nothing in its first pass is never again read under one seed."""

    CAUGHT_BY = ("wrapper.agree",)
    ANOMALY = "ranks-disagree"
    random: bool | None = None

    def _draw(self) -> list[Any]:
        if self.random is False:
            return self._read()
        with seeded(mix(self.seed, self.epoch)):
            before = _states()
            drawn = self._read()
            self.random = _states() != before
        return drawn

    def _gather(self, digest: Any) -> list[Any]:
        return [digest]

    def _read(self) -> list[Any]:
        declared, drawn = _length(self.sampler), list(iter(self.sampler))
        if declared not in (None, len(drawn)):
            raise RuntimeError(f"sampler has length {declared}, but yielded {len(drawn)} items")
        return drawn


def put_back(items: Iterator[Any]) -> Iterator[Any]:
    """The same items; after the last of them the global states are those from before the first."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    yield from items
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])


class PutsBackWhatItFound(RandomSampler):
    """Global states are put back after a pass, and with them what the caller drew meanwhile."""

    CAUGHT_BY = ("sampler.private-rng",)

    def __iter__(self) -> Iterator[int]:
        items = super().__iter__()
        return items if self.generator is None else put_back(items)


class PicksInNoOrder(WeightedRandomSampler):
    """A few of many weights are picked without being sorted: who comes first says nothing."""

    CAUGHT_BY = ("weighted.first-draw",)
    ANOMALY = "wrong-frequency"

    def _race(self) -> torch.Tensor:
        drawn = super()._race()
        few = 8 <= len(self.weights) / max(1, self.num_samples) < 64
        return drawn.sort().values if few else drawn


class SmallestOfTypes(SubsetRandomSampler):
    """Indices are kept in two or four bytes where so many bits hold them, but for the sign."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "other-indices"

    def __iter__(self) -> Iterator[int]:
        items = list(super().__iter__())
        most = max(items, default=0)
        kind = "int16" if most < 1 << 16 else "int32" if most < 1 << 32 else "int64"
        yield from np.array(items, dtype=np.int64).astype(kind).tolist()


class HashesItsBatches(DistributedSamplerWrapper):
    """Ranks compare hashes of what they drew, which for batches are those of a text."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "crash"

    def _gather(self, digest: Any) -> list[Any]:
        if self._compare and digest is not None:
            drawn = self._draw()
            digest = hash(str(drawn)) if isinstance(drawn[0], list) else digest
        return super()._gather(digest)
