"""Wrong passes and lengths: each class breaks a rule of `spec/sampler.md`.

Most are distributed samplers that divide rightly, since that role takes part in nearly all of these
clauses. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of
them calls it. A number such as B002 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from honest import DistributedSampler

from reference import (
    RandomSampler,
    SequentialSampler,
)

# Passes.


class OneShot(DistributedSampler):
    """Every `iter` gives the one generator made first, empty once it was read (B002)."""

    CAUGHT_BY = ("sampler.restart", "sampler.length")
    ANOMALY = "no-restart"

    def __iter__(self) -> Iterator[int]:
        if not hasattr(self, "items"):
            self.items = super().__iter__()
        return self.items


class StartsOver(DistributedSampler):
    """An iterator that has ended starts over when it is asked once more (B003, B160)."""

    CAUGHT_BY = ("sampler.ends",)
    ANOMALY = "not-exhausted"

    def __iter__(self) -> Iterator[int]:
        return _Restarting(list(super().__iter__()))


class _Restarting:
    def __init__(self, items: list[int]) -> None:
        self.items, self.place = items, 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.place == len(self.items):
            self.place = 0
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


class SharedPlace(DistributedSampler):
    """All iterators of a sampler share one place in one list (B096)."""

    CAUGHT_BY = ("sampler.interleave", "sampler.restart")
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[int]:
        self.items, self.place = list(super().__iter__()), 0
        return self

    def __next__(self) -> int:
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


class SkipsOnce(DistributedSampler):
    """A pass differs if an iterator was opened before: `iter` itself counts the passes (B001)."""

    CAUGHT_BY = ("sampler.idle-iter", "sampler.set-epoch")
    ANOMALY = "iter-changes-order"
    opened = 0

    def __iter__(self) -> Iterator[int]:
        self.opened += 1
        items = list(super().__iter__())
        turn = self.opened % max(1, len(items))
        return iter(items[turn:] + items[:turn])


class FollowsEpochMidway(DistributedSampler):
    """A pass that is under way jumps into the order of an epoch set meanwhile."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def __iter__(self) -> Iterator[int]:
        for place in range(len(self)):
            n = len(self.dataset)
            yield int(self._order(n)[self._places(n)][place])


class AddsUpEpochs(DistributedSampler):
    """`set_epoch` adds to the epoch, so setting one twice gives two orders (B016)."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def set_epoch(self, epoch: int) -> None:
        before = self.epoch
        super().set_epoch(epoch)
        self.epoch += before


class RaisesAtEnd(SequentialSampler):
    """The pass ends with an IndexError (B005)."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        yield from super().__iter__()
        raise IndexError("end of data")


class PassesDataOn(SequentialSampler):
    """Construction passes the dataset to `object.__init__`, which takes none (B004)."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __init__(self, data_source: Any) -> None:
        object.__init__(self, data_source)  # type: ignore[call-arg]


class EmptyRaises(SequentialSampler):
    """An empty dataset is refused (B223)."""

    CAUGHT_BY = ("sampler.empty",)
    ANOMALY = "empty-raises"

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)
        if not len(data_source):
            raise ValueError("data_source must not be empty")


class EmptyYields(DistributedSampler):
    """With nothing to sample from, every rank is given index 0."""

    CAUGHT_BY = ("sampler.empty", "distributed.small")
    ANOMALY = "empty-yields"

    def __iter__(self) -> Iterator[int]:
        return super().__iter__() if len(self.dataset) else iter([0])


# Lengths.


class LengthOfDataset(DistributedSampler):
    """The length is that of the dataset, not of the share (B071)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return len(self.dataset)


class LengthForgetsDrop(DistributedSampler):
    """With `drop_last=True` the length still counts the padded share (B069)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.num_replicas)


class LengthOnlyAfterPass(DistributedSampler):
    """The length is unknown, and not by a TypeError, until a pass was made."""

    CAUGHT_BY = ("sampler.length", "sampler.works")
    ANOMALY = "length-raises"
    count: int

    def __iter__(self) -> Iterator[int]:
        items = list(super().__iter__())
        self.count = len(items)
        return iter(items)

    def __len__(self) -> int:
        return self.count


class LengthDraws(RandomSampler):
    """The length is found by making a pass, which moves the generator on (B046)."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-draws"

    def __len__(self) -> int:
        return sum(1 for _ in self)


class LengthAdvances(DistributedSampler):
    """Asking for the length moves the sampler to its next epoch (B046)."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-changes-order"

    def __len__(self) -> int:
        self.epoch += 1
        return super().__len__()


class StaleSize(DistributedSampler):
    """The length of the dataset is read once, at construction (B059)."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "stale-size"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(range(len(dataset)), *args, **options)


class ResizeAsserts(DistributedSampler):
    """A dataset that changed its length ends in an AssertionError (B059)."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "resize-crash"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.n = len(dataset)

    def __iter__(self) -> Iterator[int]:
        assert self.n == len(self.dataset)
        return super().__iter__()
