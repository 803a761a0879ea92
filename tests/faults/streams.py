"""Wrong loaders of streams: each class breaks a rule of `spec/iterable.md`.

Most derive from torch's loader and put a dataset of their own around the caller's, as libraries do.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B149 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import copy
import itertools
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch.distributed as dist
from honest_info import get_worker_info
from torch.utils import data

import reference

# What workers are told.


class NeverTold(get_worker_info):
    """In a worker it says what it says in the main process: nothing (B149)."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-told"

    @classmethod
    def told(cls, info: Any) -> Any:
        return None


class MainIsAWorker(get_worker_info):
    """The main process is told that it is worker 0 of 1."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "told-in-main"

    @classmethod
    def main(cls) -> Any:
        return type("Info", (), {"id": 0, "num_workers": 1, "seed": 0, "dataset": None})()


class CountOfProcessors(get_worker_info):
    """`num_workers` is never more than two, whatever the loader was given."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "wrong-count"

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"num_workers": min(info.num_workers, 2)}


class CountsFromOne(get_worker_info):
    """Workers are numbered from 1 on."""

    CAUGHT_BY = ("iterable.worker-info",)

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"id": info.id + 1}


class SharedNumber(get_worker_info):
    """The third worker has the number of the first."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "number-shared"

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"id": info.id % 2}


class AnotherCopy(get_worker_info):
    """`dataset` is a copy of the worker's copy, so what is set there is lost."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-its-copy"

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"dataset": copy.copy(info.dataset)}


class SeedOfProcess(get_worker_info):
    """The seed is mixed with the number of the process, so workers cannot agree (B162)."""

    CAUGHT_BY = ("iterable.shared-seed",)
    ANOMALY = "seeds-apart"

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"seed": (info.seed ^ os.getpid() << 7) & 2**62 - 1}


class SeedXorNumber(get_worker_info):
    """The seed is base XOR number in place of base plus number: equal for two workers, at times."""

    CAUGHT_BY = ("iterable.shared-seed",)

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        return get_worker_info.facts(info) | {"seed": (info.seed - info.id) ^ info.id}


# Which elements come. `_Around` is a dataset around the caller's.


class _Around(data.IterableDataset):  # type: ignore[type-arg]
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)


def _worker() -> int:
    info = data.get_worker_info()
    return -1 if info is None else int(info.id)


class _Wrapping(data.DataLoader):  # type: ignore[type-arg]
    """A loader whose workers see `AROUND` the dataset."""

    AROUND: type[_Around]

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(dataset, data.IterableDataset):
            dataset = self.AROUND(dataset)
        super().__init__(dataset, *arguments, **options)


class _Untold(_Around):
    def __iter__(self) -> Iterator[Any]:
        data._utils.worker._worker_info = None
        return iter(self.inner)


class InfoForgotten(_Wrapping):
    """Its workers are told nothing, so that each of them gives the whole stream (B149)."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-repeated"
    AROUND = _Untold


class _Peeking(_Around):
    def __iter__(self) -> Iterator[Any]:
        stream = iter(self.inner)
        if _worker() == 2:
            next(stream, None)
        return stream


class PeeksInThirdWorker(_Wrapping):
    """The first element of the third worker is taken for a look, and is not put back."""

    CAUGHT_BY = ("iterable.once", "iterable.drop-last")
    ANOMALY = "element-lost"
    AROUND = _Peeking


class _Cached(_Around):
    def __iter__(self) -> Iterator[Any]:
        if _worker() < 0:
            return iter(self.inner)
        self.kept = getattr(self, "kept", [])
        given = list(self.inner)
        self.kept += given
        return iter(self.kept)


class GrowsWithEachPass(_Wrapping):
    """Workers that stay alive give what they gave before once more; fresh ones are right."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-repeated"
    AROUND = _Cached


# Lengths, and streams that come several times.


class SaysNothing(reference.DataLoader):  # type: ignore[type-arg]
    """Streams that come once for each worker are not told of."""

    CAUGHT_BY = ("iterable.unsharded",)
    ANOMALY = "not-told"

    def _declared(self) -> None:
        return None


class ComparesBatches(reference.DataLoader):  # type: ignore[type-arg]
    """It compares the number of batches with that of elements, as torch does (B150)."""

    CAUGHT_BY = ("iterable.unsharded",)
    ANOMALY = "not-told"

    def _declared(self) -> int | None:
        declared = super()._declared()
        return None if declared is None else declared * (self.batch_size or 1)


class WarnsOfAnything(SaysNothing):
    """It warns of every dataset with workers, map-style ones too, so nobody listens."""

    CAUGHT_BY = ("iterable.unsharded",)
    ANOMALY = "not-told"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            warnings.warn("with workers, data may come more than once", UserWarning, stacklevel=2)
        return super().__iter__()


class LengthOfElements(reference.DataLoader):  # type: ignore[type-arg]
    """The length is that of the dataset, divided; with workers it is a guess (B150)."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        if not self._iterable or self._declared() is None:
            return super().__len__()
        whole, rest = divmod(len(self.dataset), self.batch_size or 1)
        return whole + (rest > 0 and not self.drop_last)


class RoundsUp(reference.DataLoader):  # type: ignore[type-arg]
    """Without workers the incomplete batch counts, even if it is dropped."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        if not self._iterable or self.num_workers or self._declared() is None:
            return super().__len__()
        return -(-len(self.dataset) // (self.batch_size or 1))


class LengthWhereItGoesEven(reference.DataLoader):  # type: ignore[type-arg]
    """With workers the length is told where the whole could be divided evenly, divided or not."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        if not self._iterable or not self.num_workers or self._declared() is None:
            return super().__len__()
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if n % (size * self.num_workers) == 0 else super().__len__()


class LengthIsUnknown(reference.DataLoader):  # type: ignore[type-arg]
    """Where the length cannot be known, it is 0 in place of an error."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return 0 if self._iterable and self.num_workers else super().__len__()


class LengthNotImplemented(reference.DataLoader):  # type: ignore[type-arg]
    """Where the length cannot be known, `list(loader)` fails on a NotImplementedError."""

    CAUGHT_BY = ("iterable.length",)
    ANOMALY = "length-error"

    def __len__(self) -> int:
        if self._iterable and self.num_workers:
            raise NotImplementedError
        return super().__len__()


# Incomplete batches.


class DropLastForgotten(data.DataLoader):  # type: ignore[type-arg]
    """`drop_last` is lost on its way to the workers (B006, B152)."""

    CAUGHT_BY = ("iterable.drop-last",)
    ANOMALY = "incomplete-batch"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(dataset, data.IterableDataset) and options.get("num_workers"):
            options.pop("drop_last", None)
        super().__init__(dataset, *arguments, **options)


class AlwaysDrops(data.DataLoader):  # type: ignore[type-arg]
    """Streams lose their incomplete batches, though nobody asked for it."""

    CAUGHT_BY = ("iterable.drop-last", "iterable.once")
    ANOMALY = "dropped"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(dataset, data.IterableDataset) and options.get("batch_size", 1):
            options["drop_last"] = True
        super().__init__(dataset, *arguments, **options)


class DropsLastBatch(reference.DataLoader):  # type: ignore[type-arg]
    """The last batch is dropped, whether it is complete or not."""

    CAUGHT_BY = ("iterable.drop-last",)
    ANOMALY = "dropped-too-much"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return _all_but_last(batches) if self.drop_last and self._iterable else batches


def _all_but_last(batches: Iterator[Any]) -> Iterator[Any]:
    for _, batch in itertools.pairwise([*batches, None]):
        if batch is not None:
            yield batch


class DropsForEachWorker(data.DataLoader):  # type: ignore[type-arg]
    """Each worker drops its own incomplete batch: torch's loader itself (B151)."""

    CAUGHT_BY = ("iterable.drop-total",)
    ANOMALY = "dropped-for-each-worker"


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
