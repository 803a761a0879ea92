"""One pass with workers: deals tasks, puts the outcomes in order, merges what is left over."""

from __future__ import annotations

import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

from reference.loader.channel import Message
from reference.loader.crew import Crew, Member
from reference.loader.failure import Failure, Report, received
from reference.loader.fetch import Batch, Ended, Outcome, Recipe
from reference.loader.parcel import unpacked
from reference.loader.passes import Pass
from reference.loader.pin import Pinner, pin_outcome
from reference.loader.producer import END, Producer
from reference.loader.reorder import ReorderBuffer
from reference.loader.worker import Task


class Plan(NamedTuple):
    """ahead: how many tasks are dealt and not delivered, at most. timeout_s: 0 for none.

    items: how many samples an iterable dataset says that it has, if it does.
    """

    recipe: Recipe
    ahead: int
    in_order: bool
    timeout_s: float
    pin: bool
    items: int | None


class CrewPass(Pass):
    """The crew is given back as soon as the pass has ended, failed for good or been dropped."""

    def __init__(
        self, crew: Crew, release: Callable[[Crew], None], producer: Producer, plan: Plan
    ) -> None:
        super().__init__()
        self._crew = crew
        self._producer = producer
        self._plan = plan
        self._buffer = ReorderBuffer(plan.in_order)
        self._pinner = Pinner() if plan.pin else None
        self._turns = deque(range(len(crew.members)))
        self._load = [0] * len(crew.members)
        self._dealt = self._delivered = self._items = 0
        self._tails: dict[int, list[Any]] = {}
        self._rest: Iterator[Batch | Failure] | None = None
        self._held: Batch | Failure | None = None
        self._pid = os.getpid()
        self._release = Finalize(self, _release, (release, crew, self._pinner))
        self._deal(plan.ahead)

    def _outcome(self) -> Batch | Failure | None:
        """Where warnings are exceptions, a batch that one has held up comes with the next call."""
        self._held = outcome = self._held or self._next()
        if isinstance(outcome, Batch):
            self._count(outcome.samples)
        self._held = None
        return outcome

    def _next(self) -> Batch | Failure | None:
        if self._pid != os.getpid():
            raise RuntimeError(f"this iterator belongs to process {self._pid}, which made it")
        deadline = time.monotonic() + self._plan.timeout_s
        while True:
            if self._buffer:
                self._deal(self._plan.ahead + 1)  # first: one that is interrupted loses nothing
                self._delivered += 1
                outcome = self._buffer.pop()
                if not isinstance(outcome, Ended):
                    return outcome
            elif self._dealt == self._delivered and (self._producer.ended or not self._turns):
                return self._leftover()
            elif self._crew.death and not self._pinner:
                return Failure(self._crew.death, lasting=True)
            else:
                self._wait(deadline)

    def _deal(self, ahead: int) -> None:
        """Draw and send tasks until `ahead` are under way."""
        while self._dealt - self._delivered < ahead and self._turns and not self._crew.death:
            indices = self._producer.draw()
            if indices is END:
                return
            worker, number = self._choose(), self._dealt
            self._dealt += 1
            try:
                self._crew.send(worker, number, Task(indices))
                self._load[worker] += 1
            except Exception as error:
                error = TypeError(f"the sampler yielded what cannot be sent to a worker: {error}")
                self._buffer.put(number, Failure(error))

    def _choose(self) -> int:
        """In order, the workers take turns, or their random numbers would depend on speed."""
        if not self._plan.in_order:
            self._turns.rotate(-self._turns.index(min(self._turns, key=self._load.__getitem__)))
        worker = self._turns[0]
        self._turns.rotate(-1)
        return worker

    def _wait(self, deadline: float) -> None:
        limit = self._plan.timeout_s
        left_s = max(0, deadline - time.monotonic()) if limit else None
        for member, message in self._crew.receive(left_s, self._pinner):
            self._arrived(member, message)
        done = self._pinner.collect() if self._pinner else []
        for number, outcome in done:
            self._buffer.put(number, outcome)
        if limit and not self._buffer and time.monotonic() >= deadline:
            raise RuntimeError(f"no batch has come within timeout={limit} s")

    def _arrived(self, member: Member, message: Message) -> None:
        outcome = _opened(member, message)
        self._load[member.id] -= 1
        if isinstance(outcome, Ended) and member.id in self._turns:
            self._turns.remove(member.id)
            self._tails[member.id] = outcome.tail
        if self._pinner is not None and isinstance(outcome, Batch):
            self._pinner.put(message.number, outcome)
        else:
            self._buffer.put(message.number, outcome)

    def _count(self, items: int) -> None:
        before, said = self._items, self._plan.items
        self._items += items
        if said is not None and before <= said < self._items:
            text = (
                f"the workers have delivered more than the {said} items that len(dataset) says:"
                " an IterableDataset has to divide its data by get_worker_info()"
            )
            warnings.warn(text, UserWarning, stacklevel=4)

    def _leftover(self) -> Batch | Failure | None:
        if self._rest is None:
            self._rest = self._merged_tails()
        return next(self._rest, None)

    def _merged_tails(self) -> Iterator[Batch | Failure]:
        """Full batches of the samples that no worker had enough of; then the sampler's error."""
        recipe, samples = self._plan.recipe, [*chain_by_worker(self._tails)]
        size = recipe.batch_size or 1
        for start in range(0, len(samples) - size + 1, size):
            try:
                outcome: Outcome = recipe.collated(samples[start : start + size])
            except Exception as error:
                outcome = Failure(error)
            yield pin_outcome(outcome) if self._plan.pin else outcome  # type: ignore[misc]
        if self._producer.failure is not None:
            yield self._producer.failure

    def _finish(self) -> None:
        super()._finish()
        self._release()


def chain_by_worker(tails: dict[int, list[Any]]) -> Iterator[Any]:
    for worker in sorted(tails):
        yield from tails[worker]


def _opened(member: Member, message: Message) -> Outcome:
    try:
        value = unpacked(message.body, message.file())
        return received(value, member.name) if isinstance(value, Report) else value
    except Exception as error:
        return Failure(error)
    finally:
        message.close()


def _release(release: Callable[[Crew], None], crew: Crew, pinner: Pinner | None) -> None:
    if pinner is not None:
        pinner.close()
    release(crew)
