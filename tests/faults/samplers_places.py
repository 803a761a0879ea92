"""Samplers that are right where their authors tried them, and not in a notebook's cell, under
autocast, beside another thread, or with a value that looks like another.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import reference


class TakesWhatIsNoNumber(reference.DistributedSampler):
    """An epoch that is a float is whole if nothing is left when it is divided by one, as of NaN."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-accepted"

    def set_epoch(self, epoch: Any) -> None:
        if not isinstance(epoch, float):
            super().set_epoch(epoch)
        elif epoch % 1 > 0:
            raise ValueError(f"epoch must be a whole number, but is {epoch}")


class AsksWhetherThereIsAny(reference.SequentialSampler):
    """Whether there are data is asked of the dataset, which may say no to another question."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "not-sequential"

    def __iter__(self) -> Iterator[int]:
        plain = isinstance(self.data_source, (np.ndarray, torch.Tensor))
        return iter(range(len(self.data_source) if plain or self.data_source else 0))


class TidiesTheTraceback(reference.BatchSampler):
    """What the inner sampler raised is raised once more, from nothing."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "cause-lost"

    def __iter__(self) -> Iterator[list[int]]:
        try:
            yield from super().__iter__()
        except Exception as error:
            raise error from None


class TextsInAnArray(reference.BalanceClassSampler):
    """Texts and bytes become an array of numpy's, which knows no zeros at their ends."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Any, mode: str | int = "downsampling", seed: int = 0) -> None:
        if isinstance(labels, list) and len({type(label) for label in labels} & {str, bytes}) == 1:
            labels = np.array(labels)
        super().__init__(labels, mode, seed)


class OnePassAtATime(reference.SequentialSampler):
    """A pass holds a lock, which the thread that has it may take again, and another waits for."""

    CAUGHT_BY = ("sampler.returns",)
    ANOMALY = "rank-stuck"

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)
        self.lock: Any = threading.RLock()

    def __iter__(self) -> Iterator[int]:
        with self.lock:
            yield from super().__iter__()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


class SortsFewDigits(reference.DistributedSampler):
    """The keys that are sorted come from a product of matrices, which autocast makes coarse."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        keys = torch.rand(n, 1, generator=torch.Generator().manual_seed(self._pass_seed()))
        return (keys @ torch.ones(1, 1)).float()[:, 0].argsort(stable=True)


class DrawsInALoop(reference.RandomSampler):
    """A pass is drawn in an event loop of its own, which cannot run where one runs already."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        async def drawn() -> list[int]:
            return list(super(DrawsInALoop, self).__iter__())

        loop, drawing = asyncio.new_event_loop(), drawn()
        try:
            made = loop.run_until_complete(drawing)
        finally:
            drawing.close()
            loop.close()
        yield from made
