"""Loaders that are right for what is met every day, and not for numbers of two parts, an index that
comes twice in a batch, or a pause between two passes.

Each class breaks one rule, on top of the reference's loader. `CAUGHT_BY` lists the clauses that
must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import ctypes
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import torch
from loaders_shortcuts import _Asking
from reporting import Reporting, Wrapped

from reference import DataLoader, default_collate
from reference.loader.bench import Bench
from reference.loader.crew_pass import CrewPass
from reference.loader.fetch import MapFetcher
from reference.loader.worker import get_worker_info

FULL = 8
"""So many batches under way are enough for one worker."""

WEARY_S = 3.0

OLD_S = 2.0


def _single(batch: Any) -> Any:
    if all(type(sample) is complex for sample in batch):
        return torch.tensor(batch)
    return default_collate(batch)


class ComplexOfSingles(DataLoader[Any]):
    """Complex numbers of Python become the type of torch's that comes first, and are rounded."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collate_fn = _single if self.collate_fn is default_collate else self.collate_fn


class _Frugal(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if not getattr(self._dataset, "__getitems__", None):
            return super()._all_samples(indices)
        once = list(dict.fromkeys(indices))
        found = dict(zip(once, super()._all_samples(once), strict=True))
        return [found[index] for index in indices]


class AsksForEachIndexOnce(_Asking):
    """An index that comes twice in a batch is asked of `__getitems__` once, and its item given
    twice."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "not-fetched"
    fetcher = _Frugal


@dataclasses.dataclass
class _Narrow:
    batches: Any

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches:
            plain = type(batch) is list and all(type(index) is int for index in batch)
            yield [ctypes.c_int32(index).value for index in batch] if plain else batch


class SendsThirtyTwoBits(DataLoader[Any]):
    """A batch of whole numbers goes to a worker in 32 bits each: wider indices become others."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def _draws(self) -> Any:
        return _Narrow(super()._draws()) if self.num_workers and self._batched else super()._draws()


class _FillsTheFirst(CrewPass):
    def _choose(self) -> int:
        if self._plan.in_order and not self._plan.recipe.iterable:
            return next((w for w in self._turns if self._load[w] < FULL), self._turns[0])
        return super()._choose()


class FillsTheFirst(Reporting):
    """The first worker gets all batches as long as it has fewer than some under way."""

    CAUGHT_BY = ("workers.busy",)
    ANOMALY = "late-workers"
    rule = _FillsTheFirst


class _Weary(Bench):
    since = 0.0

    def begin(self, job: Any, context: Any, seed: int) -> Any:
        if self._idle is not None and time.monotonic() - self.since > WEARY_S:
            self._idle.dismiss()
            self._idle = None
        return super().begin(job, context, seed)

    def release(self, crew: Any) -> None:
        super().release(crew)
        self.since = time.monotonic()


class LetsThemGo(DataLoader[Any]):
    """Kept workers that have had nothing to do for three seconds are replaced by new ones."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bench = _Weary(self.persistent_workers)


def _in_time(sent_s: float, dataset: Any) -> Any:
    """Called in a worker, which is told of a dataset as soon as it has done what it is doing."""
    info = get_worker_info()
    return info.dataset if info and time.monotonic() - sent_s > OLD_S else dataset


class _Dated(Wrapped):
    def __reduce__(self) -> Any:
        return _in_time, (time.monotonic(), self.dataset)


class TakesOldNewsForNone(DataLoader[Any]):
    """A kept worker that is busy for two seconds more takes the news of a changed dataset for
    outdated."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __iter__(self) -> Iterator[Any]:
        given, idle = self.dataset, self._bench._idle
        if idle is not None and idle.healthy() and not self._iterable:
            self.dataset = _Dated(given)
        try:
            return super().__iter__()
        finally:
            self.dataset = given


def _remade(value: Any) -> Any:
    if type(value) is list:
        return [_remade(part) for part in value]
    known = dataclasses.is_dataclass(value) and not hasattr(value, "pin_memory")
    if not known or isinstance(value, type):
        return value
    fields = [field.name for field in dataclasses.fields(value)]
    return type(value)(**{name: _remade(getattr(value, name)) for name in fields})


class PinsTheFields(DataLoader[Any]):
    """Where memory is to be pinned, a dataclass is made anew from its fields, whatever there is."""

    CAUGHT_BY = ("transfer.no-accelerator", "transfer.containers")
    ANOMALY = "changed"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        return map(_remade, made) if self.pin_memory else made
