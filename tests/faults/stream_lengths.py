"""Wrong loaders over streams: lengths, second passes and incomplete batches.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from reporting import Reporting
from torch.utils import data

import reference
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch

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


class _CountsOfWorkers(CrewPass):
    def _leftover(self) -> Batch | Failure | None:
        outcome = super()._leftover()
        return outcome._replace(samples=0) if isinstance(outcome, Batch) else outcome


class CountsWithoutTheRest(Reporting):
    """Batches of what the workers have left over do not count, however often the data came."""

    CAUGHT_BY = ("iterable.unsharded",)
    ANOMALY = "not-told"
    rule = _CountsOfWorkers


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


class _Sized(Iterator[Any]):
    """Batches, as far as they have their size; `last`: a shorter one is the last."""

    def __init__(self, batches: Iterator[Any], size: int, last: bool) -> None:
        self.batches, self.size, self.last, self.ended = batches, size, last, False

    def __next__(self) -> Any:
        while not self.ended:
            batch = next(self.batches)
            if not isinstance(batch, torch.Tensor) or not batch.ndim or len(batch) == self.size:
                return batch
            self.ended = self.last
            if self.last:
                return batch
        raise StopIteration


class ShortIsDropped(reference.DataLoader):  # type: ignore[type-arg]
    """With drop_last, a batch of a stream that collate_fn has made shorter is dropped."""

    CAUGHT_BY = ("iterable.drop-last",)
    ANOMALY = "complete-batch-dropped"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        asked = self._iterable and self.drop_last
        return _Sized(batches, self.batch_size or 1, last=False) if asked else batches


class ShortIsLast(reference.DataLoader):  # type: ignore[type-arg]
    """Without workers, a batch of a stream that collate_fn has made shorter ends the pass."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        asked = self._iterable and not self.num_workers and self.batch_size
        return _Sized(batches, self.batch_size or 1, last=True) if asked else batches
