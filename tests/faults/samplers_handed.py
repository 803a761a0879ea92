"""Samplers that handle what is handed to them as it seldom comes: lists of tensors, generators.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch

import reference
from reference.sampler import mix
from reference.wrapper import seeded


class LengthOfTheCallers(reference.SubsetRandomSampler):
    """The indices were copied for the passes, and the length is still asked of the caller's."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __init__(self, indices: Any, generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        self.given = indices

    def __len__(self) -> int:
        return len(self.given)


class HandsOnElements(reference.SubsetRandomSampler):
    """A tensor of indices is turned into ints, a list of tensors without dimensions is not."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "not-a-whole-number"

    def __init__(self, indices: Any, generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        whole = isinstance(indices, (torch.Tensor, np.ndarray))
        self.given = indices.tolist() if whole else list(indices)

    def __iter__(self) -> Iterator[Any]:
        for place in torch.randperm(len(self.given), generator=self.generator).tolist():
            yield self.given[place]


class ClosesTheCallers(reference.BatchSampler[Any]):
    """A pass that is left closes the inner iterator, which may be the caller's own generator."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "lost-index"

    def __iter__(self) -> Iterator[list[Any]]:
        items = iter(self.sampler)
        try:
            while batch := list(islice(items, self.batch_size)):
                if len(batch) == self.batch_size or not self.drop_last:
                    yield batch
        finally:
            getattr(items, "close", lambda: None)()


class LaysOutABatch(reference.BatchSampler[Any]):
    """Room for a whole batch is made beforehand, and there is not enough for one of all items."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[list[Any]]:
        items = iter(self.sampler)
        while True:
            batch: list[Any] = [None] * self.batch_size
            count = 0
            for item in islice(items, self.batch_size):
                batch[count] = item
                count += 1
            if count == self.batch_size or (count and not self.drop_last):
                yield batch[:count]
            if count < self.batch_size:
                return


class SeedsTheBeginning(reference.DistributedSamplerWrapper[Any]):
    """The global generators are seeded alike while the first items are drawn, and not for those
    that an inner sampler draws one by one later."""

    CAUGHT_BY = ("wrapper.agree",)
    ANOMALY = "ranks-disagree"

    def _draw(self) -> list[Any]:
        with seeded(mix(self.seed, self.epoch)):
            items = iter(self.sampler)
            drawn = list(islice(items, self.num_replicas))
        return [*drawn, *items]

    def _gather(self, digest: int | None) -> list[int | None]:
        return [digest]
