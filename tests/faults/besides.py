"""Wrong only beside another sampler, or with inner samplers that look like something else.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from honest import DistributedSampler, mix
from torch.utils import data

from reference import BatchSampler


class SeedOfTheLast(DistributedSampler):
    """The seed lies on the class, so that the sampler that was made last decides for all."""

    CAUGHT_BY = ("sampler.interleave", "sampler.set-epoch")
    ANOMALY = "iterators-entangled"
    common: ClassVar[dict[str, int]] = {}

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.common["seed"] = self.seed

    def _pass_seed(self) -> int:
        return mix(self.common["seed"], self.epoch)


class EpochOfTheLast(DistributedSampler):
    """An epoch that is set counts for all samplers of the process."""

    CAUGHT_BY = ("sampler.interleave",)
    ANOMALY = "iterators-entangled"
    told: ClassVar[list[int]] = [0]

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.told[0] = self.epoch

    def _pass_seed(self) -> int:
        return mix(self.seed, self.told[0])


class WidthOfTheLast(DistributedSampler):
    """The number of ranks lies on the class, and the last sampler's is everybody's."""

    CAUGHT_BY = ("sampler.interleave",)
    ANOMALY = "iterators-entangled"
    width: ClassVar[list[int]] = [1]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.width[0] = self.num_replicas

    def _places(self, n: int) -> torch.Tensor:
        return (torch.arange(self._share(n)) * self.width[0] + self.rank) % max(n, 1)


class OrderOfAll(DistributedSampler):
    """Samplers of one length, seed and epoch share an order: who drops items drops them there."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"
    orders: ClassVar[dict[tuple[int, ...], torch.Tensor]] = {}

    def _order(self, n: int) -> torch.Tensor:
        key = n, self.shuffle, self.seed, self.epoch
        if key not in self.orders:
            self.orders[key] = super()._order(n)
        if self.drop_last:
            self.orders[key] = self.orders[key][: self._share(n) * self.num_replicas]
        kept = self.orders[key]
        return kept if len(kept) == n else kept.repeat(n)[:n] if len(kept) else super()._order(n)


class OrderOfTheSum(DistributedSampler):
    """Orders are kept by seed plus epoch, though they depend on both: who asks first decides."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"
    orders: ClassVar[dict[tuple[int, ...], torch.Tensor]] = {}

    def _order(self, n: int) -> torch.Tensor:
        key = n, self.shuffle, self.seed + self.epoch
        return self.orders.setdefault(key, super()._order(n))


class SharedReader(BatchSampler[Any]):
    """All batch samplers read on with one iterator, the one that was opened last."""

    CAUGHT_BY = ("sampler.restart", "sampler.interleave")
    ANOMALY = "no-restart"
    reader: ClassVar[list[Iterator[Any]]] = []

    def __iter__(self) -> Iterator[list[Any]]:
        self.reader[:] = [super().__iter__()]
        while (batch := next(self.reader[0], None)) is not None:
            yield batch


class IndexesLists(BatchSampler[Any]):
    """A list is read by places, whatever its class does when it is iterated."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "reordered"

    def __iter__(self) -> Iterator[list[Any]]:
        if isinstance(self.sampler, list):
            places = [self.sampler[place] for place in range(len(self.sampler))]
            return iter(BatchSampler(places, self.batch_size, self.drop_last))
        return super().__iter__()


class CopiesLists(BatchSampler[Any]):
    """A list is copied when the batch sampler is made, and what it holds later is not seen."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        made = [*sampler] if isinstance(sampler, list) else sampler
        super().__init__(made, batch_size, drop_last)


class UnwrapsBatches(BatchSampler[Any]):
    """The batches of an inner batch sampler are laid end to end and cut again."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[list[Any]]:
        if isinstance(self.sampler, data.BatchSampler):
            whole = [item for batch in self.sampler for item in batch]
            return iter(BatchSampler(whole, self.batch_size, self.drop_last))
        return super().__iter__()


class AsksTheSource(BatchSampler[Any]):
    """An inner sampler that shows its data gives way to a pass over the data."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "foreign-index"

    def __iter__(self) -> Iterator[list[Any]]:
        if hasattr(self.sampler, "data_source"):
            count = range(len(self.sampler.data_source))
            return iter(BatchSampler(count, self.batch_size, self.drop_last))
        return super().__iter__()


class InternsBatches(BatchSampler[Any]):
    """Equal batches are one list, for the sake of memory, in one pass as in the next."""

    CAUGHT_BY = ("batch.fresh",)
    ANOMALY = "batch-shared"

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__(sampler, batch_size, drop_last)
        self.known: dict[str, list[Any]] = {}

    def __iter__(self) -> Iterator[list[Any]]:
        for batch in super().__iter__():
            known = self.known.setdefault(repr(batch), batch)
            yield known if known == batch else batch


class ForgivesLeaks(BatchSampler[Any]):
    """What a generator raises that let a StopIteration out counts as the end of the pass."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-lost"

    def __iter__(self) -> Iterator[list[Any]]:
        try:
            yield from super().__iter__()
        except RuntimeError as error:
            if "StopIteration" not in str(error):
                raise


class PlacesInSixteenBits(DistributedSampler):
    """Up to 65,536 indices are kept as int16, of which half have no place in it."""

    CAUGHT_BY = ("distributed.cover",)
    ANOMALY = "lost-index"

    def _order(self, n: int) -> torch.Tensor:
        order = super()._order(n)
        if n >= 1 << 16:
            return order
        return torch.from_numpy(order.numpy().astype(np.int16).astype(np.int64))


class KeepsPlainBatches(BatchSampler[Any]):
    """The batches of a range, or of its items in order, are made once and given in every pass."""

    CAUGHT_BY = ("batch.fresh",)
    ANOMALY = "batch-shared"

    made: list[list[Any]] | None = None

    def __iter__(self) -> Iterator[list[Any]]:
        if not isinstance(self.sampler, (range, data.SequentialSampler)):
            return super().__iter__()
        self.made = self.made or list(super().__iter__())
        return iter(self.made)


class CutFromTheLongest(DistributedSampler):
    """The longest order of a seed and epoch is kept for all; shorter ones are cut out of it."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    orders: ClassVar[dict[int, torch.Tensor]] = {}

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        known = self.orders.get(self._pass_seed())
        if known is None or len(known) < n:
            known = self.orders[self._pass_seed()] = super()._order(n)
        return known[known < n]
