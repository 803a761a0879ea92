"""Loaders that spare bytes, copies, threads or waiting, and take an index, a text, a length or a
change for less than it is.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np
import torch
from reporting import Reporting, Worse, Wrapped
from worker_shortcuts import _AtFirstNext, _Benched

from reference import DataLoader, get_worker_info
from reference.loader.bench import Bench, _packed
from reference.loader.collate import default_collate
from reference.loader.crew import Crew
from reference.loader.crew_pass import CrewPass
from reference.loader.fetch import Outcome
from reference.loader.worker import Begin, Job

MANY = 64
TEXT_MAX = 8192


class _ByIndex(Wrapped):
    def __getitems__(self, indices: list[Any]) -> list[Any]:
        found = dict(zip(indices, self.dataset.__getitems__(indices), strict=True))
        return [found[index] for index in indices]


class AnswersByIndex(DataLoader[Any]):
    """What `__getitems__` gives is kept by index: of an item that a batch asks for twice, the last
    answer stands in both places."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "answer-doubled"

    def __init__(self, dataset: Any, *more: Any, **options: Any) -> None:
        many = getattr(dataset, "__getitems__", None) is not None and "sampler" in options
        super().__init__(_ByIndex(dataset) if many else dataset, *more, **options)


class _Packed(Iterable[Any]):
    """The batches of a sampler, of which long ones went through 32 bits."""

    def __init__(self, draws: Iterable[Any]) -> None:
        self.draws = draws

    def __iter__(self) -> Iterator[Any]:
        return map(_narrowed, self.draws)

    def __len__(self) -> int:
        return len(self.draws)  # type: ignore[arg-type]


def _narrowed(batch: Any) -> Any:
    plain = type(batch) is list and len(batch) >= MANY and all(type(i) is int for i in batch)
    fits = plain and min(batch) >= -(2**31) and max(batch) < 2**32
    return np.array(batch).astype(np.uint32).tolist() if fits else batch


class PacksManyIndices(DataLoader[Any]):
    """Workers are sent many indices as numbers of 32 bits without a sign."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def _draws(self) -> Iterable[Any]:
        return _Packed(super()._draws()) if self.num_workers else super()._draws()


class _Capped(Worse):
    def raised(self, error: Exception) -> Any:
        if len(str(error)) <= TEXT_MAX:
            raise error
        raise RuntimeError(f"{type(error).__name__}: {str(error)[:TEXT_MAX]}") from None


class CapsTexts(Reporting):
    """Of an error whose text is longer than two pages, the end of the text is lost."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "changed-message"

    rule = _Capped


def _filled(batch: list[Any]) -> Any:
    first = batch[0]
    plain = type(first) is torch.Tensor and not (first.is_sparse or first.is_conj())
    if not plain or any(type(one) is not type(first) or one.dtype != first.dtype for one in batch):
        return default_collate(batch)
    made = torch.empty((len(batch), *first.shape), dtype=first.dtype)
    for row, one in zip(made, batch, strict=True):
        row.copy_(one)
    return made


class FillsRows(DataLoader[Any]):
    """A batch is filled row by row: a tensor that is too short for its row is repeated."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "items-cut"

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _filled


class LazyWithoutEpochs(DataLoader[Any]):
    """Without workers a pass begins when its first batch is asked for, unless what it draws from
    has a `set_epoch` of its own."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        lazy = not self.num_workers and not hasattr(self._draws(), "set_epoch")
        return _AtFirstNext(super().__iter__) if lazy else super().__iter__()


class _Hurried(CrewPass):
    number = 1

    def _next(self) -> Outcome | None:
        some_ended = len(self._turns) < len(self._crew.members)
        if self._plan.items is not None and some_ended and self._items >= self._plan.items:
            return None
        return super()._next()


class EndsWithTheLength(Reporting):
    """Once one worker has nothing more and as much has come as the dataset's length says, the pass
    ends: others may have more."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"

    rule = _Hurried


class _Updated:
    """The attributes of a dataset, for a worker that has the dataset already."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __reduce__(self) -> tuple[Any, ...]:
        return _update, (type(self.dataset), vars(self.dataset))


def _update(kind: type, state: dict[str, Any]) -> Any:
    info = get_worker_info()
    assert info is not None and type(info.dataset) is kind
    vars(info.dataset).update(state)
    return info.dataset


class _Updating(Bench):
    def begin(self, job: Job, context: BaseContext, seed: int) -> Crew:
        crew = self._idle
        stand = crew is not None and crew.healthy() and _is_plain(job.dataset)
        parcel = _packed(_Updated(job.dataset), bool(self._shared)) if stand else None
        if crew is None or parcel is None:
            return super().begin(job, context, seed)
        self._idle = None
        crew.begin(Begin(seed, parcel[0]), parcel[1])
        return crew


def _is_plain(dataset: Any) -> bool:
    names = ("__reduce__", "__reduce_ex__", "__getstate__")
    kind = type(dataset)
    own = all(getattr(kind, name) is getattr(object, name) for name in names)
    return own and hasattr(dataset, "__dict__") and not isinstance(dataset, (list, dict, tuple))


class UpdatesAttributes(_Benched):
    """Standing workers are sent the attributes that a dataset has, and keep those that are gone."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    bench = _Updating


class _OneThread(Bench):
    def begin(self, job: Job, context: BaseContext, seed: int) -> Crew:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        crew = super().begin(job, context, seed)
        torch.set_num_threads(threads)
        return crew


class OneThreadForGood(_Benched):
    """Workers are started with one thread, which the process keeps where they cannot be."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "left-changed"
    bench = _OneThread
