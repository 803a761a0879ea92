"""Wrong loaders, with workers: state and epochs that workers, passes and ranks share.

Each class breaks one rule of `spec/workers.md`, on top of the reference or of torch's loader, often
only where few would look: in the second pass, with three workers, with persistent ones. `CAUGHT_BY`
lists the clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number
such as B111 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch.distributed as dist
from torch.utils.data import DataLoader as Torch

from reference import DataLoader


class FirstState(DataLoader[Any]):
    """The dataset is copied when the loader is made."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(copy.deepcopy(dataset), *args, **kwargs)


class KeptCopies(Torch):
    """Persistent workers keep the dataset as it was in the first pass (B133)."""

    CAUGHT_BY = ("workers.state", "workers.persistent", "workers.two-iterators")
    ANOMALY = "stale-state"


class OnePassLate(DataLoader[Any]):
    """Workers are sent the dataset as it was one pass ago."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __iter__(self) -> Iterator[Any]:
        given = self.dataset
        self.dataset = getattr(self, "older", None) or copy.deepcopy(given)
        try:
            return super().__iter__()
        finally:
            self.older, self.dataset = copy.deepcopy(given), given


class LazyWithoutWorkers(Torch):
    """Without workers the sampler is asked at the first `next` (B136)."""

    CAUGHT_BY = ("workers.set-epoch", "workers.sampler-once")
    ANOMALY = "epoch-leaked"


class LazyWithWorkers(DataLoader[Any]):
    """A pass begins with its first `next`, with workers too."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()


class LooksAgain(DataLoader[Any]):
    """The order is asked for again in the middle of a pass."""

    CAUGHT_BY = ("workers.set-epoch", "workers.sampler-once")
    ANOMALY = "epoch-leaked"

    def _draws(self) -> Any:
        return super()._draws() if self._iterable else _LooksAgain(super()._draws())


class _LooksAgain:
    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count():
            found = list(self.batches)[place : place + 1]
            if not found:
                return
            yield found[0]


class DrawsIntoTheNext(DataLoader[Any]):
    """At the end of a pass the next one is begun, before its epoch is announced (B137, B138)."""

    CAUGHT_BY = ("workers.set-epoch", "workers.state")
    ANOMALY = "epoch-leaked"

    def __iter__(self) -> Iterator[Any]:
        started = getattr(self, "ready", None) or super().__iter__()
        self.ready: Any = None
        return _Chained(started, self)

    def begin(self) -> None:
        self.ready = super().__iter__()


class _Chained(Iterator[Any]):
    def __init__(self, items: Iterator[Any], loader: DrawsIntoTheNext) -> None:
        self.items, self.loader = items, loader

    def __next__(self) -> Any:
        try:
            return next(self.items)
        except StopIteration:
            if self.loader is not None:
                self.loader.begin()
            self.loader = None
            raise


# Workers that are kept.


class SameOrderAgain(DataLoader[Any]):
    """Persistent workers are handed the order of the first pass in each pass."""

    CAUGHT_BY = ("workers.persistent", "workers.sampler-once", "workers.set-epoch")
    ANOMALY = "other-order"

    def _draws(self) -> Any:
        if self._iterable or not self.persistent_workers:
            return super()._draws()
        self.known = getattr(self, "known", None) or list(super()._draws())
        return self.known


class DrawsWhenKept(DataLoader[Any]):
    """From the second pass on, persistent workers cost a number of the global generator."""

    CAUGHT_BY = ("workers.persistent",)
    ANOMALY = "other-draws"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers and self._passes:
            np.random.rand()
        return super().__iter__()


class OneIteratorOnly(DataLoader[Any]):
    """With persistent workers a second iterator ends the first (B140)."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return super().__iter__()
        self.latest = super().__iter__()
        return _Latest(self, self.latest)


class _Latest(Iterator[Any]):
    def __init__(self, loader: OneIteratorOnly, items: Iterator[Any]) -> None:
        self.loader, self.items = loader, items

    def __next__(self) -> Any:
        if self.loader.latest is not self.items:
            raise StopIteration
        return next(self.items)


class SharedIterator(DataLoader[Any]):
    """With persistent workers `iter` gives the iterator that is not at its end yet (B140)."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return super().__iter__()
        if getattr(self, "live", None) is None or self.live._ended:
            self.live: Any = super().__iter__()
        return self.live


class RefusesForEver(DataLoader[Any]):
    """Once two iterators were asked for, no third one is given, whatever became of them."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "refused"

    def __iter__(self) -> Iterator[Any]:
        if self.persistent_workers and self._passes:
            raise RuntimeError("this loader has an iterator")
        return super().__iter__()


# The sampler.


class AsksTwice(Torch):
    """With workers the sampler is asked twice for its order (B001)."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-restarted"


class LooksIfEmpty(DataLoader[Any]):
    """A first iterator of the sampler only tells whether there is anything."""

    CAUGHT_BY = ("workers.sampler-once",)
    ANOMALY = "sampler-restarted"

    def _draws(self) -> Any:
        drawn = super()._draws()
        if not self._iterable:
            next(iter(drawn), None)
        return drawn


class RemembersOrder(DataLoader[Any]):
    """The order of the first pass is kept for all."""

    CAUGHT_BY = ("workers.sampler-once", "workers.set-epoch")
    ANOMALY = "sampler-not-asked"

    def _draws(self) -> Any:
        if self._iterable:
            return super()._draws()
        self.known = getattr(self, "known", None) or list(super()._draws())
        return self.known


# Ranks.


class FirstRankDropsTail(DataLoader[Any]):
    """Rank 0 drops its last short batch, the others keep theirs."""

    CAUGHT_BY = ("workers.ranks",)
    ANOMALY = "unequal-batches"

    def _draws(self) -> Any:
        drawn = super()._draws()
        first = dist.is_initialized() and dist.get_rank() == 0
        return [b for b in drawn if len(b) == self.batch_size] if first else drawn


class EpochBehind(DataLoader[Any]):
    """The batches that were drawn ahead belong to the epoch before (B137)."""

    CAUGHT_BY = ("workers.ranks", "workers.set-epoch")
    ANOMALY = "uncovered"

    def _draws(self) -> Any:
        if self._iterable:
            return super()._draws()
        drawn = list(super()._draws())
        older, self.older = getattr(self, "older", drawn), drawn
        return [*older[:2], *drawn[2:]]
