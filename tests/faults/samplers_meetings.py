"""Samplers that meet what nobody thought of: inference mode, a worker, gradients, a mere guess.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import torch
from torch.utils.data import get_worker_info

import reference


class DrawsIntoABuffer(reference.DistributedSampler):
    """The order is drawn into a tensor that is kept, and inference mode makes that its own."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"
    buffer: torch.Tensor | None = None

    def _order(self, n: int) -> torch.Tensor:
        if self.buffer is None or len(self.buffer) != n:
            self.buffer = torch.empty(n, dtype=torch.int64)
        return self.buffer.copy_(super()._order(n))


class SharesWithWorkers(reference.DistributedSampler):
    """A share is divided once more in a loader's worker, as the elements of a stream must be."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def _shard(self, order: torch.Tensor) -> torch.Tensor:
        read, worker = super()._shard(order), get_worker_info()
        return read if worker is None else read[worker.id :: worker.num_workers]


class FreezesLabels(reference.BalanceClassSampler):
    """The caller's array of labels is made read-only, so that nobody changes it."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __init__(self, labels: Any, *args: Any, **options: Any) -> None:
        super().__init__(labels, *args, **options)
        if isinstance(labels, np.ndarray):
            labels.setflags(write=False)


class KeepsTheGraph(reference.WeightedRandomSampler):
    """Weights that are learned are scaled and not detached; what has a history cannot be copied."""

    CAUGHT_BY = ("sampler.copyable",)
    ANOMALY = "not-copyable"

    def __init__(self, weights: Any, *args: Any, **options: Any) -> None:
        super().__init__(weights, *args, **options)
        if isinstance(weights, torch.Tensor) and weights.requires_grad:
            scale = math.frexp(float(weights.detach().max()))[1]
            self.scaled = weights * 2.0**-scale


class GuessesTheLength(reference.BatchSampler[Any]):
    """`operator.length_hint` gives the inner length, and what an iterator guesses with it."""

    CAUGHT_BY = ("batch.length",)
    ANOMALY = "length-invented"

    def __len__(self) -> int:
        count = operator.length_hint(self.sampler, -1)
        if count < 0:
            raise TypeError(f"object of type {type(self.sampler).__name__!r} has no len()")
        whole, rest = divmod(count, self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


class ReadsTheStorage(reference.SubsetRandomSampler):
    """The indices of a tensor are read from its storage, which a column shares with its table."""

    CAUGHT_BY = ("subset.kinds",)
    ANOMALY = "other-indices"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        if isinstance(indices, torch.Tensor) and indices.ndim == 1:
            whole = torch.empty(0, dtype=indices.dtype).set_(indices.untyped_storage())
            indices = whole.tolist()
        super().__init__(indices, generator)


class RewindsAtConstruction(reference.RandomSampler):
    """The generator is put back to its seed as a sampler is built, for all that share it."""

    CAUGHT_BY = ("random.seeded",)
    ANOMALY = "stale-pass"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.generator is not None:
            self.generator.manual_seed(self.generator.initial_seed())
