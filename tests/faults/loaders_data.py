"""Wrong loaders: lengths, and what datasets lack or offer.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it. A number such as B108 is a row of the corpus of
reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from loaders import _Around, _Wraps
from torch.utils.data import DataLoader as Torch
from torch.utils.data import IterableDataset

from reference import BatchSampler, DataLoader

# Lengths.


class CountsItems(DataLoader[Any]):
    """The length is that of the dataset."""

    CAUGHT_BY = ("loader.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return len(self.dataset)


class RoundsDown(DataLoader[Any]):
    """The length does not count an incomplete batch."""

    CAUGHT_BY = ("loader.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        whole = isinstance(self.batch_sampler, BatchSampler) and self.batch_size
        return len(self.dataset) // self.batch_size if whole else super().__len__()  # type: ignore[operator]


class CountsDown(DataLoader[Any]):
    """The length is what is left of the pass that is under way."""

    CAUGHT_BY = ("loader.length",)
    ANOMALY = "wrong-length"
    given = 0

    def __len__(self) -> int:
        return super().__len__() - self.given

    def __iter__(self) -> Iterator[Any]:
        for self.given, batch in enumerate(super().__iter__(), start=1):
            yield batch


class RefusesEmpty(DataLoader[Any]):
    """An empty dataset is refused."""

    CAUGHT_BY = ("loader.empty", "loader.batches")
    ANOMALY = "empty-raises"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if hasattr(dataset, "__len__") and not len(dataset):
            raise ValueError("the dataset is empty")


class AtLeastOne(DataLoader[Any]):
    """The length is never 0, for the sake of those who divide by it."""

    CAUGHT_BY = ("loader.empty", "loader.length")
    ANOMALY = "empty-length"

    def __len__(self) -> int:
        return max(1, super().__len__())


class OneEmptyBatch(DataLoader[Any]):
    """With batching on and workers, an empty dataset gives one empty batch (B080)."""

    CAUGHT_BY = ("loader.empty", "loader.batches")
    ANOMALY = "empty-yields"

    def __iter__(self) -> Iterator[Any]:
        passed = super().__iter__()
        if self.num_workers and self._batched and not self._iterable and not len(self):
            return iter([torch.zeros(0)])
        return passed


class NoShuffledEmpty(Torch):
    """Over an empty dataset `shuffle` is refused (B223)."""

    CAUGHT_BY = ("loader.empty",)
    ANOMALY = "empty-raises"


# What a dataset lacks or offers.


class NeedsLength(DataLoader[Any]):
    """The length of the dataset is asked for, needed or not."""

    CAUGHT_BY = ("loader.unsized",)
    ANOMALY = "length-demanded"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.items = 0 if self._iterable else len(dataset)


class UnsizedIsEmpty(DataLoader[Any]):
    """A dataset without a length counts as empty."""

    CAUGHT_BY = ("loader.unsized",)
    ANOMALY = "length-invented"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        given = "sampler" in kwargs or "batch_sampler" in kwargs
        if (
            not given
            and not isinstance(dataset, IterableDataset)
            and not hasattr(dataset, "__len__")
        ):
            kwargs |= {"sampler": [], "shuffle": None}
        super().__init__(dataset, *args, **kwargs)


class BlamesAttribute(DataLoader[Any]):
    """A missing length shows as an AttributeError from within."""

    CAUGHT_BY = ("loader.unsized",)
    ANOMALY = "length-not-named"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if "sampler" not in kwargs and "batch_sampler" not in kwargs:
            self.items = getattr(dataset, "__len__", None) or dataset.items
        super().__init__(dataset, *args, **kwargs)


class _OneByOne(_Around):
    __getitems__ = None


class OneByOne(_Wraps):
    """`__getitems__` is not called."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-one-by-one"
    around = _OneByOne


class _Halves(_Around):
    @property
    def __getitems__(self) -> Any:
        inner = getattr(self.inner, "__getitems__", None)
        return inner and (lambda batch: inner(batch[:1]) + (inner(batch[1:]) if batch[1:] else []))


class SplitsCalls(_Wraps):
    """The first item of a batch is asked for by a call of its own."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-otherwise"
    around = _Halves


class _Any(_Around):
    def __getattribute__(self, name: str) -> Any:
        found = hasattr(self.inner, name) if name == "__getitems__" else True
        if not found:
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        found: list[Any] = self.inner.__getitems__(indices)
        if len(found) != len(indices):
            raise RuntimeError(f"asked for {len(indices)} items, got {len(found)}")
        return found


class CallsNone(_Wraps):
    """`__getitems__` counts as there when the attribute is, though it may be None."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "none-asked"
    around = _Any


class TrustsAnswers(Torch):
    """The answer of `__getitems__` is collated whatever its length (B110)."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "wrong-count-accepted"


class _Cuts(_Around):
    @property
    def __getitems__(self) -> Any:
        inner = getattr(self.inner, "__getitems__", None)
        return inner and (lambda batch: inner(batch)[: len(batch)])


class CutsLongAnswers(_Wraps):
    """Of an answer that is too long, the first items are taken."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "wrong-count-accepted"
    around = _Cuts
