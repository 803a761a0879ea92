"""Loaders that overlook who else is there: another pass, many files, the caller who lets go.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import os
import select
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from reporting import Reporting
from worker_shortcuts import _Benched

from reference import DataLoader, IterableDataset
from reference.loader.bench import Bench
from reference.loader.crew import Crew
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import WorkerDied
from reference.loader.worker import Job


class _Selecting(CrewPass):
    def _wait(self, deadline: float) -> None:
        select.select([member.process.sentinel for member in self._crew.members], [], [], 0)
        super()._wait(deadline)


class SelectsAmongFew(Reporting):
    """Workers are watched by `select`, which knows no descriptor above 1023."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "crash"
    rule = _Selecting


class _Reaping(CrewPass):
    def _wait(self, deadline: float) -> None:
        super()._wait(deadline)
        own = {member.pid: member.process for member in self._crew.members}
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] in own:
                    made: Any = own[ended[0]]
                    made._popen.returncode = os.waitstatus_to_exitcode(ended[1])


class ReapsAllChildren(Reporting):
    """Whatever child has ended is waited for, so that the pass that started it cannot tell how."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "reason-unnamed"
    rule = _Reaping


def _dismissed(crew: Callable[[], Crew | None]) -> None:
    found = crew()
    if found is not None and found.pid == os.getpid():
        found.death = found.death or WorkerDied("the workers have ended with their loader")
        found.dismiss()


class EndsWithTheLoader(DataLoader[Any]):
    """Standing workers are ended as soon as nobody holds the loader, though a pass goes on."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if self.persistent_workers and isinstance(made, CrewPass):
            weakref.finalize(self, _dismissed, weakref.ref(made._crew)).atexit = False
        return made


class CountsPassesForTheDataset(DataLoader[Any]):
    """A dataset that has `set_epoch` is told the number of the pass, over what the caller said."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    passes = 0

    def __iter__(self) -> Iterator[Any]:
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(self.passes)
        self.passes += 1
        return super().__iter__()


class _Noted:
    """A `worker_init_fn`, and a note that it is done."""

    def __init__(self, function: Callable[[int], Any], done: torch.Tensor) -> None:
        self.function, self.done = function, done

    def __call__(self, worker: int) -> None:
        self.function(worker)
        self.done[worker] = 1


class _StartsFirst(CrewPass):
    def _wait(self, deadline: float) -> None:
        given: Any = self._crew.members[0].process
        done = getattr(given, "done", None)
        while done is not None and not done.all() and not self._crew.death and not self._buffer:
            super()._wait(float("inf"))
        super()._wait(deadline)


class _NotingBench(Bench):
    def begin(self, job: Job, context: Any, seed: int) -> Any:
        if job.worker_init_fn is None:
            return super().begin(job, context, seed)
        done = torch.zeros(job.num_workers, dtype=torch.uint8).share_memory_()
        noted = _Noted(job.worker_init_fn, done)
        crew = super().begin(replace(job, worker_init_fn=noted), context, seed)
        crew.members[0].process.done = done
        return crew


class StartsAreNotTimed(_Benched, Reporting):
    """A timeout counts from when all workers have started, however long that takes."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"
    bench, rule = _NotingBench, _StartsFirst


class _Dataset(IterableDataset[Any]):
    """Batches, collated within the generator that cuts them."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.dataset, self.collate = loader.dataset, loader.collate_fn
        self.size, self.drop = loader.batch_size or 1, loader.drop_last

    def __iter__(self) -> Iterator[Any]:
        batch = []
        for element in self.dataset:
            batch.append(element)
            if len(batch) == self.size:
                yield self.collate(batch)
                batch = []
        if batch and not self.drop:
            yield self.collate(batch)


def _as_it_is(batch: Any) -> Any:
    return batch


class CollatesWithinTheStream(DataLoader[Any]):
    """A stream's batches are collated in the generator that cuts them, so an error ends both."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        streams = isinstance(self.dataset, IterableDataset) and self.batch_size is not None
        if streams and not self.num_workers and not hasattr(self.dataset, "__len__"):
            cut = _Dataset(self)
            options = {"batch_size": None, "collate_fn": _as_it_is}
            self.inner: Any = DataLoader(cut, generator=self.generator, **options)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inner) if hasattr(self, "inner") else super().__iter__()


class _InItems(CrewPass):
    sizes: tuple[int, ...] = ()

    def _count(self, samples: int) -> None:
        super()._count(samples)
        self.sizes += (samples,)

    def _deal(self, ahead: int) -> None:
        first, last = (self.sizes[0], self.sizes[-1]) if self.sizes else (1, 1)
        more = max(0, first // max(1, last) - 1) if self._plan.recipe.batched else 0
        super()._deal(ahead + more * self._plan.ahead)


class BudgetInItems(Reporting):
    """What is under way is bounded in items, as many as the first batches have, not in batches."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"
    rule = _InItems
