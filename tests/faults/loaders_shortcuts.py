"""Wrong loaders: short ways that are right for what most users give them.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch
from loaders import _Collates
from torch.utils import data
from torch.utils.data import IterableDataset

from reference import DataLoader, default_collate
from reference.loader.fetch import Batch, MapFetcher, Outcome, Recipe, StreamFetcher
from reference.loader.passes import LonePass

# What is collated.


class TakesTensorsBack(_Collates):
    """The tensors of a batch whose list nobody holds any more are written into again."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "overwritten"

    def merged(self, samples: list[Any]) -> Any:
        made = default_collate(samples)
        if self.num_workers or type(made) is not list:
            return made
        self.given = [*getattr(self, "given", ()), made]
        for place in range(len(self.given) - 1):
            if sys.getrefcount(self.given[place]) == 2 and self._filled(self.given[place], made):
                return self.given.pop(place)
        return made

    @staticmethod
    def _filled(old: list[Any], new: list[Any]) -> bool:
        """Whether the tensors of the one could take the values of the other."""
        pairs = [*zip(old, new, strict=False)]
        alike = all(
            isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
            and (a.shape, a.dtype) == (b.shape, b.dtype) for a, b in pairs
        )  # fmt: skip
        if alike := alike and len(old) == len(new):
            for a, b in pairs:
                a.copy_(b)
        return alike


class FirstNumberDecides(_Collates):
    """Where the first number of a column is an int, the floats after it become float32."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return torch.tensor(samples) if type(samples[0]) is int else default_collate(samples)


# What is asked of a dataset.


class _Lists(MapFetcher):
    """Asks for several items at once where the indices are a list."""

    def _all_samples(self, indices: Any) -> list[Any]:
        several = super()._all_samples if isinstance(indices, list) else self._samples
        return several(indices)


class _Always(MapFetcher):
    """Asks for several items at once, with batching off as well."""

    def __call__(self, indices: Any) -> Outcome:
        if self._recipe.batched or not isinstance(indices, list):
            return super().__call__(indices)
        return Batch(self._recipe.collate(self._all_samples(indices)))


class _Asking(DataLoader[Any]):
    """fetcher: how it asks for items without workers, by index or of a stream."""

    fetcher: type[MapFetcher | StreamFetcher]

    def __iter__(self) -> Iterator[Any]:
        made, streams = super().__iter__(), issubclass(self.fetcher, StreamFetcher)
        if isinstance(made, LonePass) and self._iterable is streams:
            way = Recipe(streams, self._batched, self.batch_size, self.drop_last, self.collate_fn)
            if isinstance(made._fetch, StreamFetcher):
                made._fetch.__class__ = self.fetcher  # the dataset was asked for its iterator
            elif not streams:
                made._fetch = self.fetcher(way, self.dataset)
        return made


class TuplesOneByOne(_Asking):
    """`__getitems__` is called for lists alone, and not where a batch of indices is a tuple."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-one-by-one"
    fetcher = _Lists


class ListsAreBatches(_Asking):
    """With batching off, an index that is a list is taken for a batch of indices."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "batched-otherwise"
    fetcher = _Always


# What a sampler is and yields.

_END = object()


class _UntilEqual:
    """The draws of a sampler up to one that equals the mark of the end."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = drawn

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[Any]:
        draws = iter(self.drawn)
        while True:
            found = next(draws, _END)
            if found == _END:
                return
            yield found


class ComparesWithTheEnd(DataLoader[Any]):
    """The end is found by `==`, which an array of several numbers does not answer."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable else _UntilEqual(drawn)


class _Unnamed:
    """A sampler whose class nobody can see."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)


class ExactlyThisClass(DataLoader[Any]):
    """Only torch's own BatchSampler is refused as sampler, and none that derives from it."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, sampler: Any = None, **options: Any) -> None:
        derives = isinstance(sampler, data.BatchSampler) and type(sampler) is not data.BatchSampler
        given = _Unnamed(sampler) if derives else sampler
        super().__init__(dataset, *args, sampler=given, **options)  # type: ignore[misc]


# Ends.


class _Idle(IterableDataset[Any]):
    """A stream with nothing in it where its worker has nothing to do."""

    def __init__(self, dataset: Any, init: Any) -> None:
        self.dataset, self.init, self.idle = dataset, init, False

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if self.idle else iter(self.dataset)

    def begin(self, worker: int) -> None:
        try:
            self.init(worker)
        except StopIteration:
            self.idle = True


class StopsAreIdle(DataLoader[Any]):
    """Over a stream, a worker whose `worker_init_fn` raises StopIteration has nothing to do."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        init = options.get("worker_init_fn")
        if isinstance(dataset, IterableDataset) and init is not None:
            dataset = _Idle(dataset, init)
            options["worker_init_fn"] = dataset.begin
        super().__init__(dataset, *args, **options)
