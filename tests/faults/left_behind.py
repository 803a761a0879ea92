"""Wrong once something changed: a pass was left, a size is another, the inner sampler failed.

Distributed samplers and wrappers derive from `honest.py`, the others from the reference.
`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from typing import Any

import torch
from honest import DistributedSampler, DistributedSamplerWrapper

from reference import BatchSampler, DatasetFromSampler, SequentialSampler


class WaitsForOpenPasses(DistributedSampler):
    """An epoch that is set while a pass is under way, or was left, is put off for good."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    under_way = 0

    def set_epoch(self, epoch: int) -> None:
        if not self.under_way:
            super().set_epoch(epoch)

    def __iter__(self) -> Iterator[int]:
        share = list(super().__iter__())
        self.under_way += 1
        yield from share
        self.under_way -= 1


class OrderKeptUntilTheEnd(DistributedSampler):
    """The order is computed by the first pass after one that came to its end."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    share: list[int] | None = None

    def __iter__(self) -> Iterator[int]:
        share = self.share = self.share or list(super().__iter__())
        yield from share
        self.share = None


class SizeOfTheFirstLook(SequentialSampler):
    """The first `len` decides how many items all passes have."""

    CAUGHT_BY = ("sampler.resize", "sequential.order")
    ANOMALY = "stale-size"

    looked: int | None = None

    def __len__(self) -> int:
        self.looked = super().__len__() if self.looked is None else self.looked
        return self.looked

    def __iter__(self) -> Iterator[int]:
        return super().__iter__() if self.looked is None else iter(range(self.looked))


class SizeOfTheLastLook(DistributedSampler):
    """Only `len` notices that the dataset has changed its length."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "stale-size"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.n = len(dataset)

    def __len__(self) -> int:
        self.n = len(self.dataset)
        return super().__len__()

    def __iter__(self) -> Iterator[int]:
        return iter(self._order(self.n)[self._places(self.n)].tolist())


class QuotaOfTheFirstDay(DistributedSampler):
    """With drop_last data that have grown are cut to the first share; shrunk ones are refused."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "stale-size"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.quota = super()._share(len(dataset))

    def _share(self, n: int) -> int:
        if self.drop_last and n < self.quota * self.num_replicas:
            raise RuntimeError("the dataset has shrunk")
        return self.quota if self.drop_last else super()._share(n)


class CountsBatchesOnce(BatchSampler[Any]):
    """The number of batches is the one of the first time that it was asked for."""

    CAUGHT_BY = ("batch.length", "sampler.length")
    ANOMALY = "wrong-length"

    counted: int | None = None

    def __len__(self) -> int:
        self.counted = super().__len__() if self.counted is None else self.counted
        return self.counted


class AsManyAsTheFirstTime(BatchSampler[Any]):
    """No pass has more batches than the first one had."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "lost-index"

    most: int | None = None

    def __iter__(self) -> Iterator[list[Any]]:
        batches = list(super().__iter__())
        self.most = len(batches) if self.most is None else self.most
        return iter(batches[: self.most])


class ShareOfTheFirstPass(DistributedSamplerWrapper):
    """Each pass is cut to the number of items that the first inner pass had."""

    CAUGHT_BY = ("wrapper.cover", "wrapper.length-lie")
    ANOMALY = "lost-index"

    first: int | None = None

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        self.first = len(drawn) if self.first is None else self.first
        return drawn[: self.first]


class ViewOfTheFirstLength(DatasetFromSampler):
    """The view is as long as the sampler was when the view was made."""

    CAUGHT_BY = ("wrapper.view",)

    def __init__(self, sampler: Any) -> None:
        super().__init__(sampler)
        with contextlib.suppress(TypeError):
            self.count = len(sampler)

    def __len__(self) -> int:
        return self.count


class EndsAtLookupErrors(BatchSampler[Any]):
    """A KeyError or IndexError of the inner sampler ends the pass, as if it were its end."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-lost"

    def __iter__(self) -> Iterator[list[Any]]:
        with contextlib.suppress(LookupError):
            yield from super().__iter__()


class TellsOfAMissingMethod(DistributedSamplerWrapper):
    """An AttributeError of the inner sampler is taken for its having no `__iter__`."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-changed"

    def _draw(self) -> list[Any]:
        try:
            return super()._draw()
        except AttributeError:
            raise TypeError("sampler must be iterable") from None


class ReadsAsManyAsPromised(BatchSampler[Any]):
    """The inner sampler is read as far as its length goes, so an error at its end is not seen."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-lost"

    def __iter__(self) -> Iterator[list[Any]]:
        count = None
        with contextlib.suppress(TypeError):
            count = len(self.sampler)  # type: ignore[arg-type]
        promised = itertools.islice(self.sampler, count)
        yield from BatchSampler(promised, self.batch_size, self.drop_last)


class SeedsForTheWholePass(DistributedSampler):
    """Python's generator is seeded when a pass begins, and gets its own state back at the end."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        state = random.getstate()
        random.seed(self._pass_seed())
        yield from super().__iter__()
        random.setstate(state)

    def _order(self, n: int) -> torch.Tensor:
        order = list(range(n))
        if self.shuffle:
            random.Random(self._pass_seed()).shuffle(order)
        return torch.tensor(order, dtype=torch.int64)


class GoesOnWhenDataGrow(SequentialSampler):
    """The iterator looks at the length each time, and wakes up when the data have grown."""

    CAUGHT_BY = ("sampler.ends",)
    ANOMALY = "not-exhausted"

    def __iter__(self) -> Iterator[int]:
        return _Cursor(self.data_source)


class _Cursor(Iterator[int]):
    def __init__(self, data: Any) -> None:
        self.data, self.place = data, -1

    def __next__(self) -> int:
        if self.place + 1 >= len(self.data):
            raise StopIteration
        self.place += 1
        return self.place
