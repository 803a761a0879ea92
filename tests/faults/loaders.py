"""Wrong loaders: what is in their batches, and what is fetched for them.

Each class breaks one rule of `spec/loader.md`, on top of the reference or of torch's loader, often
only where few would look: with three workers, in the second pass, for one kind of item. `CAUGHT_BY`
lists the clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number
such as B042 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import IterableDataset

from reference import BatchSampler, DataLoader, default_collate


class _Around:
    """A dataset around another; what it does not do itself, the other does."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "__getstate__", "__setstate__"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: Any) -> Any:
        return self.inner[index]


class _Wraps(DataLoader[Any]):
    """Puts a dataset of its own around a map-style one."""

    around: Callable[[Any], Any] = _Around

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        sized = not isinstance(dataset, IterableDataset) and hasattr(dataset, "__len__")
        super().__init__(type(self).around(dataset) if sized else dataset, *args, **kwargs)


class _Collates(DataLoader[Any]):
    """Has a default collation of its own; `changed` is applied to what the right one makes."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if kwargs.get("collate_fn") is None and self._batched:
            self.collate_fn = self.merged

    def merged(self, samples: list[Any]) -> Any:
        return default_collate(samples)


# Batches.


class ForgetsDropLast(DataLoader[Any]):
    """`drop_last` is lost on its way (B039)."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *args: Any, drop_last: bool = False, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)


class DropsWithWorkers(DataLoader[Any]):
    """With workers the incomplete last batch is always dropped."""

    CAUGHT_BY = ("loader.batches",)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers and isinstance(self.batch_sampler, BatchSampler):
            self.batch_sampler.drop_last = True
        return super().__iter__()


class BatchInBatch(_Collates):
    """One layer of batching too many (B042)."""

    CAUGHT_BY = ("loader.batches", "loader.collate")
    ANOMALY = "batched-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return default_collate([default_collate(samples)])


class SortsForDisk(DataLoader[Any]):
    """Each batch is fetched in ascending order, and stays so."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def _draws(self) -> Any:
        drawn = super()._draws()
        sortable = self._batched and not self._iterable
        return [sorted(batch) for batch in drawn] if sortable else drawn


class ThirdWorkerFirst(DataLoader[Any]):
    """With three workers the first two batches change places."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "out-of-order"

    def __iter__(self) -> Iterator[Any]:
        passed = super().__iter__()
        if self.num_workers != 3:
            return passed
        first = list(itertools.islice(passed, 2))
        return itertools.chain(first[::-1], passed)


class KeepsFirstPass(DataLoader[Any]):
    """Persistent workers get the batches of the first pass in each later one."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "out-of-order"
    kept: Any = None

    def _draws(self) -> Any:
        if not self.persistent_workers or self._iterable:
            return super()._draws()
        self.kept = self.kept or list(super()._draws())
        return self.kept


class GoesOnAfterBreak(DataLoader[Any]):
    """A pass that was broken off is continued by the next one (B180)."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"
    under_way: Any = None

    def __iter__(self) -> Iterator[Any]:
        self.under_way = super().__iter__() if self.under_way is None else self.under_way
        yield from self.under_way
        self.under_way = None


class IgnoresCollateFn(DataLoader[Any]):
    """With batching off `collate_fn` is not called."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        ignored = {"collate_fn": None} if kwargs.get("batch_size", 1) is None else {}
        super().__init__(dataset, *args, **(kwargs | ignored))


class ShufflesWithRepetition(DataLoader[Any]):
    """`shuffle=True` draws with replacement."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def _own_sampler(self, shuffled: bool) -> Any:
        n = len(self.dataset)
        return [i // 2 for i in range(n)] if shuffled else super()._own_sampler(shuffled)


# Fetches.


class Probes(DataLoader[Any]):
    """The construction looks at the first item, to see what the dataset gives."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "fetched-again"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__") and len(dataset):
            dataset[0]


class _Retries(_Around):
    def __getitem__(self, index: Any) -> Any:
        if index == 3:
            self.inner[index]
        return self.inner[index]


class FetchesAgain(_Wraps):
    """One item of the dataset is fetched twice."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "fetched-again"
    around = _Retries


class FetchesTail(DataLoader[Any]):
    """What `drop_last` drops is fetched all the same."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "foreign-fetch"

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        if self.drop_last and self.sampler is not None and self.batch_size:
            order = list(self.sampler)
            for index in order[len(order) // self.batch_size * self.batch_size :]:
                self.dataset[index]


class _Remembers(_Around):
    def __getitem__(self, index: Any) -> Any:
        kept = vars(self).setdefault("kept", {})
        if index not in kept:
            kept[index] = self.inner[index]
        return kept[index]


class Caches(_Wraps):
    """What was fetched once is not fetched again."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "not-fetched"
    around = _Remembers
