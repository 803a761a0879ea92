"""Slips about workers: what is asked too soon, and what changes on its way from them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from good_worker_failures import _Resuming
from reporting import Reporting, Worse
from worker_shortcuts import _Benched, _Keeping
from worker_streams import _seed_all, _Seeding

from reference import DataLoader, WorkerDied
from reference.loader.bench import _packed


class KnowsItsRankTooSoon(_Seeding):
    """The rank that is a part of the workers' seeds is asked for when the loader is built."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.rank = dist.get_rank() if dist.is_initialized() else 0

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(10_000 * given + 10 * passes + worker)

    def _given(self) -> int:
        return super()._given() + 77 * self.rank


def _tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.nbytes >= 1 << 16:
        return torch.from_numpy(value)
    return [_tensors(each) for each in value] if type(value) is list else value


class ArraysBecomeTensors(DataLoader[Any]):
    """Large arrays travel from workers in shared memory, as tensors, and stay tensors."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return map(_tensors, batches) if self.num_workers else batches


class DrawsAnewAfterADeath(DataLoader[Any]):
    """After a worker's death it goes on behind what it gave, but of a new pass of the sampler."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers or not self.in_order:
            return super().__iter__()
        return _Resuming(super().__iter__)


class _Sparing(_Keeping):
    """Sends a dataset again only if it is small."""

    def stays(self, dataset: Any) -> bool:
        body, descriptor = _packed(dataset) or (b"", None)
        size = len(body)
        if descriptor is not None:
            size += os.fstat(descriptor).st_size
            os.close(descriptor)
        return size > 1 << 20


class LargeOnesAreThereAlready(_Benched):
    """Standing workers are sent the dataset anew for each pass only if it is below a MiB."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    bench = _Sparing


class _Peaceful(Worse):
    """A stream has ended if a worker has left with status 0."""

    def raised(self, error: Exception) -> Any:
        over = self._plan.recipe.iterable and str(error).endswith("exit code 0")
        raise StopIteration if isinstance(error, WorkerDied) and over else error


class LeavesInPeace(Reporting):
    """A worker of a stream that exits with status 0 is taken for one whose data have ended."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"
    rule = _Peaceful


class _Lasting(Worse):
    """The death of a worker is told when no other has anything to do."""

    def _wait(self, deadline: float) -> None:
        super()._wait(deadline)
        while self._crew.death and not self._plan.in_order and not self._buffer:
            others = [m for m in self._crew.members if m.process.is_alive()]
            if not any(self._load[m.id] for m in others):
                return
            time.sleep(0.01)
            super()._wait(deadline)


class TheOthersFirst(Reporting):
    """With `in_order=False` a death is told when no living worker owes anything any more."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _Lasting


class _Pythons:
    """A sampler whose numbers of other kinds are made Python's."""

    def __init__(self, draws: Any) -> None:
        self.draws = draws

    def __iter__(self) -> Iterator[Any]:
        return map(_python, self.draws)


def _python(index: Any) -> Any:
    if isinstance(index, list):
        return [_python(one) for one in index]
    alone = isinstance(index, torch.Tensor) and not index.ndim
    return index.item() if alone or isinstance(index, np.integer) else index


class NumbersArePythons(DataLoader[Any]):
    """What is sent to workers instead of an integer of numpy, or a tensor of one, is an int."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def _draws(self) -> Any:
        draws = super()._draws()
        return _Pythons(draws) if self.num_workers and not self._iterable else draws


class _ByBytes:
    """Makes bytes of each tensor of a list, and a tensor of these."""

    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        return [_by_bytes(one) for one in made] if type(made) is list else made


def _by_bytes(value: Any) -> Any:
    if type(value) is not torch.Tensor or value.layout is not torch.strided or not value.ndim:
        return value
    flat = value.detach().reshape(-1)  # a view, if there is one with a stride of its own
    return flat.view(torch.uint8).view(value.dtype).view(value.shape)


class BytesOfATensor(DataLoader[Any]):
    """What a worker sends of a tensor are its bytes, which a part with a stride does not give."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers and self._batched:
            self.collate_fn = _ByBytes(self.collate_fn)
