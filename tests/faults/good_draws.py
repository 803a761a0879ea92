"""Right drawing samplers that look unlike the reference: none of them may be accused of anything.

They draw with numpy, one item at a time, or by another algorithm.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

import numpy as np
import torch


def seeded(generator: torch.Generator | None) -> np.random.Generator:
    """A numpy generator that follows the caller's, or torch's global one."""
    words = torch.randint(2**31, (4,), generator=generator).tolist()
    return np.random.default_rng(words)


def count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, but is {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, but is {value}")
    return int(value)


class SequentialSampler:
    """Counts with numpy."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        return iter(np.arange(len(self.data_source)).tolist())

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler:
    """Draws lazily with numpy; the blocks of one pass may even be the same."""

    def __init__(self, data_source: Sized, replacement: bool = False,
                 num_samples: int | None = None, generator: Any = None) -> None:  # fmt: skip
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.given = None if num_samples is None else count("num_samples", num_samples)

    def __len__(self) -> int:
        return len(self.data_source) if self.given is None else self.given

    def __iter__(self) -> Iterator[Any]:
        n, total = len(self.data_source), len(self)
        if not total:
            return
        rng = seeded(self.generator)
        if self.replacement:
            for _ in range(total):
                yield int(rng.random() * n)
            return
        order = rng.permutation(n).tolist()
        yield from itertools.islice(itertools.cycle(order), total)


class SubsetRandomSampler:
    """Shuffles by random keys."""

    def __init__(self, indices: Any, generator: Any = None) -> None:
        self.indices = np.array([int(index) for index in indices], dtype=np.int64)
        self.generator = generator

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Any]:
        keys = seeded(self.generator).random(len(self))
        yield from self.indices[np.argsort(keys)].tolist()


class WeightedRandomSampler:
    """Stratified draws with replacement, in random order; a race without."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        given = np.array(torch.as_tensor(weights), dtype=np.float64)
        if given.ndim != 1 or not given.size or not np.isfinite(given).all():
            raise ValueError("weights must be finite, 1-D and not empty")
        if (given < 0).any() or not given.any():
            raise ValueError("weights must not be negative, nor all zero")
        self.total, self.generator = count("num_samples", num_samples), generator
        self.replacement, self.weights = replacement, given / given.max()
        if not replacement and self.total > np.count_nonzero(given):
            raise ValueError("num_samples exceeds the number of weights above 0")

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[Any]:
        rng = seeded(self.generator)
        places = np.flatnonzero(self.weights)
        if not self.replacement:
            arrival = rng.exponential(size=len(places)) / self.weights[places]
            yield from places[np.argsort(arrival)[: self.total]].tolist()
            return
        upper = np.cumsum(self.weights[places])
        strata = (np.arange(self.total) + rng.random(self.total)) / self.total
        drawn = np.searchsorted(upper / upper[-1], strata, side="right")
        yield from places[rng.permutation(drawn)].tolist()


class _Batch(list):  # type: ignore[type-arg]
    """A list that knows that it is a batch."""


class BatchSampler:
    """An iterator class, which polls the inner iterator if the caller asks after the end."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size = sampler, count("batch_size", batch_size)
        self.drop_last = drop_last

    def __len__(self) -> int:
        share = len(self.sampler) / self.batch_size  # type: ignore[arg-type]
        return math.floor(share) if self.drop_last else math.ceil(share)

    def __iter__(self) -> Iterator[Any]:
        return _Batches(iter(self.sampler), self.batch_size, self.drop_last)

    def __getattr__(self, name: str) -> Callable[[int], None]:
        if name == "set_epoch" and "sampler" in vars(self):
            return self.sampler.set_epoch  # type: ignore[attr-defined, no-any-return]
        raise AttributeError(name)


class RestBeforeTheError(BatchSampler):
    """What an error interrupts comes as a short batch, and then the error."""

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        try:
            for item in self.sampler:
                batch.append(item)
                if len(batch) == self.batch_size:
                    yield batch
                    batch = []
        except Exception:
            if batch and not self.drop_last:
                yield batch
            raise
        if batch and not self.drop_last:
            yield batch


class _Batches:
    def __init__(self, items: Iterator[Any], size: int, drop_last: bool) -> None:
        self.items, self.size, self.drop_last, self.ended = items, size, drop_last, False

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        batch = _Batch()
        while len(batch) < self.size and not self.ended:
            try:
                batch.append(next(self.items))
            except StopIteration:
                self.ended = True
        if not batch or (self.drop_last and self.ended):
            self.ended = False
            raise StopIteration
        return batch
