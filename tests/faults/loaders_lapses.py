"""Wrong loaders: right but in one moment or surrounding that their author did not think of.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. Those of what workers do are in `worker_lapses.py`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

from loaders import _Collates
from loaders_shortcuts import _Asking
from torch.utils.data._utils import worker as torch_worker

import reference
from reference import default_collate
from reference.loader import worker
from reference.loader.fetch import MapFetcher

# What is collated.


class CountsAdded(_Collates):
    """The batch is a copy of the first item that is updated, and a Counter adds what it is updated
    with."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        found = default_collate(samples)
        if not isinstance(found, Counter):
            return found
        clone = copy.copy(samples[0])
        clone.update(found)
        return clone


class TakesTextsApart(_Collates):
    """Only `str` and `bytes` themselves are texts; numpy's are sequences of characters."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        first = samples[0]
        if isinstance(first, (str, bytes)) and type(first) not in (str, bytes):
            return [self.merged(list(column)) for column in zip(*samples, strict=True)]
        return default_collate(samples)


# What is read, and when.


class ForgetsItsWorker(reference.DataLoader[Any]):
    """A pass without workers forgets which worker it is in: the dataset of an outer loader is told
    nothing after it has read through such a one."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-told"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            worker._info = torch_worker._worker_info = None
        return super().__iter__()


class _Sorted(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if not getattr(self._dataset, "__getitems__", None):
            return super()._all_samples(indices)
        order = sorted(range(len(indices)), key=lambda place: indices[place])
        found = super()._all_samples([indices[place] for place in order])
        return [found[place] for place in order]


class PutBackWrongly(_Asking):
    """Items are asked for in ascending order, and put back by that order and not its inverse."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "items-out-of-place"
    fetcher = _Sorted


class GoesOnAfterAnError(reference.DataLoader[Any]):
    """A pass that was given up after an error is gone on with by the next one."""

    CAUGHT_BY = ("loader.after-error",)

    _delivered = 0

    def __iter__(self) -> Iterator[Any]:
        return _Resumed(self, super().__iter__(), self._delivered)


class _Resumed:
    """One pass; `known` batches of it were delivered in the one before."""

    def __init__(self, loader: GoesOnAfterAnError, batches: Iterator[Any], known: int) -> None:
        self.loader, self.batches, self.known, self.place = loader, batches, known, known
        loader._delivered = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while self.known:
            self.known -= 1
            next(self.batches)
        try:
            batch = next(self.batches)
        except ValueError:
            self.loader._delivered = self.place
            raise
        self.place += 1
        self.loader._delivered = 0
        return batch
