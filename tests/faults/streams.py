"""Wrong loaders of streams: each class breaks a rule of `spec/iterable.md`.

Most derive from torch's loader and put a dataset of their own around the caller's, as libraries do.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B149 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

from honest_info import get_worker_info
from torch.utils import data

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


class KindUnset(data.DataLoader):  # type: ignore[type-arg]
    """The items of map-style datasets are kept for later, and those of any dataset are read."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "crash"

    def __init__(self, dataset: Any, *arguments: Any, **options: Any) -> None:
        if not isinstance(dataset, data.IterableDataset):
            self.items = dataset
        self.first_seen = self.items
        super().__init__(dataset, *arguments, **options)
