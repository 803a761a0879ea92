"""Wrong loaders: what one loader was given another one over the same dataset goes by.

Each class breaks one rule, on top of the reference's loader. `CAUGHT_BY` lists the clauses that
must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from reference import DataLoader
from reference.loader.bench import Bench


class TakesWorkersOver(DataLoader[Any]):
    """Standing workers go to the next loader over the dataset, and collate as for the first."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    benches: ClassVar[WeakKeyDictionary[Any, Bench]] = WeakKeyDictionary()

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if self.persistent_workers and _can_be_kept_by(self.dataset):
            self._bench = self.benches.setdefault(self.dataset, self._bench)


class CollatesPerDataset(DataLoader[Any]):
    """What collates is remembered by dataset, and a later loader's `collate_fn` is not heard."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    chosen: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if _can_be_kept_by(self.dataset):
            self.collate_fn = self.chosen.setdefault(self.dataset, self.collate_fn)


def _can_be_kept_by(key: Any) -> bool:
    """Whether a `WeakKeyDictionary` takes it."""
    return type(key).__hash__ is not None and hasattr(key, "__weakref__")
