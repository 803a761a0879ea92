"""Wrong samplers that take what they were given for something simpler than it is.

Each class breaks one rule. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is
what the first of them calls it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any, ClassVar

import numpy as np
import torch

from reference import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedBalanceClassSampler,
    WeightedRandomSampler,
)
from reference import DistributedSamplerWrapper as _Wrapper


class PastTheWrapper(BatchSampler[Any]):
    """The epoch is told to what the inner sampler wraps, in place of the inner sampler."""

    CAUGHT_BY = ("batch.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    @property
    def set_epoch(self) -> Callable[[int], None]:
        held = getattr(self.sampler, "sampler", None)
        found = held if hasattr(held, "set_epoch") else self.sampler
        return found.set_epoch  # type: ignore[no-any-return, union-attr]


class FifteenBits(RandomSampler):
    """Throws below 2**15 are a random number of 15 bits, modulo n."""

    CAUGHT_BY = ("random.replacement-uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if not self.replacement or not 0 < n < 1 << 15:
            return super().__iter__()
        generator = self.generator
        if generator is None:
            seed = torch.empty((), dtype=torch.int64).random_()
            generator = torch.Generator().manual_seed(int(seed))
        drawn = torch.randint(1 << 15, (self.num_samples,), generator=generator)
        return iter((drawn % n).tolist())


class _Blocks:
    """The places of the data, a block at a time: whoever ends with a whole block asks again."""

    def __init__(self, data: Sized) -> None:
        self.data, self.place, self.short = data, 0, False

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.short or self.place >= len(self.data):
            self.short = self.place % 256 > 0 or not self.place
            raise StopIteration
        self.place += 1
        return self.place - 1


class AsksAgainAfterWholeBlocks(SequentialSampler):
    """A pass that ended with a whole block of 256 goes on when the data have grown."""

    CAUGHT_BY = ("sampler.ends",)
    ANOMALY = "not-exhausted"

    def __iter__(self) -> Iterator[int]:
        return iter(_Blocks(self.data_source))


class CopiesWhatItWas(SequentialSampler):
    """A copy is of the length that the sampler had when it was constructed."""

    CAUGHT_BY = ("sampler.copyable",)
    ANOMALY = "copy-differs"

    def __init__(self, data_source: Sized) -> None:
        super().__init__(data_source)
        self.first = len(data_source)

    def __reduce__(self) -> Any:
        return SequentialSampler, (range(self.first),)


class SharesArrays(SubsetRandomSampler):
    """Indices are converted to an array, which copies a list and nothing else."""

    CAUGHT_BY = ("sampler.arguments-copied",)
    ANOMALY = "arguments-aliased"

    def __init__(self, indices: Sequence[int], generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        self.held = np.asarray(indices)

    def __iter__(self) -> Iterator[int]:
        order = torch.randperm(len(self.held), generator=self.generator)
        return iter(self.held[order.numpy()].tolist())


class SharesInTheGivenType(WeightedBalanceClassSampler):
    """Unsigned weights are multiplied by the length in their type, which is too small for that."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        given = np.asarray(weight)
        small = given.dtype.kind == "u"
        products = given * np.asarray(length).astype(given.dtype) if small else weight
        super().__init__(labels, products, length, seed)  # normalised there


class TablesByTheirSum(WeightedRandomSampler):
    """Tables of weights are kept for all samplers, by the number of weights and their sum."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    tables: ClassVar[dict[tuple[int, float], torch.Tensor]] = {}

    def __iter__(self) -> Iterator[int]:
        key = len(self.weights), float(self.weights.sum())
        self.weights = self.tables.setdefault(key, self.weights)
        return super().__iter__()


class SeededUntilItEnds(_Wrapper[Any]):
    """The global generators get their states back at the end of the inner pass, which an error of
    the inner sampler never reaches."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def _draw(self) -> list[Any]:
        states = torch.get_rng_state(), np.random.get_state(), random.getstate()
        torch.default_generator.manual_seed(self.seed + self.epoch)
        np.random.seed(self.seed + self.epoch & 0xFFFFFFFF)
        random.seed(self.seed + self.epoch)
        drawn = super()._draw()
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        return drawn
