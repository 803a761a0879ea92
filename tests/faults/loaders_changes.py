"""Wrong loaders as a change leaves them that was made for speed or for convenience.

Each class breaks one rule of `spec/workers.md` or `spec/iterable.md`. `CAUGHT_BY` lists the clauses
that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import isgenerator
from itertools import islice
from typing import Any

from streams import _Around, _Wrapping
from torch.utils.data import get_worker_info

from reference import DataLoader


def _as_they_are(samples: Any) -> Any:
    return samples


class _Collated:
    """The batches of a pass whose workers send samples."""

    def __init__(self, samples: Iterator[Any], collate: Callable[[Any], Any]) -> None:
        self.samples, self.collate = samples, collate

    def __iter__(self) -> _Collated:
        return self

    def __next__(self) -> Any:
        return self.collate(next(self.samples))


class CollatesInTheCaller(DataLoader[Any]):
    """Workers send the samples and the caller's process collates, so that samples which cannot be
    sent work without workers only."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return super().__iter__()
        own, self.collate_fn = self.collate_fn, _as_they_are
        try:
            return _Collated(super().__iter__(), own)
        finally:
            self.collate_fn = own


class _Divided(_Around):
    def __iter__(self) -> Iterator[Any]:
        elements, info = iter(self.inner), get_worker_info()
        if info is None or not isgenerator(elements):
            return elements
        return islice(elements, info.id, None, info.num_workers)


class DividesGenerators(_Wrapping):
    """A stream whose `__iter__` is a generator is divided among the workers, as if no such dataset
    asked who it is once the generator runs."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"
    AROUND = _Divided
