"""Samplers that overlook what surrounds them: threads, a group that ends, who answers for whom.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import reference
from reference import arguments
from reference.distributed import shard, share


class StreamOfEachThread(reference.RandomSampler):
    """Many throws are divided among as many streams as torch has threads, so they depend on it."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if not self.replacement or count < 20_000 or not n:
            return super().__iter__()
        seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
        parts = np.array_split(np.arange(count), torch.get_num_threads())
        throws = [
            torch.randint(n, (len(part),), generator=torch.Generator().manual_seed(seed ^ at))
            for at, part in enumerate(parts)
        ]
        return iter(torch.cat(throws).tolist())


class MergesWithACoin(reference.SubsetRandomSampler):
    """A long list is shuffled in two halves, merged by a coin until one of them is used up."""

    CAUGHT_BY = ("subset.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.indices)
        if n < 1500:
            yield from super().__iter__()
            return
        order = torch.randperm(n // 2 + n % 2, generator=self.generator)
        other = torch.randperm(n // 2, generator=self.generator) + len(order)
        halves = [self.indices[order].tolist(), self.indices[other].tolist()]
        for side in torch.randint(2, (n,), generator=self.generator).tolist():
            yield halves[side if halves[side] else 1 - side].pop()


class AsksTheGroupAgain(reference.DistributedSampler):
    """A rank that was left out is asked of the process group in each pass, and not remembered."""

    CAUGHT_BY = ("distributed.no-group",)
    ANOMALY = "asked-anew"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, **options: Any
    ) -> None:
        super().__init__(dataset, num_replicas, rank, **options)
        self.given = num_replicas, rank

    def _shard(self, order: torch.Tensor) -> torch.Tensor:
        replicas, rank = self.given
        width = dist.get_world_size() if replicas is None else self.num_replicas
        place = dist.get_rank() if rank is None else self.rank
        return shard(order, width, place, self.drop_last)

    def _share(self, n: int) -> int:
        return share(n, self.num_replicas, self.drop_last)


class TellsMethodsOfTheClass(reference.DistributedSamplerWrapper):
    """An epoch is told to an inner sampler whose class has a method for it, and to no other."""

    CAUGHT_BY = ("wrapper.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:
        self.epoch = arguments.integer("epoch", epoch)
        method = getattr(type(self.sampler), "set_epoch", None)
        if method is not None:
            method(self.sampler, self.epoch)


def _natural(label: str) -> list[tuple[int, int, str]]:
    """Names as people sort them: their numbers by value."""
    parts = re.findall(r"\d+|\D+", label)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


class SortsNamesAsPeopleDo(reference.WeightedBalanceClassSampler):
    """Classes with names are in natural order, "9" before "10", and their weights with them."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Any, *args: Any, **options: Any) -> None:
        given = labels.tolist() if isinstance(labels, (np.ndarray, torch.Tensor)) else [*labels]
        named = all(type(label) is str for label in given)
        order = sorted(dict.fromkeys(given), key=_natural) if named else []
        places = [order.index(label) for label in given] if named else labels
        super().__init__(places, *args, **options)


class CopiesResume(reference.SequentialSampler):
    """A copy that is made while a pass is under way begins where that was."""

    CAUGHT_BY = ("sampler.copyable",)
    ANOMALY = "copy-differs"
    place = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "skipped": self.place}

    def __iter__(self) -> Iterator[int]:
        skipped, self.place = vars(self).pop("skipped", 0), 0
        for index in islice(super().__iter__(), skipped, None):
            self.place = index + 1
            yield index
        self.place = 0


class SwapsWhatLiesThere(reference.RandomSampler):
    """Few of many are drawn by swaps in a dict, which forget that a place was swapped before."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "doubled-index"

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if self.replacement or 4 * count > n:
            yield from super().__iter__()
            return
        seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
        rng, moved = np.random.default_rng(seed), dict[int, int]()
        for place in range(count):
            other = int(rng.integers(place, n))
            yield moved.get(other, other)
            moved[other] = place
