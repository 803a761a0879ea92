"""The samplers, `collate_fn` and `worker_init_fn` that a loader under examination is given.

Like the datasets in `workload.py` they report to the journal and go wrong where a `Fault` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from conformance.datasets import Collate, Init, Order
from conformance.items import odd
from conformance.recipes import part
from conformance.worlds.gate import Gate
from conformance.worlds.keys import KEYS
from conformance.worlds.observe import HELD, whole_number
from conformance.worlds.samples import dice
from conformance.worlds.workload import Info, mishap

EARLY = 8
"""For so many items a `worker_init_fn` draws."""


class Unsized:
    """`Order`, without `__len__`."""

    def __init__(self, recipe: Order, gate: Gate) -> None:
        self.recipe, self.gate, self.epoch, self.passes = recipe, gate, 0, -1

    def __getstate__(self) -> Any:
        if self.recipe.how == "rooted":
            raise TypeError("this sampler cannot leave the process that made it")
        return vars(self)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        self.gate.report("begin")
        mishap(self.recipe.faults, "begin", 0, self.gate)
        self.passes += 1
        if self.recipe.how.startswith("again"):
            return _StartsOver(self)
        return self._draws(self.passes)

    def _draws(self, passes: int) -> Iterator[Any]:
        turned = {"epochs": self.epoch, "turning": passes}.get(self.recipe.how.split("-")[0], 0)
        for place in range(self._count()):
            given = mishap(self.recipe.faults, "sampler", place, self.gate)
            self.gate.report("draw", place)
            yield self._index(place, turned) if given is None else given

    def _count(self) -> int:
        return self.recipe.n + (self.epoch if self.recipe.how.startswith("growing") else 0)

    def _index(self, place: int, turned: int) -> Any:
        n, how = self.recipe.n, self.recipe.how
        if how == "batches":
            return part(place)
        if how in KEYS:
            return KEYS[how](place)
        if how == "gaps":
            return [place // 2] if place % 2 else []
        index = n - 1 - place if how == "descending" else place
        if turned:
            index = (place + turned) % n
        return [index] if how.endswith("-batches") else index


class Sampler(Unsized):
    """`Order`."""

    def __len__(self) -> int:
        return self._count() // (2 if self.recipe.how == "understated" else 1)


class _StartsOver:
    """The draws of a pass; asked after their end, they begin anew."""

    def __init__(self, sampler: Unsized) -> None:
        self.sampler, self.draws = sampler, sampler._draws(0)

    def __iter__(self) -> _StartsOver:
        return self

    def __next__(self) -> Any:
        try:
            return next(self.draws)
        except StopIteration:
            self.draws = self.sampler._draws(0)
            raise


class Collating:
    """`Collate`."""

    def __init__(self, recipe: Collate, gate: Gate, info: Info) -> None:
        self.recipe, self.gate, self.info = recipe, gate, info

    def __call__(self, samples: Any) -> Any:
        items = samples if isinstance(samples, list) else [samples]
        numbers = [value for value in map(whole_number, items) if value is not None]
        info = self.info()
        self.gate.report("collate", numbers[0] if numbers else -1, info.id if info else -1)
        for place in numbers:
            given = mishap(self.recipe.faults, "collate", place, self.gate)
            if given is not None:
                return given
        return self._made(samples)

    def _first(self, samples: Any) -> int:
        return int(samples[0] if isinstance(samples, list) else samples)

    def _made(self, samples: Any) -> Any:
        if self.recipe.how == "odd":
            return odd(self._first(samples))
        if self.recipe.how == "double":
            return [2 * s for s in samples] if isinstance(samples, list) else 2 * samples
        if self.recipe.how == "thin":
            return samples[1:]
        if self.recipe.how == "thin tensor":
            return torch.tensor(samples[1:])
        if self.recipe.how == "called":
            return [s() for s in samples] if isinstance(samples, list) else samples()
        if self.recipe.how == "held":
            return {HELD: samples}
        return sum(samples) if self.recipe.how == "sum" else samples


class Initialising:
    """`Init`."""

    def __init__(self, recipe: Init, gate: Gate, info: Info) -> None:
        self.recipe, self.gate, self.info = recipe, gate, info

    def __call__(self, worker: int) -> None:
        self.gate.report("init", worker, worker)
        self.gate.heed(worker)
        mishap(self.recipe.faults, "init", worker, self.gate)
        if self.recipe.how == "seed":
            torch.manual_seed(5)
        if self.recipe.how == "dice":
            self.info().dataset.early = [dice() for _ in range(EARLY)]
        if self.recipe.how == "mark":
            info = self.info()
            info.dataset.mark = 1 + worker if info.id == worker else -1
