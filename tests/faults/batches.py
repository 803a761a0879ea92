"""Wrong batches: each class breaks one rule of `spec/batch.md`.

All derive from the reference. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY`
is what the first of them calls it. A number such as B035 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from torch.utils import data

from reference import BatchSampler


class LosesTail(BatchSampler[Any]):
    """The incomplete last batch is lost in any case."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "lost-index"

    def __iter__(self) -> Iterator[list[Any]]:
        return (batch for batch in super().__iter__() if len(batch) == self.batch_size)


class SortsBatches(BatchSampler[Any]):
    """Each batch is sorted, for the sake of the disk."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "reordered"

    def __iter__(self) -> Iterator[list[Any]]:
        return (sorted(batch) for batch in super().__iter__())


class FillsTail(BatchSampler[Any]):
    """The last batch is filled up with its last item."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[list[Any]]:
        for batch in super().__iter__():
            yield batch + batch[-1:] * (self.batch_size - len(batch))


class KeepsFirstPass(BatchSampler[Any]):
    """The batches of the first pass are kept."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "stale-pass"
    kept: Any = None

    def __iter__(self) -> Iterator[list[Any]]:
        self.kept = self.kept or [list(batch) for batch in super().__iter__()]
        return (list(batch) for batch in self.kept)


class KeepsShortTail(BatchSampler[Any]):
    """`drop_last` is forgotten on its way (B039)."""

    CAUGHT_BY = ("batch.sizes", "batch.concatenation", "batch.length")
    ANOMALY = "wrong-size"

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__(sampler, batch_size, False)


class EmptyBatch(BatchSampler[Any]):
    """An empty batch comes last (B080)."""

    CAUGHT_BY = ("batch.sizes",)
    ANOMALY = "wrong-size"

    def __iter__(self) -> Iterator[list[Any]]:
        yield from super().__iter__()
        if not self.drop_last:
            yield []


class Tuples(BatchSampler[Any]):
    """Batches are tuples."""

    CAUGHT_BY = ("batch.sizes",)
    ANOMALY = "not-a-list"

    def __iter__(self) -> Iterator[Any]:
        return map(tuple, super().__iter__())


class Slices(BatchSampler[Any]):
    """Tuples and ranges are sliced, so that their batches are tuples and ranges too."""

    CAUGHT_BY = ("batch.sizes",)
    ANOMALY = "not-a-list"

    def __iter__(self) -> Iterator[Any]:
        whole = self.sampler
        if not isinstance(whole, (tuple, range)):
            yield from super().__iter__()
            return
        end = len(whole) - (len(whole) % self.batch_size if self.drop_last else 0)
        for start in range(0, end, self.batch_size):
            yield whole[start : start + self.batch_size]


class Flat(BatchSampler[Any]):
    """Single items come, and no batches."""

    CAUGHT_BY = ("batch.sizes",)
    ANOMALY = "not-a-list"

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(super().__iter__())


class LengthRoundsUp(BatchSampler[Any]):
    """The length forgets `drop_last` (B039)."""

    CAUGHT_BY = ("batch.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return -(-len(self.sampler) // self.batch_size)  # type: ignore[arg-type]


class LengthZero(BatchSampler[Any]):
    """An inner sampler without a length makes 0."""

    CAUGHT_BY = ("batch.length",)
    ANOMALY = "length-invented"

    def __len__(self) -> int:
        return super().__len__() if hasattr(self.sampler, "__len__") else 0


class OneBuffer(BatchSampler[Any]):
    """All batches are one list (B035)."""

    CAUGHT_BY = ("batch.fresh", "batch.concatenation")
    ANOMALY = "batch-shared"

    def __iter__(self) -> Iterator[list[Any]]:
        buffer: list[Any] = []
        for batch in super().__iter__():
            buffer[:] = batch
            yield buffer


class TwoBuffers(BatchSampler[Any]):
    """The next batch is made in place of the one before the last."""

    CAUGHT_BY = ("batch.fresh",)
    ANOMALY = "batch-shared"

    def __iter__(self) -> Iterator[list[Any]]:
        buffers: list[list[Any]] = [[], []]
        for number, batch in enumerate(super().__iter__()):
            buffers[number % 2][:] = batch
            yield buffers[number % 2]


class KeepsLists(BatchSampler[Any]):
    """A second pass yields the very lists of the first."""

    CAUGHT_BY = ("batch.fresh",)
    ANOMALY = "batch-shared"
    kept: Any = None

    def __iter__(self) -> Iterator[list[Any]]:
        self.kept = self.kept or list(super().__iter__())
        return iter(self.kept)


class OneAhead(BatchSampler[Any]):
    """One batch is drawn ahead."""

    CAUGHT_BY = ("batch.lazy",)
    ANOMALY = "draws-ahead"

    def __iter__(self) -> Iterator[list[Any]]:
        batches = super().__iter__()
        ahead = next(batches, None)
        while ahead is not None:
            batch, ahead = ahead, next(batches, None)
            yield batch


class ListsInner(BatchSampler[Any]):
    """The inner sampler is made a list first."""

    CAUGHT_BY = ("batch.lazy",)
    ANOMALY = "draws-ahead"

    def __iter__(self) -> Iterator[list[Any]]:
        listed = BatchSampler(list(self.sampler), self.batch_size, self.drop_last)
        return BatchSampler.__iter__(listed)


class TrustsLength(BatchSampler[Any]):
    """As many items are drawn as the inner sampler claims to have (B036)."""

    CAUGHT_BY = ("batch.inner-end",)
    ANOMALY = "inner-length-trusted"

    def __iter__(self) -> Iterator[list[Any]]:
        if not hasattr(self.sampler, "__len__"):
            yield from super().__iter__()
            return
        items = iter(self.sampler)
        for number in range(len(self)):
            rest = len(self.sampler) - number * self.batch_size  # type: ignore[arg-type]
            yield [next(items) for _ in range(min(self.batch_size, rest))]


class Polls(BatchSampler[Any]):
    """The inner iterator is asked again after its end, as torch 2.13 does (B003)."""

    CAUGHT_BY = ("batch.no-poll",)
    ANOMALY = "polled-after-end"

    def __iter__(self) -> Iterator[list[Any]]:
        items = iter(self.sampler)
        while batch := [*itertools.islice(items, self.batch_size)]:
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch


class EpochToNobody(BatchSampler[Any]):
    """`set_epoch` is there and goes no further (B098)."""

    CAUGHT_BY = ("batch.set-epoch", "batch.forwards")
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:  # type: ignore[override]
        self.epoch = epoch


class EpochPlusOne(BatchSampler[Any]):
    """The inner sampler is told the next epoch."""

    CAUGHT_BY = ("batch.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:  # type: ignore[override]
        self.sampler.set_epoch(epoch + 1)  # type: ignore[attr-defined]


class TellsOtherEpochs(BatchSampler[Any]):
    """An epoch that is the last one told is not handed on again."""

    CAUGHT_BY = ("batch.set-epoch",)
    ANOMALY = "epoch-not-forwarded"
    told: int | None = None

    def set_epoch(self, epoch: int) -> None:  # type: ignore[override]
        if epoch != self.told:
            self.told = epoch
            self.sampler.set_epoch(epoch)  # type: ignore[attr-defined]


class NoEpochs(data.BatchSampler):
    """torch's own has no `set_epoch`, whatever its inner sampler offers (B098)."""

    CAUGHT_BY = ("batch.forwards", "batch.no-poll")
    ANOMALY = "set-epoch-not-offered"
