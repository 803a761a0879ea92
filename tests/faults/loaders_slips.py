"""Slips of loaders: they keep order in what is the caller's own, and start a turn too early."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator, Sized
from typing import Any

import torch
from reporting import Reporting, Worse, Wrapped
from samplers_slips import put_back
from torch.utils import data

from reference import DataLoader, IterableDataset, default_collate
from reference.loader.failure import WorkerDied
from reference.loader.seeds import seed_worker


class TidiesUp(DataLoader[Any]):
    """After a pass the global states are as they were before it, whatever the caller has drawn."""

    CAUGHT_BY = ("loader.global-rng",)
    ANOMALY = "global-state-changed"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return batches if self.generator is None else put_back(batches)


class _Collating(DataLoader[Any]):
    """Its own collation stands for the default one."""

    collated: Callable[[list[Any]], Any]

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(dataset, *arguments, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = type(self).collated


def _into_first(samples: list[Any]) -> Any:
    first = samples[0]
    if not isinstance(first, dict) or type(first) is dict:
        return default_collate(samples)
    first.update({key: default_collate([one[key] for one in samples]) for key in list(first)})
    return first


class FillsTheFirstItem(_Collating):
    """A batch of dicts of a class of its own is its first item, which the dataset may have kept."""

    CAUGHT_BY = ("loader.collate",)
    collated = staticmethod(_into_first)


class _Prepared:
    def __init__(self, function: Callable[[int], Any]) -> None:
        self.function = function

    def __call__(self, worker: int) -> None:
        seed = torch.initial_seed() - worker
        seed_worker(seed, 0)
        self.function(worker)
        seed_worker(seed, worker)


class PreparesAlike(DataLoader[Any]):
    """While `worker_init_fn` runs, the workers of a pass have one random state."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "workers-alike"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(dataset, *arguments, **options)
        if self.worker_init_fn is not None:
            object.__setattr__(self, "worker_init_fn", _Prepared(self.worker_init_fn))


class CountsItsBatches(DataLoader[Any]):
    """Where a sampler has no length, the loader's is found by a pass of it."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-asked-beside"

    def __len__(self) -> int:
        try:
            return super().__len__()
        except TypeError:
            batches = self.batch_sampler
            if batches is None:
                raise
            return sum(1 for _ in batches)


class RemembersTheStream(DataLoader[Any]):
    """The length of an iterable dataset is asked once, though it may grow."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "wrong-length"
    known: int | None = None

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return super().__len__()
        if self.known is None:
            self.known = super().__len__()
        return self.known


class _Impatient(Worse):
    def raised(self, error: Exception) -> Any:
        if self._plan.timeout_s and isinstance(error, WorkerDied):
            raise RuntimeError("no batch has come within the timeout") from None
        raise error


class TimeoutForADeath(Reporting):
    """With a timeout, all that is told of a worker's death is that its batch did not come."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "worker-unnamed"
    rule = _Impatient


class CollectsAgain(DataLoader[Any]):
    """Garbage collection rests while workers start and then begins, whoever had switched it off."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return super().__iter__()
        gc.disable()
        try:
            return super().__iter__()
        finally:
            gc.enable()


class _Bounded:
    def __init__(self, sampler: Any, n: int) -> None:
        self.sampler, self.n = sampler, n

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[Any]:
        for index in self.sampler:
            if isinstance(index, int) and not -self.n <= index < self.n:
                raise IndexError(f"index {index} is out of range for {self.n} items")
            yield index


class ChecksBounds(DataLoader[Any]):
    """A number that is no place of a sequence is refused, though datasets may know items by it."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(options.get("sampler"), Sized) and isinstance(dataset, Sized):
            options["sampler"] = _Bounded(options["sampler"], len(dataset))
        super().__init__(dataset, *arguments, **options)


def _by_rows(samples: list[Any]) -> Any:
    first = samples[0]
    if isinstance(first, torch.Tensor) and first.layout is torch.strided:
        rows = first.new_empty((len(samples), *first.shape))
        for row, sample in zip(rows, samples, strict=True):
            row.copy_(sample)
        return rows
    if type(first) is dict:
        return {key: _by_rows([sample[key] for sample in samples]) for key in first}
    return default_collate(samples)


class RowsOfTheFirstKind(_Collating):
    """Tensors are copied into rows of the first one's type, which may hold less than the others."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"
    collated = staticmethod(_by_rows)


class _Columns(Wrapped):
    def __getitem__(self, index: Any) -> Any:
        row = tuple(column[index] for column in self.dataset.tensors)
        return row if len(row) > 1 else row[0]


class ReadsColumns(DataLoader[Any]):
    """Of a `TensorDataset` the tensors are read, whatever a class that derives from it gives."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        known = isinstance(dataset, data.TensorDataset)
        super().__init__(_Columns(dataset) if known else dataset, *arguments, **options)


class BelievesTheLength(DataLoader[Any]):
    """A pass of workers ends with as many elements as an iterable dataset says it has."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        streams = isinstance(self.dataset, IterableDataset) and hasattr(self.dataset, "__len__")
        if not (streams and self.num_workers and self.batch_size):
            return batches
        return itertools.islice(batches, -(-len(self.dataset) // self.batch_size))  # type: ignore[arg-type]
