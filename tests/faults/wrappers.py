"""Wrong wrappers and views: each class breaks a rule of `spec/wrapper.md`.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B092 is a row of the
corpus of reported bugs. The published wrapper, with several of these faults at once, is in
`published_balanced.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from honest import DistributedSamplerWrapper

from reference import DatasetFromSampler


class ShufflesAnyway(DistributedSamplerWrapper):
    """Shuffles what is in order, whatever it is told (B094)."""

    CAUGHT_BY = ("wrapper.order",)
    ANOMALY = "inner-order-lost"

    def __init__(
        self, sampler: Any, num_replicas: Any = None, rank: Any = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(sampler, num_replicas, rank, True, seed, drop_last)


class DropsRepeats(DistributedSamplerWrapper):
    """Takes the inner pass for a set, so items that repeat are lost."""

    CAUGHT_BY = ("wrapper.cover",)

    def _draw(self) -> list[Any]:
        return list({repr(item): item for item in super()._draw()}.values())


class UnevenTail(DistributedSamplerWrapper):
    """The ranks that come late in the last step have one item less (B033)."""

    CAUGHT_BY = ("wrapper.equal-counts",)
    ANOMALY = "unequal-counts"

    def __iter__(self) -> Iterator[Any]:
        sequence = list(self.sampler)
        yield from sequence[self.rank :: self.num_replicas]


class RefusesSmall(DistributedSamplerWrapper):
    """Refuses an inner pass that is shorter than the number of ranks (B102)."""

    CAUGHT_BY = ("wrapper.small",)
    ANOMALY = "small-crash"

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        if len(drawn) < self.num_replicas:
            raise ValueError("sampler has too few items")
        return drawn


class StopsEpoch(DistributedSamplerWrapper):
    """`set_epoch` stops at the wrapper (B093, B098, B104)."""

    CAUGHT_BY = ("wrapper.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


class RepeatsEpoch(DistributedSamplerWrapper):
    """One call of `set_epoch` reaches the inner sampler twice."""

    CAUGHT_BY = ("wrapper.set-epoch",)
    ANOMALY = "epoch-not-forwarded"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        super().set_epoch(epoch)


class NeverAgrees(DistributedSamplerWrapper):
    """Draws the inner pass from this rank's global generators and compares nothing (B095)."""

    CAUGHT_BY = ("wrapper.agree",)
    ANOMALY = "ranks-disagree"

    def _draw(self) -> list[Any]:
        return list(self.sampler)

    def _agreed(self, drawn: list[Any]) -> list[Any]:
        return drawn


class KeepsFirstDraw(DistributedSamplerWrapper):
    """The inner sampler is drawn once and for all (B092)."""

    CAUGHT_BY = ("wrapper.fresh-draw",)
    ANOMALY = "stale-draw"

    def _draw(self) -> list[Any]:
        if not hasattr(self, "drawn"):
            self.drawn = super()._draw()
        return self.drawn


class TrustsLength(DistributedSamplerWrapper):
    """Reads as many items as the inner `len` promised, and stops there silently (B097)."""

    CAUGHT_BY = ("wrapper.length-lie",)

    def _draw(self) -> list[Any]:
        items = list(self.sampler)
        declared = len(self.sampler) if hasattr(self.sampler, "__len__") else len(items)
        return [items[place] for place in range(declared)]


class ComparesWithNoLength(DistributedSamplerWrapper):
    """What is drawn is compared with the inner length, also where there is none."""

    CAUGHT_BY = ("wrapper.length-lie",)
    ANOMALY = "unsized-refused"

    def _draw(self) -> list[Any]:
        items = super()._draw()
        declared = len(self.sampler) if hasattr(self.sampler, "__len__") else None
        if declared != len(items):
            raise RuntimeError(f"sampler has length {declared}, but yielded {len(items)} items")
        return items


class SpoilsList(DistributedSamplerWrapper):
    """Leaves its share in the caller's list of items."""

    CAUGHT_BY = ("wrapper.inner-untouched",)
    ANOMALY = "inner-mutated"

    def __iter__(self) -> Iterator[Any]:
        share = list(super().__iter__())
        if isinstance(self.sampler, list):
            self.sampler[:] = share
        yield from share


class SpoilsInner(DistributedSamplerWrapper):
    """Leaves its share in the wrapped sampler, whose own pass is then a part of itself (B045)."""

    CAUGHT_BY = ("wrapper.inner-untouched",)

    def __iter__(self) -> Iterator[Any]:
        share = list(super().__iter__())
        if hasattr(self.sampler, "count"):
            self.sampler.count = len(share)
        yield from share


class TiesIterators(DistributedSamplerWrapper):
    """Keeps the drawn items on itself, and a second iterator replaces them (B096)."""

    CAUGHT_BY = ("wrapper.inner-untouched", "sampler.interleave")
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[Any]:
        self.left = list(super().__iter__())
        while self.left:
            yield self.left.pop(0)


class OpensBatches(DistributedSamplerWrapper):
    """Divides the indices of batches and not the batches."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "batch-broken"

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            yield item[self.rank :: self.num_replicas] if isinstance(item, list) else item


class FillsLastBatch(DistributedSamplerWrapper):
    """Fills a last batch that is shorter than the first one with indices of that one."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "batch-broken"

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        if drawn and all(isinstance(batch, list) for batch in drawn):
            drawn[-1] = drawn[-1] + drawn[0][: max(0, len(drawn[0]) - len(drawn[-1]))]
        return drawn


class CutsToFirstBatch(DistributedSamplerWrapper):
    """Takes the length of the first batch for that of every batch."""

    CAUGHT_BY = ("wrapper.batches",)
    ANOMALY = "batch-broken"

    def _draw(self) -> list[Any]:
        drawn = super()._draw()
        return [b[: len(drawn[0])] if isinstance(b, list) else b for b in drawn]


class DividesTwice(DistributedSamplerWrapper):
    """Divides a sampler that is divided already (B072)."""

    CAUGHT_BY = ("wrapper.double",)
    ANOMALY = "sharded-twice"

    def _refuse_divided(self, sampler: Any) -> None:
        return


class EndlessView(DatasetFromSampler):
    """An index beyond the end counts from the start again."""

    CAUGHT_BY = ("wrapper.view",)
    ANOMALY = "view-unbounded"

    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index % max(1, len(self)))


class ViewOfManyPasses(DatasetFromSampler):
    """Each access makes a pass of its own, and positions belong to different passes."""

    CAUGHT_BY = ("wrapper.view",)
    ANOMALY = "view-differs"

    def __getitem__(self, index: int) -> Any:
        return list(self.sampler)[index]
