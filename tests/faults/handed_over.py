"""Wrong about what is handed over: datasets, indices and weights of many kinds, and large counts.

All derive from the reference. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY`
is what the first of them calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils import data

from reference import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)  # fmt: skip

CHUNK = 1 << 14


class CountsElements(SequentialSampler):
    """A dataset that is a tensor is measured by its elements, not by its rows."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __len__(self) -> int:
        given = self.data_source
        return given.numel() if isinstance(given, torch.Tensor) else len(given)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))


class CountsParts(RandomSampler):
    """A `ConcatDataset` is as long as the number of its parts."""

    CAUGHT_BY = ("random.permutation",)
    ANOMALY = "wrong-count"

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        whole = isinstance(data_source, data.ConcatDataset)
        super().__init__(data_source.datasets if whole else data_source, replacement, num_samples,
                         generator)  # fmt: skip


class TurnsRangesRound(SubsetRandomSampler):
    """A range is kept the other way round, with its stop for its last index."""

    CAUGHT_BY = ("subset.kinds", "subset.multiset")
    ANOMALY = "other-indices"

    def __init__(self, indices: Any, generator: torch.Generator | None = None) -> None:
        if isinstance(indices, range):
            start, stop, step = indices.start, indices.stop, indices.step
            indices = range(stop - step, start - step, -step)
        super().__init__(indices, generator)


class KeepsEqualTogether(SubsetRandomSampler):
    """The different indices are shuffled, and each comes as often in a row as it was given."""

    CAUGHT_BY = ("subset.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        yield from Counter(super().__iter__()).elements()


class WrapsSums(WeightedRandomSampler):
    """Weights that are small whole numbers are summed in their own type, where the sums wrap."""

    CAUGHT_BY = ("weighted.scale",)
    ANOMALY = "wrong-frequency"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: torch.Generator | None = None) -> None:  # fmt: skip
        super().__init__(weights, num_samples, replacement, generator)
        found = np.asarray(weights)
        if found.dtype.kind in "iu" and replacement:
            sums = np.cumsum(found, dtype=found.dtype).astype(np.float64)
            self.weights = torch.from_numpy(np.diff(np.maximum.accumulate(sums), prepend=0.0))


class RoundsToZero(WeightedRandomSampler):
    """Without replacement the draw is in single precision, where a tiny weight ties with zero."""

    CAUGHT_BY = ("weighted.zero",)
    ANOMALY = "zero-drawn"

    def _race(self) -> torch.Tensor:
        keys = torch.rand(len(self.weights), generator=self.generator, dtype=torch.double)
        arrival = -keys.clamp_(min=1e-300).log() / self.weights.float().double().clamp(min=1e-60)
        return arrival.argsort()[: self.num_samples]


class TakesLimitsIn(WeightedRandomSampler):
    """Draws of single precision that fall on a limit, such as 0.0, belong to the interval below."""

    CAUGHT_BY = ("weighted.zero",)
    ANOMALY = "zero-drawn"

    def _search(self) -> torch.Tensor:
        uniform = torch.rand(self.num_samples, generator=self.generator, dtype=torch.float32)
        upper = self.weights.cumsum(0)
        return torch.searchsorted(upper / upper[-1], uniform.double(), right=False)


class GlobalAfterAChunk(RandomSampler):
    """Of the draws with replacement, those after the first chunk are from the global generator."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement or self.generator is None or len(self) <= CHUNK:
            yield from super().__iter__()
            return
        n, rest = len(self.data_source), len(self) - CHUNK
        yield from torch.randint(n, (CHUNK,), generator=self.generator).tolist()
        yield from torch.randint(n, (rest,)).tolist()


class FixesFaces(RandomSampler):
    """With replacement, the die has as many faces as the dataset had items in the first pass."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "stale-size"

    faces = 0

    def __iter__(self) -> Iterator[int]:
        self.faces = self.faces or len(self.data_source)
        if not self.replacement or not self.faces:
            yield from super().__iter__()
            return
        yield from torch.randint(self.faces, (len(self),), generator=self.generator).tolist()


class RemembersLists(SubsetRandomSampler):
    """What a list or array held when it was first seen is remembered by its identity."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    known: ClassVar[dict[int, tuple[Any, torch.Tensor]]] = {}

    def __init__(self, indices: Any, generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        _, self.indices = self.known.setdefault(id(indices), (indices, self.indices))


class SeedsByDefaultType(RandomSampler):
    """Without a generator, the seed is a random number of the default dtype."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            yield from super().__iter__()
            return
        generator = torch.Generator().manual_seed(int(torch.rand(()).item() * 2**53))
        again = RandomSampler(self.data_source, self.replacement, len(self) or None, generator)
        yield from again


class LeavesArraysToNumpy(SubsetRandomSampler):
    """An array is shuffled by what it came with, under numpy's global state."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-written"

    def __init__(self, indices: Sequence[int], generator: torch.Generator | None = None) -> None:
        super().__init__(indices, generator)
        self.array = isinstance(indices, np.ndarray)

    def __iter__(self) -> Iterator[int]:
        if self.array and self.generator is None:
            return iter(np.random.permutation(self.indices).tolist())
        return super().__iter__()


class ListIsTheBatch(BatchSampler[Any]):
    """A list that fits into one batch is that batch, and whoever changes it changes the list."""

    CAUGHT_BY = ("batch.fresh",)
    ANOMALY = "batch-shared"

    def __iter__(self) -> Iterator[list[Any]]:
        given, size = self.sampler, self.batch_size
        fits = type(given) is list and 0 < len(given) <= size
        if fits and (len(given) == size or not self.drop_last):  # type: ignore[arg-type]
            return iter([given])  # type: ignore[list-item]
        return super().__iter__()


class ScalesInPlace(WeightedRandomSampler):
    """Very large and very small weights are brought near to 1 in the tensor or array given."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __init__(self, weights: Any, *args: Any, **options: Any) -> None:
        scaled = torch.as_tensor(weights, dtype=torch.double)
        if scaled.numel() and (0 < scaled.max() < 1e-6 or 1e6 < scaled.max() < float("inf")):
            scaled /= scaled.max().item()
        super().__init__(scaled, *args, **options)
