"""Wrong loaders that meet datasets which are a little peculiar: in what they raise, give or call.

Each class breaks one rule of `spec/loader.md` or `spec/workers.md`. `CAUGHT_BY` lists the clauses
that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from dataclasses import replace
from typing import Any, ClassVar

import torch
from loaders import _Collates
from loaders_shortcuts import _Asking
from torch.utils.data import ConcatDataset
from worker_shortcuts import _Benched

from reference import default_collate
from reference.loader.bench import Bench
from reference.loader.failure import Failure
from reference.loader.fetch import Batch, Ended, Fetcher, MapFetcher, Outcome, Recipe, StreamFetcher
from reference.loader.worker import Job

# What the dataset is asked for.


class _Spanning(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if getattr(self._dataset, "__getitems__", None) and indices:
            self.span = min(indices), max(indices)
        return super()._all_samples(indices)


class SpansTheBatch(_Asking):
    """The smallest and the largest index of a batch are looked for, whatever indices are."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"
    fetcher = _Spanning


class _Slopeless(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        with torch.no_grad():
            return super()._all_samples(indices)


class FetchesWithoutGradients(_Asking):
    """A dataset that needs a gradient to make an item is asked where none is recorded."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"
    fetcher = _Slopeless


class _Parts(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if not isinstance(self._dataset, ConcatDataset):
            return super()._all_samples(indices)
        return [self._part(index) for index in indices]

    def _part(self, index: int) -> Any:
        ends = [0, *self._dataset.cumulative_sizes]
        part = max(0, bisect_right(ends, index) - 1)
        return self._dataset.datasets[part][index - ends[part]]


class ReadsTheParts(_Asking):
    """Of torch's ConcatDataset the parts are read themselves, and places from the end are those of
    the first part."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"
    fetcher = _Parts


class _OneList(MapFetcher):
    kept: ClassVar[list[Any]] = []

    def _samples(self, indices: Any) -> list[Any]:
        self.kept.clear()
        for index in indices:
            self.kept.append(self._dataset[index])
        return [*self.kept]


class OneListForAll(_Asking):
    """The items of a batch are gathered in one list for all loaders, as if none were asked by what
    another one reads."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"
    fetcher = _OneList


class MergesRecords(_Collates):
    """Dataclasses are collated field by field, which no default collation knows."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "foreign-accepted"

    def merged(self, samples: list[Any]) -> Any:
        first = samples[0]
        if not dataclasses.is_dataclass(first) or isinstance(first, type):
            return default_collate(samples)
        names = [field.name for field in dataclasses.fields(first)]
        return {name: default_collate([getattr(one, name) for one in samples]) for name in names}


# What it raises.


class _IfError(MapFetcher):
    def __call__(self, indices: Any) -> Outcome:
        found = super().__call__(indices)
        return found if not isinstance(found, Failure) or found.error else Batch(None)


class AsksTheErrorItself(_Asking):
    """Whether there was an error is asked of the error, and one that is false is a batch of
    nothing."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"
    fetcher = _IfError


class _Cancelled(MapFetcher):
    cancelled = False

    def __call__(self, indices: Any) -> Outcome:
        if self.cancelled:
            return Ended([])
        self.cancelled = True  # until it has come back
        found = super().__call__(indices)
        self.cancelled = False
        return found


class CancelledIsTheEnd(_Asking):
    """After an exception that no handler of Exception sees, a pass without workers is over."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "pass-ended"
    fetcher = _Cancelled


class _Quitting(StreamFetcher):
    def _take(self, count: int) -> list[Any]:
        try:
            return super()._take(count)
        except SystemExit as error:
            if error.code:
                raise
            self._stream = None
            return []


class _MayQuit(Recipe):
    def fetcher(self, dataset: Any) -> Fetcher:
        return _Quitting(self, dataset) if self.iterable else super().fetcher(dataset)


class _QuitBench(Bench):
    def begin(self, job: Job, context: Any, seed: int) -> Any:
        return super().begin(replace(job, recipe=_MayQuit(*job.recipe)), context, seed)


class QuitsInGoodOrder(_Benched):
    """In a worker `sys.exit(0)` of a stream is taken for the end of its data."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"
    bench = _QuitBench
