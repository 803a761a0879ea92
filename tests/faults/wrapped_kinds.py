"""Wrong wrappers: each treats some inner samplers otherwise than what they yield would have it.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B099 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from honest import DistributedSamplerWrapper, mix, seeded
from torch.utils import data


class BatchesAnew(DistributedSamplerWrapper):
    """Batches that torch's class would make are formed again, from the items that were theirs."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "batch-broken"

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        if not isinstance(self.sampler, data.BatchSampler):
            return drawn
        items, size = list(itertools.chain(*drawn)), self.sampler.batch_size
        return [items[k : k + size] for k in range(0, len(items), size)]


class ListsOfTuples(DistributedSamplerWrapper):
    """Batches are made lists, whatever they were."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "batch-broken"

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            yield list(item) if isinstance(item, tuple) else item


class ShortBatchesEnd(DistributedSamplerWrapper):
    """A batch that is shorter than the first keeps its place at the end of a shuffled pass."""

    CAUGHT_BY = ("wrapper.uniform",)
    ANOMALY = "not-uniform"

    def _order(self, n: int) -> torch.Tensor:
        if not (self.shuffle and isinstance(self.sampler, data.BatchSampler) and n):
            return super()._order(n)
        return torch.cat([super()._order(n - 1), torch.tensor([n - 1])])


class ReadsTheSource(DistributedSamplerWrapper):
    """Where the inner sampler has a data source, that is what is read, in its order (B103)."""

    CAUGHT_BY = ("wrapper.order",)
    ANOMALY = "inner-order-lost"

    def _draw(self) -> list[Any]:
        source = getattr(self.sampler, "data_source", None)
        return super()._draw() if source is None else list(range(len(source)))


class WeightedOnce(DistributedSamplerWrapper):
    """Of what a weighted sampler has drawn more than once, one is enough (B101)."""

    CAUGHT_BY = ("wrapper.cover",)

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        return list(dict.fromkeys(drawn)) if hasattr(self.sampler, "weights") else drawn


class SeedsTheGenerator(DistributedSamplerWrapper):
    """The generator of the inner sampler is seeded by the epoch: each pass is the first (B045)."""

    CAUGHT_BY = ("wrapper.fresh-draw", "wrapper.inner-untouched")
    ANOMALY = "stale-draw"

    def _draw(self) -> list[Any]:
        generator = getattr(self.sampler, "generator", None)
        if generator is not None:
            generator.manual_seed(mix(self.seed, self.epoch))
        return super()._draw()


class SeedsWithoutTheEpoch(DistributedSamplerWrapper):
    """What the inner sampler draws from is seeded so that ranks agree, and not by the epoch."""

    CAUGHT_BY = ("wrapper.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _draw(self) -> list[Any]:
        with seeded(mix(self.seed)):
            return list(iter(self.sampler))


class SeedsNumpyByFiveBits(DistributedSamplerWrapper):
    """The seed of numpy's global generator has five bits, and 33 epochs have two passes alike."""

    CAUGHT_BY = ("wrapper.epochs-differ",)
    ANOMALY = "stale-epoch"

    def _draw(self) -> list[Any]:
        with seeded(mix(self.seed, self.epoch)):
            np.random.seed(mix(self.seed, self.epoch) % 2**5)
            return list(iter(self.sampler))


class PutsStatesBackAlone(DistributedSamplerWrapper):
    """The global states are put back after a pass is drawn, and were seeded by nobody before it."""

    CAUGHT_BY = ("wrapper.epochs-differ", "wrapper.agree")
    ANOMALY = "stale-epoch"

    def _draw(self) -> list[Any]:
        states = torch.get_rng_state(), np.random.get_state(), random.getstate()
        drawn = list(iter(self.sampler))
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        return drawn


class CountsFullBatches(DistributedSamplerWrapper):
    """The length around a batch sampler counts a short last batch, dropped or not (B070)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        if not isinstance(self.sampler, data.BatchSampler):
            return super().__len__()
        return self._share(-(-len(self.sampler.sampler) // self.sampler.batch_size))


class GuessesLength(DistributedSamplerWrapper):
    """Around an inner sampler without a length, the length is that of the pass before (B037)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        self.count = len(drawn)
        return drawn

    def __len__(self) -> int:
        if hasattr(type(self.sampler), "__len__") or not hasattr(self, "count"):
            return super().__len__()
        return self._share(self.count)


class CountsByReading(DistributedSamplerWrapper):
    """An inner sampler without a length is read once more where the length is asked for."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-draws"

    def __len__(self) -> int:
        if hasattr(type(self.sampler), "__len__"):
            return super().__len__()
        return self._share(sum(1 for _ in self.sampler))


class DropsIfCounted(DistributedSamplerWrapper):
    """`drop_last` has no effect around an inner sampler without a length (B074)."""

    CAUGHT_BY = ("wrapper.cover",)

    def _share(self, n: int) -> int:
        sized = hasattr(type(self.sampler), "__len__")
        return super()._share(n) if sized else -(-n // self.num_replicas)


class BlocksIfEven(DistributedSamplerWrapper):
    """Ranks read blocks where all are equally long, and in turn where they are not (B154)."""

    CAUGHT_BY = ("wrapper.order",)
    ANOMALY = "inner-order-lost"

    def _places(self, n: int) -> torch.Tensor:
        share = self._share(n)
        if n % self.num_replicas:
            return super()._places(n)
        return torch.arange(self.rank * share, (self.rank + 1) * share)


class RefusesItsOwnWorld(DistributedSamplerWrapper):
    """A sampler that is divided over another number of ranks may be divided once more (B072)."""

    CAUGHT_BY = ("wrapper.double",)
    ANOMALY = "sharded-twice"

    def _refuse_divided(self, sampler: Any) -> None:
        if getattr(sampler, "num_replicas", 1) == self.num_replicas:
            super()._refuse_divided(sampler)


class ShufflesUnasked(DistributedSamplerWrapper):
    """`shuffle` is on unless it is turned off (B094)."""

    CAUGHT_BY = ("wrapper.order",)
    ANOMALY = "inner-order-lost"

    def __init__(
        self, sampler: Any, num_replicas: Any = None, rank: Any = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(sampler, num_replicas, rank, shuffle, seed, drop_last)


class MeasuresAtEpochs(DistributedSamplerWrapper):
    """How many items a share has is asked at the construction and when an epoch is announced."""

    CAUGHT_BY = ("wrapper.cover",)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._measure()

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self._measure()

    def _measure(self) -> None:
        self.known: int | None = None
        if hasattr(self.sampler, "__len__"):
            self.known = super()._share(len(self.sampler))

    def _share(self, n: int) -> int:
        return super()._share(n) if self.known is None or n == 0 else self.known


class MeasuresBeforeItTells(MeasuresAtEpochs):
    """It is asked at each pass or epoch, but of an inner sampler that does not know the epoch."""

    CAUGHT_BY = ("wrapper.cover",)

    def set_epoch(self, epoch: int) -> None:
        self._measure()
        DistributedSamplerWrapper.set_epoch(self, epoch)
        self.told = True

    def __iter__(self) -> Iterator[Any]:
        if not vars(self).pop("told", False):
            self._measure()
        return super().__iter__()

    def __len__(self) -> int:
        if not vars(self).get("told", False):
            self._measure()
        return super().__len__()


class MeasuresAndDraws(DistributedSamplerWrapper):
    """One `try` holds the question for a length and the pass: a TypeError begins another pass."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-lost"

    def _draw(self) -> list[Any]:
        try:
            self.expected = len(self.sampler)
            return super()._draw()
        except TypeError:
            return super()._draw()
