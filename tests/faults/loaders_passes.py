"""Wrong loaders: the global states, iterators, and what they have delivered.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it. A number such as B108 is a row of the corpus of
reported bugs.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from loaders_errors import _Passing
from torch.utils.data import DataLoader as Torch

from reference import DataLoader

# Global states.


class SeedsNumpy(DataLoader[Any]):
    """Construction seeds numpy's global state from the generator that was given."""

    CAUGHT_BY = ("loader.global-rng",)
    ANOMALY = "global-state-changed"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.generator is not None:
            np.random.seed(self.generator.initial_seed())


class DrawsAnyway(DataLoader[Any]):
    """A pass draws from torch's global generator, though one is given (B011)."""

    CAUGHT_BY = ("loader.global-rng", "loader.draws-nothing")
    ANOMALY = "global-state-changed"

    def __iter__(self) -> Iterator[Any]:
        torch.rand(1)
        return super().__iter__()


class ShufflesWorkers(DataLoader[Any]):
    """With persistent workers each pass begins with a shuffle of the workers, by `random`."""

    CAUGHT_BY = ("loader.global-rng", "loader.draws-alike", "loader.draws-nothing")
    ANOMALY = "global-state-changed"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers:
            random.shuffle(list(range(self.num_workers + 1)))
        return super().__iter__()


class SeedsAtConstruction(DataLoader[Any]):
    """The seed of the workers is drawn by the construction."""

    CAUGHT_BY = ("loader.draws-alike",)
    ANOMALY = "construction-draws"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.seed = int(torch.empty((), dtype=torch.int64).random_())


class SeedForEachWorker(DataLoader[Any]):
    """Each worker has a seed drawn for it."""

    CAUGHT_BY = ("loader.draws-alike",)
    ANOMALY = "draws-otherwise"

    def __iter__(self) -> Iterator[Any]:
        torch.rand(self.num_workers)
        return super().__iter__()


class DrawsOnce(Torch):
    """Persistent workers are seeded in the first pass only (B139)."""

    CAUGHT_BY = ("loader.draws-alike",)
    ANOMALY = "draws-otherwise"


# Iterators.


class OneIterator(Torch):
    """The loader is its own iterator."""

    CAUGHT_BY = ("loader.independent",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Any:
        self.__dict__["passing"] = super().__iter__()
        return self

    def __next__(self) -> Any:
        return next(self.__dict__["passing"])


class SharesOrder(DataLoader[Any]):
    """Two passes that are under way without workers draw from one iterator of the sampler."""

    CAUGHT_BY = ("loader.independent",)
    ANOMALY = "iterators-entangled"
    under_way: Any = None

    def _draws(self) -> Any:
        if self.num_workers or self._iterable:
            return super()._draws()
        self.under_way = self._shared() if self.under_way is None else self.under_way
        return self.under_way

    def _shared(self) -> Iterator[Any]:
        yield from super()._draws()
        self.under_way = None

    def __len__(self) -> int:
        return len(super()._draws())  # type: ignore[arg-type]


class RefusesSecond(DataLoader[Any]):
    """A second iterator is refused as long as one is under way."""

    CAUGHT_BY = ("loader.independent",)
    ANOMALY = "second-refused"
    busy = 0

    def __iter__(self) -> Iterator[Any]:
        if self.busy:
            raise RuntimeError("one pass at a time")
        self.busy += 1
        return self._counted(super().__iter__())

    def _counted(self, right: Iterator[Any]) -> Iterator[Any]:
        yield from right
        self.busy -= 1


class _Restarts:
    """An iterator that does something else after its end."""

    def __init__(self, right: Iterator[Any], after: Callable[[], Any]) -> None:
        self.right, self.after, self.ended = right, after, False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.ended:
            return self.after()
        try:
            return next(self.right)
        except StopIteration:
            self.ended = True
            raise


class StartsOver(_Passing):
    """Asked after its end, an iterator starts the next epoch (B003)."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return _Restarts(right, lambda: next(iter(self)))


class FailsAfterEnd(_Passing):
    """Asked after its end, an iterator with workers raises a RuntimeError."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return _Restarts(right, self._fail) if self.num_workers else right

    def _fail(self) -> Any:
        raise RuntimeError("the workers have gone home")


class SamePersistent(Torch):
    """With persistent workers the next pass revives the iterator of the last."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"


class Aliases(DataLoader[Any]):
    """With batching off an item is delivered as it is, without a copy."""

    CAUGHT_BY = ("loader.reused-buffer",)
    ANOMALY = "overwritten"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if not self._batched and kwargs.get("collate_fn") is None:
            self.collate_fn = lambda item: item


class SaysNothing(_Passing):
    """A buffer that was overwritten within a batch goes unnoticed (B144)."""

    CAUGHT_BY = ("loader.reused-buffer",)
    ANOMALY = "overwritten"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from right
