"""Wrong loaders over streams: ranks, order, the end, and workers without data.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import torch.distributed as dist
from streams import _Around, _worker, _Wrapping
from torch.utils import data

import reference

# Ranks.


class _SecondDivision(_Around):
    def __iter__(self) -> Iterator[Any]:
        world_size = dist.get_world_size() if dist.is_initialized() else 1
        rank = dist.get_rank() if dist.is_initialized() else 0
        return itertools.islice(iter(self.inner), rank, None, world_size)


class DividesAgain(_Wrapping):
    """It divides by rank what the dataset has divided by rank already (B154)."""

    CAUGHT_BY = ("iterable.ranks",)
    ANOMALY = "element-lost"
    AROUND = _SecondDivision


class EmptyRankFails(data.DataLoader):  # type: ignore[type-arg]
    """A rank whose workers have no data raises (B157)."""

    CAUGHT_BY = ("iterable.ranks",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        return _some(super().__iter__())


def _some(batches: Iterator[Any]) -> Iterator[Any]:
    empty = True
    for batch in batches:
        empty = False
        yield batch
    if empty:
        raise RuntimeError("no shard for this rank")


# Order.


class AsTheyCome(data.DataLoader):  # type: ignore[type-arg]
    """Batches of streams are delivered as they come, whatever `in_order` says."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(dataset, data.IterableDataset):
            options["in_order"] = False
        super().__init__(dataset, *arguments, **options)


class GoesOnFromWorker(data.DataLoader):  # type: ignore[type-arg]
    """After the first pass the turns do not begin with worker 0 again (B142)."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"

    def __iter__(self) -> Iterator[Any]:
        self.passes = getattr(self, "passes", -1) + 1
        batches = super().__iter__()
        if not (isinstance(self.dataset, data.IterableDataset) and self.persistent_workers):
            return batches
        return _swapped(batches) if self.passes % 2 else batches


def _swapped(batches: Iterator[Any]) -> Iterator[Any]:
    held = list(itertools.islice(batches, 2))
    yield from reversed(held)
    yield from batches


class WorkerAfterWorker(reference.DataLoader):  # type: ignore[type-arg]
    """All batches of worker 0 come first, then those of worker 1: no turns are taken."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        if not (self._iterable and self.num_workers > 1):
            return batches
        found = list(batches)
        parts = (found[worker :: self.num_workers] for worker in range(self.num_workers))
        return itertools.chain.from_iterable(parts)


# The end of a stream.


class _AskingOnceMore(_Around):
    def __iter__(self) -> Iterator[Any]:
        stream = iter(self.inner)
        yield from stream
        next(stream, None)


class AsksOnceMore(_Wrapping):
    """An iterator of the dataset that has ended is asked whether it really has (B003, B160)."""

    CAUGHT_BY = ("iterable.ends",)
    ANOMALY = "asked-after-end"
    AROUND = _AskingOnceMore


class _IteratedTwice(_Around):
    def __iter__(self) -> Iterator[Any]:
        iter(self.inner)
        return iter(self.inner)


class IteratesTwice(_Wrapping):
    """`__iter__` of the dataset is called for a test, and again for the data."""

    CAUGHT_BY = ("iterable.ends",)
    ANOMALY = "iterated-again"
    AROUND = _IteratedTwice


class _Remembering(_Around):
    def __iter__(self) -> Iterator[Any]:
        if _worker() < 0 or not hasattr(self, "given"):
            self.given = list(self.inner)
        return iter(self.given)


class RemembersData(_Wrapping):
    """Workers that stay alive give the data of the first pass again, and ask for no new ones."""

    CAUGHT_BY = ("iterable.ends",)
    ANOMALY = "not-iterated"
    AROUND = _Remembering


# Workers without data.


class _Failing(_Around):
    def __iter__(self) -> Iterator[Any]:
        first = list(itertools.islice(stream := iter(self.inner), 1))
        if not first and _worker() >= 0:
            raise ValueError(f"worker {_worker()} has no shard")
        return itertools.chain(first, stream)


class NoShardIsAnError(_Wrapping):
    """A worker without data raises (B157)."""

    CAUGHT_BY = ("iterable.no-data",)
    ANOMALY = "crash"
    AROUND = _Failing


class _Waiting(_Failing):
    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except ValueError:
            return self._endless()

    def _endless(self) -> Iterator[Any]:
        threading.Event().wait()
        yield


class WaitsForShard(_Wrapping):
    """A worker without data waits until there are some (B156, B157)."""

    CAUGHT_BY = ("iterable.no-data",)
    ANOMALY = "hang"
    AROUND = _Waiting


class EmptyBatches(data.DataLoader):  # type: ignore[type-arg]
    """A worker without data delivers an empty batch."""

    CAUGHT_BY = ("iterable.no-data",)
    ANOMALY = "empty-batch"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        if not isinstance(self.dataset, data.IterableDataset) or not self.num_workers:
            return batches
        found = list(batches)
        return iter([*found, *([[]] if len(found) < self.num_workers else [])])


class _Flagging(_Failing):
    def __iter__(self) -> Iterator[Any]:
        try:
            return super().__iter__()
        except ValueError:
            return iter(["no data"])


class EndsWithTheFirst(_Wrapping):
    """The pass ends when the first worker has no data, though others have some."""

    CAUGHT_BY = ("iterable.no-data",)
    ANOMALY = "ended-with-it"
    AROUND = _Flagging

    def __iter__(self) -> Iterator[Any]:
        return itertools.takewhile(lambda batch: "no data" not in str(batch), super().__iter__())
