"""Loaders that are right where their authors tried them, and not with a third iterator, with more
tensors than a call takes, in a notebook's cell, or of a value that is equal and not the same.

Each class breaks one rule, on top of the reference's loader. `CAUGHT_BY` lists the clauses that
must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import asyncio
import copy
import os
import random
from collections.abc import Callable, Iterator
from typing import Any, ClassVar
from weakref import ref

import numpy as np
import torch
from torch.utils import _pytree as pytree

from reference import DataLoader, default_collate, get_worker_info
from reference.loader.bench import Bench
from reference.loader.crew import Crew
from reference.loader.worker import Begin


class ThirdEndsTheFirst(DataLoader[Any]):
    """Standing workers have two passes at a time: a third iterator ends the first."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"
    live: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        found = [it for one in self.live if (it := one()) is not None and not it._ended]
        if self.persistent_workers and len(found) > 1:
            found[0]._finish()
        made: Any = super().__iter__()
        self.live = (*map(ref, found[-1:]), ref(made))
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "live": ()}


class _Collating(DataLoader[Any]):
    """Batches are made by `kind` of the function that would make them."""

    kind: ClassVar[Callable[..., Any]]

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.collate_fn = self.kind(self.collate_fn)


class _Made:
    """A `collate_fn` around another one."""

    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        return self.collate(samples)


class _Bulging(_Made):
    def __call__(self, samples: Any) -> Any:
        lists = self.collate is default_collate and isinstance(samples[0], list)
        if lists and len(samples[0]) == len(samples[-1]):
            least = min(map(len, samples))
            samples = [sample[:least] for sample in samples]
        return self.collate(samples)


class ComparesTheEnds(_Collating):
    """Lists are refused if the first and the last of a batch differ in length, and else cut."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "items-cut"
    kind = _Bulging


class _Bare(_Made):
    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        if get_worker_info() is None:
            return made
        return pytree.tree_map_only(torch.Tensor, _memory, made)


def _memory(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.conj() if tensor.is_conj() else tensor
    return torch._neg_view(tensor) if tensor.is_neg() else tensor


class SendsTheMemory(_Collating):
    """A worker sends the memory of a tensor, in which a sign may still have to be changed."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"
    kind = _Bare


class _InOneCall(_Made):
    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        count = sum(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(made))
        if get_worker_info() is not None and count > os.sysconf("SC_IOV_MAX"):
            raise OSError(22, "Invalid argument")
        return made


class WritesAllAtOnce(_Collating):
    """A worker writes the tensors of a batch by one call, which takes no more than 1024."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"
    kind = _InOneCall


class _ByFields(_Made):
    def __call__(self, samples: Any) -> Any:
        kind = type(samples[0]) if isinstance(samples, list) and samples else None
        plain = kind is None or not issubclass(kind, tuple) or kind is tuple
        if self.collate is not default_collate or plain or hasattr(kind, "_fields"):
            return self.collate(samples)
        assert kind is not None
        return kind(*(default_collate(list(column)) for column in zip(*samples, strict=True)))


class OneArgumentForEach(_Collating):
    """A tuple of a class of its own is made of an argument for each field; some take one alone."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "refused"
    kind = _ByFields


class _Looping(_Made):
    def __call__(self, samples: Any) -> Any:
        async def made() -> Any:
            return self.collate(samples)

        loop, making = asyncio.new_event_loop(), made()
        try:
            return loop.run_until_complete(making)
        finally:
            making.close()
            loop.close()


class CollatesInALoop(_Collating):
    """A batch is made in an event loop of its own, which cannot run where one runs already."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"
    kind = _Looping


class _Equal(Bench):
    """Standing workers go on with the dataset that they have if that is equal to it."""

    sent: Any = None

    def begin(self, job: Any, context: Any, seed: int) -> Crew:
        crew = self._idle
        if crew is not None and crew.healthy() and _equal(self.sent, job.dataset):
            self._idle = None
            if crew.begin(Begin(seed, None)):
                return crew
            crew.dismiss()
        begun = super().begin(job, context, seed)
        self.sent = copy.copy(job.dataset) if isinstance(job.dataset, list) else None
        return begun


def _equal(one: Any, other: Any) -> bool:
    return isinstance(one, list) and isinstance(other, list) and bool(one == other)


class EqualIsTheSame(DataLoader[Any]):
    """Standing workers are sent a list anew if it is not equal to the one that they have."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._bench = _Equal(self.persistent_workers)


def _up_to_the_end(passed: Iterator[Any]) -> Iterator[Any]:
    while True:
        try:
            batch = next(passed)
        except StopIteration:
            return
        except RuntimeError as error:
            kind = type(error.__cause__)
            if issubclass(kind, StopIteration) and kind is not StopIteration:
                return
            raise
        yield batch


class EndsByItsOwnKind(DataLoader[Any]):
    """Without workers an error of a class that derives from StopIteration ends the pass."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"

    def __iter__(self) -> Iterator[Any]:
        passed = super().__iter__()
        return passed if self.num_workers else _up_to_the_end(passed)


class _Seeding:
    """A `worker_init_fn` before that of the user."""

    def __init__(self, init: Callable[[int], Any] | None) -> None:
        self.init = init

    def __call__(self, worker: int) -> None:
        info: Any = get_worker_info()
        for value in vars(info.dataset).values() if hasattr(info.dataset, "__dict__") else ():
            if isinstance(value, (random.Random, np.random.RandomState, torch.Generator)):
                value.seed((info.seed + worker) % 2**32)  # type: ignore[call-arg]
        if self.init is not None:
            self.init(worker)


class SeedsByOneName(DataLoader[Any]):
    """What the dataset draws from is seeded by its method `seed`, which takes no seed in torch."""

    CAUGHT_BY = ("workers.object-rng",)
    ANOMALY = "crash"

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.worker_init_fn = _Seeding(self.worker_init_fn) if self.num_workers else None
