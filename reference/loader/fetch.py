"""What a task is: indices in, a batch out. The same code runs in a worker and without workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from reference.loader.failure import Failure, stop_iteration


class Batch(NamedTuple):
    """The outcome of a task that worked.

    samples: how many it holds. reused: several of them were one and the same buffer.
    """

    data: Any
    samples: int = 1
    reused: bool = False


class Ended(NamedTuple):
    """The outcome of a task when the data are at an end. tail: samples too few for a batch."""

    tail: list[Any]


Outcome = Batch | Failure | Ended
Fetcher = Callable[[Any], Outcome]


class Recipe(NamedTuple):
    """How batches are made. batch_size None: each sample is delivered by itself."""

    iterable: bool
    batched: bool
    batch_size: int | None
    drop_last: bool
    collate_fn: Callable[[Any], Any]

    def fetcher(self, dataset: Any) -> Fetcher:
        """Made anew for each pass; for an iterable dataset, this starts its iterator."""
        return StreamFetcher(self, dataset) if self.iterable else MapFetcher(self, dataset)

    def collate(self, samples: Any) -> Any:
        try:
            return self.collate_fn(samples)
        except StopIteration as error:
            raise stop_iteration("collate_fn", error) from error

    def collated(self, samples: list[Any], indices: Sequence[Any] | None = None) -> Batch:
        reused = bool(samples) and repeats_a_buffer(samples, indices)
        return Batch(self.collate(samples), len(samples), reused)


class MapFetcher:
    """Fetches from a map-style dataset by index."""

    def __init__(self, recipe: Recipe, dataset: Any) -> None:
        self._recipe = recipe
        self._dataset = dataset

    def __call__(self, indices: Any) -> Outcome:
        try:
            if not self._recipe.batched:
                return Batch(self._recipe.collate(self._samples([indices])[0]))
            return self._recipe.collated(self._all_samples(indices), indices)
        except Exception as error:
            return Failure(error)

    def _all_samples(self, indices: Any) -> list[Any]:
        if not getattr(self._dataset, "__getitems__", None):
            return self._samples(indices)
        try:
            samples = list(self._dataset.__getitems__(indices))
        except StopIteration as error:
            raise stop_iteration("__getitems__ of the dataset", error) from error
        if len(samples) != len(indices):
            raise RuntimeError(
                f"__getitems__ of the dataset was asked for {len(indices)} items,"
                f" but gave {len(samples)}"
            )
        return samples

    def _samples(self, indices: Any) -> list[Any]:
        try:
            return [self._dataset[index] for index in indices]
        except StopIteration as error:
            raise stop_iteration("__getitem__ of the dataset", error) from error


class StreamFetcher:
    """Fetches the next batch of an iterable dataset. An iterator that has ended is let alone."""

    def __init__(self, recipe: Recipe, dataset: Any) -> None:
        self._recipe = recipe
        try:
            self._stream: Iterator[Any] | None = iter(dataset)
        except StopIteration as error:
            raise stop_iteration("__iter__ of the dataset", error) from error

    def __call__(self, task: Any) -> Outcome:
        try:
            return self._batch() if self._recipe.batched else self._sample()
        except Exception as error:
            return Failure(error)

    def _sample(self) -> Outcome:
        samples = self._take(1)
        return Batch(self._recipe.collate(samples[0])) if samples else Ended([])

    def _batch(self) -> Outcome:
        size = self._recipe.batch_size or 1
        samples = self._take(size)
        if not samples or (self._recipe.drop_last and len(samples) < size):
            return Ended(samples)
        return self._recipe.collated(samples)

    def _take(self, count: int) -> list[Any]:
        samples: list[Any] = []
        while self._stream is not None and len(samples) < count:
            try:
                samples.append(next(self._stream))
            except StopIteration:
                self._stream = None
        return samples


def repeats_a_buffer(samples: list[Any], indices: Sequence[Any] | None) -> bool:
    """Whether different samples are, or begin with, one and the same tensor or array.

    Then the last of them has overwritten the others. One index asked for twice is another matter.
    """
    heads = samples
    if isinstance(samples[0], (tuple, list)):
        heads = [sample[0] for sample in samples if isinstance(sample, (tuple, list)) and sample]
    if len(set(map(id, heads))) == len(heads):
        return False
    buffers = [head for head in heads if isinstance(head, (torch.Tensor, np.ndarray))]
    different = len(buffers) if indices is None else len(set(map(str, indices)))
    return len(set(map(id, buffers))) < min(len(buffers), different)
