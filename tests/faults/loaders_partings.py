"""Loaders that end too late, or from which something stays or goes that should not.

Each class breaks one rule, on top of the reference's loader. `CAUGHT_BY` lists the clauses that
must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import copyreg
import time
from collections.abc import Callable, Iterator
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
import torch
from reporting import Reporting
from torch.utils.data import get_worker_info

from reference import DataLoader, default_collate
from reference.loader.channel import Message
from reference.loader.crew import Member, _dismiss
from reference.loader.crew_pass import CrewPass
from reference.loader.worker import Task


class _Lingering(CrewPass):
    keeps = False
    """Whether workers are to be kept."""

    def _finish(self) -> None:
        if self.keeps or self._last is not None:
            super()._finish()
        self._ended = True


class _Holding(_Lingering):
    def _finish(self) -> None:
        if not self.keeps or self._last is not None:
            CrewPass._finish(self)
        self._ended = True


class _Told(Reporting):
    rule = _Lingering

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, _Lingering):
            made.keeps = self.persistent_workers
        return made


class WorkersStayWithTheIterator(_Told):
    """Workers end with the iterator and not with its pass: who holds it at its end holds them."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"


class StandingOnesStayWithTheIterator(_Told):
    """Workers that are kept come back when the iterator is dropped, not when its pass has ended."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"
    rule = _Holding


class ProgramWaitsForWorkers(DataLoader[Any]):
    """Workers are no daemons, and end with their iterator only: a program that holds one waits."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-exit"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            crew = made._crew
            crew.dismiss.cancel()
            crew.dismiss = Finalize(crew, _dismiss, (crew.members,))
            for member in crew.members:
                member.process._config["daemon"] = False  # type: ignore[attr-defined]
        return made


def _contiguous(array: Any) -> Any:
    return np.ascontiguousarray(array).__reduce__()


class PicklesArraysItsOwnWay(DataLoader[Any]):
    """How arrays are sent is registered with copyreg: all that the program pickles follows it."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            copyreg.pickle(np.ndarray, _contiguous)
        return super().__iter__()


STRAGGLER_S = 2.5


class _Doubling(CrewPass):
    """`drawn` are the batches so far, `came` those that have arrived, `again` those of two workers.

    since: when something has come at last.
    """

    drawn: list[Any]
    came: set[int]
    again: set[int]
    since: float

    def _wait(self, deadline: float) -> None:
        if self._plan.timeout_s or self._plan.recipe.iterable or not self._plan.in_order:
            super()._wait(deadline)
            return
        found = list(self._crew.receive(STRAGGLER_S, self._pinner))
        for member, message in found:
            self._arrived(member, message)
        for number, outcome in self._pinner.collect() if self._pinner else ():
            self._buffer.put(number, outcome)
        if found:
            self.since = time.monotonic()
        elif time.monotonic() - self.since > STRAGGLER_S and not self._crew.death:
            self._ask_another(self._delivered)

    def _ask_another(self, number: int) -> None:
        idle = [worker for worker, load in enumerate(self._load) if not load]
        if idle and number not in self.again:
            self.again.add(number)
            self._crew.send(idle[0], number, Task(self.drawn[number]))
            self._load[idle[0]] += 1

    def _arrived(self, member: Member, message: Message) -> None:
        if message.number in self.came:
            self._load[member.id] -= 1
            message.close()
            return
        self.came.add(message.number)
        super()._arrived(member, message)


class AsksAnotherForTheLate(Reporting):
    """A batch that is late by some seconds is asked of an idle worker, too; the first wins."""

    CAUGHT_BY = ("loader.fetch-once",)
    ANOMALY = "fetched-again"
    rule = _Doubling

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, _Doubling):
            made.drawn, made.came, made.again = self.drawn, set(), set()
            made.since = time.monotonic()
        return made

    def _draws(self) -> Any:
        self.drawn = drawn = list[Any]()

        def remembered(draws: Any) -> Iterator[Any]:
            for indices in draws:
                drawn.append(indices)
                yield indices

        return remembered(super()._draws())


class SendsItself(DataLoader[Any]):
    """What collates is a method of the loader, so spawned workers are sent its sampler, too."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "crash"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = self._collated

    def _collated(self, samples: Any) -> Any:
        return default_collate(samples)


STAGED_BYTES_MIN = 1 << 16


class _Staging:
    """A `collate_fn` whose large tensors lie in memory that is used again, in a worker."""

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate, self.stages = collate, dict[Any, torch.Tensor]()

    def __call__(self, samples: Any) -> Any:
        made = self.collate(samples)
        return made if get_worker_info() is None else self._staged(made)

    def _staged(self, made: Any) -> Any:
        if isinstance(made, list):
            return [self._staged(part) for part in made]
        if type(made) is not torch.Tensor or made.nbytes < STAGED_BYTES_MIN:
            return made
        stage = self.stages.setdefault((made.dtype, made.shape), torch.empty_like(made))
        return stage.copy_(made)


class OneStageForEachShape(DataLoader[Any]):
    """Large tensors are collated into memory kept for their shape; two of one batch share it."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _Staging(default_collate)
