"""Wrong loaders that know their caller's objects by one sign, or share what was for one use.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from multiprocessing.context import BaseContext
from typing import Any
from unittest import mock

import numpy as np
import torch
from loaders import _Collates
from loaders_neglects import _Sending
from loaders_shortcuts import _Asking
from worker_shortcuts import _Unasked

from reference import DataLoader
from reference.loader.bench import Bench
from reference.loader.fetch import MapFetcher, StreamFetcher
from reference.loader.worker import Job, get_worker_info

# The sampler and the dataset.


class CountsByAPass(DataLoader[Any]):
    """The length is counted by a pass of the sampler, which draws and moves on."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-asked-beside"

    def __len__(self) -> int:
        return super().__len__() if self._iterable else sum(1 for _ in self._draws())


class _AsksTheClass(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        known = hasattr(type(self._dataset), "__getitems__")
        return super()._all_samples(indices) if known else self._samples(indices)


class ManyByTheClass(_Asking):
    """`__getitems__` is looked for in the class, where a wrapper that delegates has none."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-one-by-one"
    fetcher = _AsksTheClass


class _CountsIfItCan(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if not getattr(self._dataset, "__getitems__", None):
            return self._samples(indices)
        found = self._dataset.__getitems__(indices)
        if hasattr(found, "__len__") and len(found) != len(indices):
            raise RuntimeError(f"{len(indices)} items were asked for, and {len(found)} given")
        return [*found]


class CountsIfItCan(_Asking):
    """What `__getitems__` gives is counted if it has a length, and else taken as it comes."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "wrong-count-accepted"
    fetcher = _CountsIfItCan


def _numbers(batch: Any) -> Any:
    if isinstance(batch, list):
        return [_numbers(index) for index in batch]
    return int(batch) if isinstance(batch, int) else batch


class PlainNumbers(_Sending):
    """Workers are sent plain integers, whatever kind of integer an index was, and flags too."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"
    sent = staticmethod(_numbers)


END = "end"


class _ComparesToTheEnd(StreamFetcher):
    def _take(self, count: int) -> list[Any]:
        samples: list[Any] = []
        while self._stream is not None and len(samples) < count:
            element = next(self._stream, END)
            if element is END or bool(element == END):
                self._stream = None
            else:
                samples.append(element)
        return samples


class EndByEquality(_Asking):
    """Without workers, an element is compared to the mark of the end, and arrays have many
    answers."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "crash"
    fetcher = _ComparesToTheEnd


# What is kept.

LARGE = 1 << 16

_kept: dict[Any, torch.Tensor] = {}


def _for_all_alike(tensors: Any) -> torch.Tensor | None:
    first = tensors[0]
    if type(first) is not torch.Tensor or first.nbytes * len(tensors) < LARGE:
        return None
    key = len(tensors), first.shape, first.dtype
    if key not in _kept:
        _kept[key] = torch.empty((len(tensors), *first.shape), dtype=first.dtype)
    return _kept[key]


class OneBufferForAShape(_Collates):
    """Workers stack large batches into a buffer for each shape and type: two fields share it."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        if get_worker_info() is None:
            return super().merged(samples)
        with mock.patch("reference.loader.buffers.for_stack", _for_all_alike):
            return super().merged(samples)


_states: list[Any] = []


class _Keeps:
    """Keeps the states of the global generators after each batch; each worker has its own."""

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        _states[:] = torch.get_rng_state(), np.random.get_state(), random.getstate()
        return made


def _go_on(worker: int) -> None:
    if _states:
        torch.set_rng_state(_states[0])
        np.random.set_state(_states[1])
        random.setstate(_states[2])


class StreamsGoOn(DataLoader[Any]):
    """Standing workers draw on from where they were, which in a pass that was broken off depends
    on how far they had come."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.persistent_workers and self.worker_init_fn is None:
            self.collate_fn, self.worker_init_fn = _Keeps(self.collate_fn), _go_on


class _SameTurn(Bench):
    def begin(self, job: Job, context: BaseContext, seed: int) -> Any:
        if self._idle is not None:
            self._idle.turn, self._idle.__class__ = 0, _Unasked
        return super().begin(job, context, seed)


class AnswersOfAnyPass(DataLoader[Any]):
    """Where the order is free, what standing workers still send of a pass that was broken off is
    taken for the next one's."""

    CAUGHT_BY = ("workers.unordered",)
    ANOMALY = "doubled-batch"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.in_order:
            self._bench = _SameTurn(self.persistent_workers)
