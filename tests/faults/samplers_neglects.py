"""Samplers that neglect what they are given: what is asked of it, and what tells it from another.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from torch.utils.data import Subset

import reference


class WalksTheItems(reference.SequentialSampler):
    """Indices are counted along with the items, so what can be asked for any index has no end."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        for index, _ in enumerate(self.data_source):
            yield index


class ClassesByPrint(reference.BalanceClassSampler):
    """Who has which label is remembered by what numpy prints, which of many is only the ends."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"
    _known: ClassVar[dict[Any, list[list[int]]]] = {}

    def __init__(self, labels: Sequence[Any], mode: Any = "downsampling", seed: int = 0) -> None:
        super().__init__(labels, mode, seed)
        printed = str(np.fromiter((one for one in labels), dtype=object))
        self.members = self._known.setdefault((len(labels), printed), self.members)


class IndicesOfTheSubset(reference.SequentialSampler):
    """Over a `Subset` the indices are those that it has into what lies below, and not its own."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __iter__(self) -> Iterator[int]:
        source = self.data_source
        return iter(source.indices if isinstance(source, Subset) else range(len(source)))


class ReplacesByTheShare(reference.WeightedBalanceClassSampler):
    """A share of 4.3 is taken to want more than the four that there are, of which it wants four."""

    CAUGHT_BY = ("balanced.distinct",)
    ANOMALY = "doubled-member"

    def __init__(self, labels: Sequence[Any], weight: Any, length: int, seed: int = 0) -> None:
        super().__init__(labels, weight, length, seed)
        wanted = np.asarray(weight, dtype=np.float64) * length / np.sum(np.asarray(weight, float))
        sizes = [len(indices) for indices in self.members]
        self.too_few = [bool(w > n + 1e-6) for w, n in zip(wanted, sizes, strict=True)]

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([abs(self.seed), self.epoch, self.seed < 0])
        drawn = [
            rng.choice(indices, count, replace=replaced or count > len(indices))
            for indices, count, replaced in zip(
                self.members, self.counts, self.too_few, strict=True
            )
        ]
        return iter(rng.permutation(np.concatenate(drawn)).tolist())


class TargetsTellTheLength(reference.SequentialSampler):
    """A dataset that has `targets` has as many items as these, whatever it says."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(getattr(self.data_source, "targets", self.data_source))))


class ReplaysIterators(reference.BatchSampler[Any]):
    """An inner sampler that is an iterator is listed once, so that it lasts for every pass."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    listed: list[Any] | None = None

    def __iter__(self) -> Iterator[list[Any]]:
        if not isinstance(self.sampler, Iterator):
            yield from super().__iter__()
            return
        if self.listed is None:
            self.listed = list(self.sampler)
        yield from reference.BatchSampler(self.listed, self.batch_size, self.drop_last)
