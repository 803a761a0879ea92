"""Loaders whose author relied on what mostly holds: the order of keys, one rank, an answer soon.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
import plain_loader
import torch
import torch.distributed as dist
from plain_loader import Crew
from reporting import Reporting, Wrapped

from reference import BatchSampler, DataLoader, IterableDataset, get_worker_info
from reference.loader.collate import default_collate, mapped
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch, Ended, Outcome, StreamFetcher
from reference.loader.passes import LonePass


def _by_position(samples: list[Any]) -> Any:
    first = samples[0]
    if not isinstance(first, Mapping):
        return default_collate(samples)
    columns = zip(*(sample.values() for sample in samples), strict=True)
    return {key: _by_position([*column]) for key, column in zip(first, columns, strict=True)}


class ColumnsByPosition(DataLoader[Any]):
    """Of dicts the values are put together by their places, whatever the keys there are."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _by_position


class _Filling(BatchSampler[Any]):
    begun: list[Any]

    def __iter__(self) -> Iterator[list[Any]]:
        self.begun = getattr(self, "begun", [])
        for index in self.sampler:
            self.begun.append(index)
            if len(self.begun) == self.batch_size:
                yield self._taken()
        rest = self._taken()
        if rest and not self.drop_last:
            yield rest

    def _taken(self) -> list[Any]:
        taken, self.begun = self.begun, []
        return taken


class RestOfAFailedBatch(DataLoader[Any]):
    """A batch in which the sampler raises is filled up by the next pass."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if isinstance(self.batch_sampler, BatchSampler) and self.sampler is not None:
            self.batch_sampler = _Filling(self.sampler, self.batch_size or 1, self.drop_last)


class ReadsStreamsByIndex(DataLoader[Any]):
    """A stream that has a length and gives single elements, too, is read like a list."""

    CAUGHT_BY = ("iterable.ends",)
    ANOMALY = "not-iterated"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        kind = type(dataset)
        listed = hasattr(kind, "__len__") and kind.__getitem__ is not IterableDataset.__getitem__
        streams = isinstance(dataset, IterableDataset) and listed
        super().__init__(Wrapped(dataset) if streams else dataset, *args, **options)


def _dense(batch: Any) -> Any:
    sparse = isinstance(batch, torch.Tensor) and batch.layout is not torch.strided
    return batch.to_dense() if sparse else batch


class PinsDense(DataLoader[Any]):
    """With pin_memory=True sparse tensors become dense, which alone can be pinned."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "changed"

    def __iter__(self) -> Iterator[Any]:
        found = super().__iter__()
        return map(_dense, found) if self.pin_memory else found


def _from_the_start(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return mapped(_from_the_start, value)
    if type(value) is not torch.Tensor or not value.storage_offset():
        return value
    whole = value.contiguous()
    return whole.new_empty(0).set_(whole.untyped_storage(), 0, whole.shape, whole.stride())


class _Sent:
    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        batch = self.collate(samples)
        return batch if get_worker_info() is None else _from_the_start(batch)


class ForgetsOffsets(DataLoader[Any]):
    """A part of a tensor arrives from a worker as the beginning of what it is a part of."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.collate_fn = _Sent(self.collate_fn)


class _HalfACrew(Crew):
    def close(self) -> None:
        if len(self.members) == self.loader.num_workers:
            super().close()


class HalfACrewStays(plain_loader.DataLoader):
    """Where a later worker cannot be started, those that were started before live on."""

    CAUGHT_BY = ("lifecycle.failed-construction",)
    ANOMALY = "left-alive"
    crews = _HalfACrew


class _ReadyIsDone(CrewPass):
    def _wait(self, deadline: float) -> None:
        super()._wait(deadline)
        if not self._plan.in_order:
            self._deal(self._plan.ahead + len(self._buffer._ready))


class ReadyIsDone(Reporting):
    """With in_order=False a batch that is ready makes room for another, and not one that is
    delivered."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"
    rule = _ReadyIsDone


class _Numbered:
    def __init__(self, function: Callable[[int], Any]) -> None:
        self.function = function

    def __call__(self, worker: int) -> None:
        info = get_worker_info()
        grouped = dist.is_initialized() and info is not None
        self.function(dist.get_rank() * info.num_workers + worker if grouped else worker)


class NumbersAllRanksWorkers(DataLoader[Any]):
    """In a process group `worker_init_fn` is told a number among the workers of all ranks."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-its-copy"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.worker_init_fn is not None:
            self.worker_init_fn = _Numbered(self.worker_init_fn)


def _settle(release: Callable[[Any], None], crew: Any, load: list[int]) -> None:
    end = time.monotonic() + 20
    while sum(load) > 0 and crew.death is None and time.monotonic() < end:
        for member, message in crew.receive(1, None):
            load[member.id] -= 1
            message.close()
    release(crew)


class AwaitsItsAnswers(DataLoader[Any]):
    """A pass that is left waits for all answers that persistent workers still owe."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass) and self.persistent_workers:
            made._release.cancel()
            owed = (self._bench.release, made._crew, made._load)
            made._release = Finalize(made, _settle, owed)
        return made


class _FourDigits:
    def __init__(self, function: Callable[[int], Any] | None) -> None:
        self.function = function

    def __call__(self, worker: int) -> None:
        info = get_worker_info()
        np.random.seed(info.seed % 10_000 if info else 0)
        if self.function is not None:
            self.function(worker)


class SeedsOfFourDigits(DataLoader[Any]):
    """numpy's stream in a worker has one of ten thousand seeds: in long runs they come again."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    def __iter__(self) -> Iterator[Any]:
        given, self.worker_init_fn = self.worker_init_fn, _FourDigits(self.worker_init_fn)
        try:
            return super().__iter__()
        finally:
            self.worker_init_fn = given


class _SaidOnce(CrewPass):
    said: set[tuple[type, str]]

    def _outcome(self) -> Batch | Failure | None:
        self.said = getattr(self, "said", set())
        while True:
            found = super()._outcome()
            if not isinstance(found, Failure) or found.lasting:
                return found
            text = type(found.error), str(found.error)
            if text not in self.said:
                self.said.add(text)
                return found


class SaysAnErrorOnce(Reporting):
    """From workers, an error like one that this pass has raised is passed over with its batch."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "other-batches"
    rule = _SaidOnce


class _Carrying(StreamFetcher):
    carried: list[Any]

    def _batch(self) -> Outcome:
        size = self._recipe.batch_size or 1
        samples = [*self.carried, *self._take(size - len(self.carried))]
        self.carried.clear()
        if len(samples) < size:
            self.carried.extend(samples)
            return Ended(samples)
        return self._recipe.collated(samples)


class CarriesTheRestOver(DataLoader[Any]):
    """Without workers, what `drop_last` leaves over of a stream begins the next pass."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-repeated"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.carried: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        made: Any = super().__iter__()
        streams = isinstance(made, LonePass) and isinstance(made._fetch, StreamFetcher)
        if streams and self.drop_last:
            made._fetch.__class__, made._fetch.carried = _Carrying, self.carried
        return made
