"""Loaders that handle what is handed to them as it seldom comes: one column, a class of its own.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from reporting import Wrapped
from torch.utils.data import BatchSampler, Subset
from worker_shortcuts import _Benched

import reference
from reference import DataLoader, IterableDataset
from reference.loader.bench import Bench
from reference.loader.collate import default_collate
from reference.loader.failure import Failure, stop_iteration
from reference.loader.fetch import Fetcher, Outcome, Recipe
from reference.loader.worker import Job


def _unpacked(samples: list[Any]) -> Any:
    made, first = default_collate(samples), samples[0]
    return made[0] if type(first) is tuple and len(first) == 1 else made


class UnpacksOneColumn(DataLoader[Any]):
    """Tuples of one element are collated to the bare column."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _unpacked


class _Below(Wrapped):
    def __init__(self, dataset: Any) -> None:
        super().__init__(dataset.dataset)
        self.indices = dataset.indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.indices[index]]


class ReadsBelowSubsets(DataLoader[Any]):
    """Items of a `Subset` are read from the dataset below it, whatever its class gives."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        below = isinstance(dataset, Subset)
        super().__init__(_Below(dataset) if below else dataset, *args, **options)


class _Forgiving(IterableDataset[Any]):
    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __getattr__(self, name: str) -> Any:
        if name == "dataset":
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self.dataset
        except RuntimeError as error:
            if not isinstance(error.__cause__, StopIteration):
                raise


class LeakedStopEnds(DataLoader[Any]):
    """What becomes of a StopIteration inside a stream's generator is taken for its end."""

    CAUGHT_BY = ("loader.errors", "workers.errors")
    ANOMALY = "error-lost"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        streams = isinstance(dataset, IterableDataset) and not hasattr(dataset, "__len__")
        super().__init__(_Forgiving(dataset) if streams else dataset, *args, **options)


class _ByCause(Recipe):
    def fetcher(self, dataset: Any) -> Fetcher:
        fetch = super().fetcher(dataset)

        def fetched(task: Any) -> Outcome:
            found = fetch(task)
            cause = found.error.__cause__ if isinstance(found, Failure) else None
            return Failure(cause) if cause and not isinstance(cause, StopIteration) else found

        return fetched


class _CauseBench(Bench):
    def begin(self, job: Job, context: Any, seed: int) -> Any:
        return super().begin(replace(job, recipe=_ByCause(*job.recipe)), context, seed)


class SendsTheCause(_Benched):
    """Of an exception that was raised from another one a worker sends the other one."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"
    bench = _CauseBench


class _Lines:
    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        texts = isinstance(made, list) and all(type(text) is str for text in made)
        return "\n".join(made).splitlines() if texts else made


class SendsLines(DataLoader[Any]):
    """A worker sends a list of texts as one, which is taken apart at the ends of lines."""

    CAUGHT_BY = ("workers.same-order", "loader.collate")
    ANOMALY = "other-collation"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.num_workers:
            self.collate_fn = _Lines(self.collate_fn)


class CutsBatchesAnew(DataLoader[Any]):
    """A batch sampler that derives from torch's is made anew from its sampler and its size."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        given: Any = self.batch_sampler
        if isinstance(given, BatchSampler):
            self.batch_sampler = reference.BatchSampler(
                given.sampler, given.batch_size, given.drop_last
            )


class _Walk:
    def __init__(self, loader: Any) -> None:
        self.loader, self.place = loader, 0

    def __iter__(self) -> _Walk:
        return self

    def __next__(self) -> Any:
        loader, start = self.loader, self.place
        self.place = min(len(loader.dataset), start + (loader.batch_size or 1))
        taken = range(start, self.place)
        if not taken or (loader.drop_last and len(taken) < loader.batch_size):
            self.place = start
            raise StopIteration
        try:
            samples = [loader.dataset[index] for index in taken]
            return loader.collate_fn(samples if loader.batch_size else samples[0])
        except StopIteration as error:
            raise stop_iteration("what makes a batch", error) from error


class EndsForNow(DataLoader[Any]):
    """In order and without workers an iterator that has ended goes on once there are more items."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"

    def __iter__(self) -> Iterator[Any]:
        ordered = isinstance(self.sampler, reference.SequentialSampler)
        plain = ordered and not hasattr(self.dataset, "__getitems__") and not self.pin_memory
        made = "batch_sampler" in vars(self) and isinstance(
            self.batch_sampler, (reference.BatchSampler, type(None))
        )
        return _Walk(self) if plain and made and not self.num_workers else super().__iter__()
