"""Wrong wrappers: what `shuffle=True` does, how often the inner sampler is drawn, and by luck.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B076 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import torch
from honest import DistributedSamplerWrapper, mix, seeded, whole

from reference import BatchSampler


class IgnoresShuffle(DistributedSamplerWrapper):
    """A wrapper that is to shuffle keeps the inner order (B076)."""

    CAUGHT_BY = ("wrapper.shuffle", "wrapper.uniform")
    ANOMALY = "not-shuffled"

    def _order(self, n: int) -> torch.Tensor:
        return torch.arange(n)


class ShufflesAlike(DistributedSamplerWrapper):
    """Every epoch is shuffled alike (B052)."""

    CAUGHT_BY = ("wrapper.shuffle", "wrapper.uniform")
    ANOMALY = "stale-epoch"

    def _pass_seed(self) -> int:
        return mix(self.seed)


class ShufflesWithoutSeed(DistributedSamplerWrapper):
    """The epoch alone is the seed of the shuffle (B055)."""

    CAUGHT_BY = ("wrapper.shuffle",)
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(self.epoch)


class StartsElsewhere(DistributedSamplerWrapper):
    """A shuffled pass is the inner one, started elsewhere in each epoch and for each seed."""

    CAUGHT_BY = ("wrapper.uniform",)

    def _order(self, n: int) -> torch.Tensor:
        order = torch.arange(n)
        return order.roll(mix(self.seed, self.epoch) % n) if self.shuffle and n else order


class ShufflesShares(DistributedSamplerWrapper):
    """Each rank shuffles its own share of the inner pass, which never leaves it (B159)."""

    CAUGHT_BY = ("wrapper.uniform",)
    ANOMALY = "not-uniform"

    def _order(self, n: int) -> torch.Tensor:
        return torch.arange(n)

    def _places(self, n: int) -> torch.Tensor:
        places = super()._places(n)
        if not self.shuffle:
            return places
        generator = torch.Generator().manual_seed(self._pass_seed())
        return places[torch.randperm(len(places), generator=generator)]


class DrawsForLength(DistributedSamplerWrapper):
    """The inner sampler is drawn once to be counted, and once more to be divided."""

    CAUGHT_BY = ("wrapper.fresh-draw",)
    ANOMALY = "drawn-twice"

    def _draw(self) -> list[Any]:
        count = sum(1 for _ in iter(self.sampler))
        return super()._draw()[:count]


class TellsAtIter(DistributedSamplerWrapper):
    """The inner sampler hears of the epoch when a pass begins, and again for each pass."""

    CAUGHT_BY = ("wrapper.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:
        self.epoch = whole("epoch", epoch)

    def __iter__(self) -> Iterator[Any]:
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(self.epoch)
        return super().__iter__()


class LuckOfEqualSeeds(DistributedSamplerWrapper):
    """Ranks agree as long as all have seeded their global generators alike (B095)."""

    CAUGHT_BY = ("wrapper.agree",)
    ANOMALY = "ranks-disagree"

    def _draw(self) -> list[Any]:
        with seeded(mix(self.seed, self.epoch, torch.initial_seed())):
            return list(iter(self.sampler))

    def _agreed(self, drawn: list[Any]) -> list[Any]:
        return drawn


class SeedsTorchOnly(DistributedSamplerWrapper):
    """Of the generators that an inner sampler may draw from, only torch's is made equal (B095)."""

    CAUGHT_BY = ("wrapper.agree",)
    ANOMALY = "ranks-disagree"

    def _draw(self) -> list[Any]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(mix(self.seed, self.epoch))
            return list(iter(self.sampler))

    def _agreed(self, drawn: list[Any]) -> list[Any]:
        return drawn


class KeepsAfterError(BatchSampler):
    """What was gathered before an error of the inner sampler begins the next pass."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "items-lost"

    kept: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self.kept = list(self.kept), ()
        try:
            for item in self.sampler:
                batch.append(item)
                if len(batch) == self.batch_size:
                    yield batch
                    batch = []
        except Exception:
            self.kept = tuple(batch)
            raise
        if batch and not self.drop_last:
            yield batch


class CountsForLength(DistributedSamplerWrapper):
    """The length of an inner sampler that has none is counted, which draws it."""

    CAUGHT_BY = ("wrapper.fresh-draw",)
    ANOMALY = "drawn-twice"

    def __len__(self) -> int:
        sized = hasattr(type(self.sampler), "__len__")
        return super().__len__() if sized else self._share(sum(1 for _ in self.sampler))


class TellsTheChain(DistributedSamplerWrapper):
    """Each sampler down the chain is told the epoch, those in between tell it once more."""

    CAUGHT_BY = ("wrapper.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        behind = getattr(self.sampler, "sampler", None)
        while behind is not None:
            if hasattr(behind, "set_epoch"):
                behind.set_epoch(epoch)
            behind = getattr(behind, "sampler", None)


class CutsTheLie(DistributedSamplerWrapper):
    """With drop_last, what an inner sampler yields beyond its length is cut, and nobody told."""

    CAUGHT_BY = ("wrapper.length-lie",)
    ANOMALY = "silent-truncation"

    def _draw(self) -> list[Any]:
        sized = hasattr(type(self.sampler), "__len__")
        if not (sized and self.drop_last):
            return super()._draw()
        with seeded(mix(self.seed, self.epoch)):
            return list(itertools.islice(self.sampler, len(self.sampler)))  # type: ignore[arg-type]


class ShufflesDistinct(DistributedSamplerWrapper):
    """A shuffled pass holds each item once, however often the inner sampler repeats it."""

    CAUGHT_BY = ("wrapper.cover",)

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        return list({repr(item): item for item in drawn}.values()) if self.shuffle else drawn


class ReadsFromItself(DistributedSamplerWrapper):
    """A pass is kept on the wrapper and read from there, so that the next one replaces it."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def __iter__(self) -> Iterator[Any]:
        self.drawn = list(super().__iter__())
        for place in range(len(self.drawn)):
            yield self.drawn[place]


class SignOfTheSeed(DistributedSamplerWrapper):
    """A shuffle is seeded by Python's generator, which takes -1 for 1."""

    CAUGHT_BY = ("wrapper.shuffle",)
    ANOMALY = "seed-ignored"

    def _pass_seed(self) -> int:
        return mix(random.Random(self.seed).getrandbits(62), self.epoch)


class ServesUntilRead(DistributedSamplerWrapper):
    """What was drawn for a pass that was broken off serves for the next pass."""

    CAUGHT_BY = ("wrapper.fresh-draw",)
    ANOMALY = "stale-draw"
    read = True

    def _draw(self) -> list[Any]:
        if self.read:
            self.kept = super()._draw()
        self.read = False
        return self.kept

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        self.read = True
