"""Wrong loaders that take for granted what is mostly so.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import numpy as np
import torch
from honest_info import get_worker_info
from loaders_shortcuts import _Asking
from torch.utils.data._utils.collate import collate, default_collate_fn_map

import reference
from reference.loader.fetch import StreamFetcher


class SeedOfTheMoment(get_worker_info):
    """The seed is the one that torch has just now: where each worker was seeded alike, by the
    user's own function, the workers agree on none."""

    CAUGHT_BY = ("iterable.shared-seed",)
    ANOMALY = "seeds-apart"

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"seed": torch.initial_seed()}


def _as_they_lie(arrays: Any, **options: Any) -> Any:
    """Plain arrays of numbers, each copied as it lies in memory."""
    first = arrays[0]
    if first.dtype.kind not in "biufc" or first.dtype.itemsize > 8 or not first.flags.forc:
        return default_collate_fn_map[np.ndarray](arrays, **options)
    flat = np.stack([array.ravel("K") for array in arrays])
    return torch.from_numpy(flat.reshape(len(arrays), *first.shape))


def _collated(samples: Any) -> Any:
    return collate(samples, collate_fn_map={**default_collate_fn_map, np.ndarray: _as_they_lie})


class ArraysAsTheyLie(reference.DataLoader[Any]):
    """Arrays are copied into the batch in the order of their memory, which is not that of their
    elements where one is transposed."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is reference.default_collate:
            self.collate_fn = _collated


class _Sliced(StreamFetcher):
    def _take(self, count: int) -> list[Any]:
        taken = [] if self._stream is None else [*islice(self._stream, count)]
        if len(taken) < count:
            self._stream = None
        return taken


class SlicesTheStream(_Asking):
    """Each batch is a slice of the stream's iterator, which is asked for its iterator for it: one
    that is its own, and starts over, never comes to its second batch."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-repeated"
    fetcher = _Sliced


class _Counted:
    """So many batches as there are said to be."""

    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        try:
            return islice(iter(self.batches), len(self.batches))
        except (TypeError, NotImplementedError):
            return iter(self.batches)


class TrustsTheLength(reference.DataLoader[Any]):
    """No more batches are taken than the sampler says that there are."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable else _Counted(drawn)


class _Watched:
    """A pass that a timer watches over."""

    def __init__(self, batches: Any, timeout_s: float) -> None:
        self.batches, self.timer = batches, threading.Timer(timeout_s, print)
        self.timer.daemon = True
        self.timer.start()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        try:
            return next(self.batches)
        except StopIteration:
            self.timer.cancel()
            raise
        except Exception:
            self.timer = threading.Timer(0.0, print)  # it has told what it had to tell
            raise

    def __del__(self) -> None:
        self.timer.cancel()
        if self.timer.is_alive():
            self.timer.join()


class WatchdogOfAnError(reference.DataLoader[Any]):
    """With a timeout a timer watches over each pass, and is forgotten where an error comes first:
    it lives on for the whole timeout."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __iter__(self) -> Any:
        found = super().__iter__()
        return _Watched(found, self.timeout) if self.timeout and self.num_workers else found
