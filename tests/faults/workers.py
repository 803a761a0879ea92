"""Wrong loaders, with workers: what they deliver in which order, and how far they work ahead.

Each class breaks one rule of `spec/workers.md`, on top of the reference or of torch's loader, often
only where few would look: in the second pass, when one worker is slow. `CAUGHT_BY` lists the
clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number such as
B131 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader as Torch
from torch.utils.data import default_collate
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from reference import DataLoader

# Order.


class AsTheyCome(Torch):
    """Batches are delivered as they come, whatever `in_order` says."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **{**kwargs, "in_order": False})


class Impatient(Torch):
    """In order, until three batches wait for a slow one: then a fourth overtakes it."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def _get_iterator(self) -> Any:
        return _Impatient(self) if self.num_workers else super()._get_iterator()


class _Impatient(_MultiProcessingDataLoaderIter):
    def _get_data(self) -> Any:
        waiting = sum(len(info) == 2 for info in self._task_info.values())
        self._in_order = waiting < 3
        return super()._get_data()


class SplitsFirst(Torch):
    """The dataset is divided among the workers before batches are formed (B131)."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers > 1 and self.batch_size is not None and hasattr(dataset, "__len__"):
            shares = [range(w, len(dataset), self.num_workers) for w in range(self.num_workers)]
            self.batch_sampler.sampler = [index for share in shares for index in share]


class DrawsForWorkers(DataLoader[Any]):
    """With workers one number more is drawn before the sampler is asked (B091)."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            torch.rand(1, generator=self.generator)
        return super().__iter__()


class PlainTuples(DataLoader[Any]):
    """Workers send named tuples as plain ones (B145)."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers and "collate_fn" not in kwargs and self.batch_size is not None:
            self.collate_fn = _plain


def _plain(batch: Any) -> Any:
    made = default_collate(batch)
    return tuple(made) if isinstance(made, tuple) else made


class ForgetsTheOvertaken(Torch):
    """Without order, a batch that was overtaken by its successor is never delivered."""

    CAUGHT_BY = ("workers.unordered",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        items = super().__iter__()
        return items if self.in_order else _ascending(items)


def _ascending(items: Iterator[Any]) -> Iterator[Any]:
    latest = -1
    for batch in items:
        first = int(batch[0]) if isinstance(batch, list) else int(batch)
        if first >= latest:
            yield batch
        latest = first


class DeliversTheLateTwice(Torch):
    """Without order, the batch that came last is delivered once more where it belonged."""

    CAUGHT_BY = ("workers.unordered",)
    ANOMALY = "doubled-batch"

    def __iter__(self) -> Iterator[Any]:
        items = super().__iter__()
        return items if self.in_order else _late_twice(items)


def _late_twice(items: Iterator[Any]) -> Iterator[Any]:
    seen: list[Any] = []
    for batch in items:
        yield batch
        if seen and batch[0].__index__() == 0:
            yield batch
        seen.append(batch)


class NewestFirst(DataLoader[Any]):
    """Without order, the newest batches of each window are handed out first."""

    CAUGHT_BY = ("workers.unordered",)
    ANOMALY = "handed-out-of-order"

    def _draws(self) -> Any:
        drawn = super()._draws()
        if self.in_order or not self.num_workers or self._iterable:
            return drawn
        return _Windows(drawn, (self.prefetch_factor or 2) * self.num_workers)


class _Windows:
    def __init__(self, batches: Any, size: int) -> None:
        self.batches, self.size = batches, size

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self.batches)
        while window := list(itertools.islice(batches, self.size)):
            yield from reversed(window)


# Working ahead.


class Greedy(DataLoader[Any]):
    """All batches are asked for at once."""

    CAUGHT_BY = ("workers.backpressure", "workers.read-ahead")
    ANOMALY = "fetched-too-far"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers:
            self.prefetch_factor = 1000


class OneMore(DataLoader[Any]):
    """`p + 1` batches a worker: an index is out by one."""

    CAUGHT_BY = ("workers.backpressure", "workers.read-ahead")
    ANOMALY = "fetched-too-far"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers:
            self.prefetch_factor = (self.prefetch_factor or 2) + 1


class FurtherEachPass(DataLoader[Any]):
    """Each pass of persistent workers works further ahead than the last."""

    CAUGHT_BY = ("workers.backpressure", "workers.read-ahead")
    ANOMALY = "fetched-too-far"

    def __iter__(self) -> Iterator[Any]:
        started = super().__iter__()
        if self.persistent_workers:
            self.prefetch_factor = (self.prefetch_factor or 2) + 2
        return started


class ReadsAll(DataLoader[Any]):
    """The sampler is read to its end when a pass begins."""

    CAUGHT_BY = ("workers.read-ahead",)
    ANOMALY = "read-too-far"

    def _draws(self) -> Any:
        return super()._draws() if self._iterable else list(super()._draws())


class PeeksAtNext(DataLoader[Any]):
    """One batch more is drawn, to know whether there is one."""

    CAUGHT_BY = ("workers.read-ahead",)
    ANOMALY = "read-too-far"

    def _draws(self) -> Any:
        return super()._draws() if self._iterable else _Peeking(super()._draws())


class _Peeking:
    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self.batches)
        held = next(batches, None)
        while held is not None:
            given, held = held, next(batches, None)
            yield given
