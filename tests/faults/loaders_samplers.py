"""Wrong loaders: what a sampler may yield, and passes that are not the first.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from reference import DataLoader


class AnySamplerGiven(DataLoader[Any]):
    """A sampler without any index counts as none given."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        for name in ("sampler", "batch_sampler"):
            if name in kwargs and next(iter(kwargs[name]), self) is self:
                del kwargs[name]
        super().__init__(dataset, *args, **kwargs)


class LooksIntoTheSampler(DataLoader[Any]):
    """Whether a sampler contradicts another option is asked of those that are not empty."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, sampler: Any = None, **kwargs: Any) -> None:
        if kwargs.get("shuffle") and sampler is not None and not list(sampler):
            kwargs["shuffle"] = None
        super().__init__(dataset, *args, sampler=sampler, **kwargs)  # type: ignore[misc]


class OnceThroughTheData(DataLoader[Any]):
    """A pass is over when as many items were delivered as the dataset has."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        right = super().__iter__()
        if self._iterable or not hasattr(self.dataset, "__len__"):
            return right
        size = self.batch_size or 1
        return itertools.islice(right, -(-len(self.dataset) // size)) if size > 1 else right


class _Numbers:
    """Batches of indices, each made a number."""

    def __init__(self, drawn: Any, batched: bool) -> None:
        self.drawn, self.batched = drawn, batched

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[Any]:
        for drawn in self.drawn:
            yield list(map(int, drawn)) if self.batched else int(drawn)


class _Changing(DataLoader[Any]):
    """rule: what is made of the draws of a sampler."""

    rule: type[_Numbers] = _Numbers

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable else self.rule(drawn, self._batched)


class CountsOnNumbers(_Changing):
    """An index is made a number, whatever it was."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"


class _Filled(_Numbers):
    """Batches that hold something."""

    def __iter__(self) -> Iterator[Any]:
        return (drawn for drawn in self.drawn if not self.batched or drawn != [])


class _Given(_Numbers):
    """What a sampler gives until it gives None."""

    def __iter__(self) -> Iterator[Any]:
        return itertools.takewhile(lambda drawn: drawn is not None, self.drawn)


class NoneIsNoIndex(_Changing):
    """Where batching is off, an index that is None is taken for the end of the sampler."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"
    rule = _Given


class LeavesOutEmpty(_Changing):
    """A batch of no indices is left out."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"
    rule = _Filled


class RemembersLength(DataLoader[Any]):
    """The length is that of the first time, whatever the epoch has made of it."""

    CAUGHT_BY = ("loader.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        if "length" not in vars(self):
            self.length = super().__len__()
        return self.length


class RemembersPass(DataLoader[Any]):
    """Without workers, a loader that does not shuffle gives the batches of its first pass again."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "not-fetched"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        given = {"sampler", "batch_sampler", "shuffle", "num_workers"} & set(kwargs)
        self.keeps = not given and not self._iterable

    def __iter__(self) -> Iterator[Any]:
        right = super().__iter__()
        if not self.keeps:
            return right
        return iter(vars(self).setdefault("kept", None) or self._kept(right))

    def _kept(self, right: Iterator[Any]) -> list[Any]:
        self.kept = list(right)
        return self.kept


class LengthOfTheData(DataLoader[Any]):
    """Where the sampler has no length, that of the dataset is taken for it."""

    CAUGHT_BY = ("loader.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        try:
            return super().__len__()
        except TypeError:
            if self._iterable or not hasattr(self.dataset, "__len__"):
                raise
            return -(-len(self.dataset) // (self.batch_size or 1))


class _Cut:
    """Whole batches of a sampler; what is left of one pass is the beginning of the next."""

    def __init__(self, sampler: Any, size: int) -> None:
        self.sampler, self.size = sampler, size
        self.left: list[Any] = []

    def __len__(self) -> int:
        return len(self.sampler) // self.size

    def __iter__(self) -> Iterator[Any]:
        for index in self.sampler:
            self.left.append(index)
            if len(self.left) == self.size:
                batch, self.left = self.left, []
                yield batch


class CarriesLeftover(DataLoader[Any]):
    """What drop_last drops of one pass begins the next one."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.drop_last and self.sampler is not None and self.batch_size is not None:
            self.batch_sampler = _Cut(self.sampler, self.batch_size)
