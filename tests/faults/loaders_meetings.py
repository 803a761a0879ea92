"""Loaders in which two things meet that are right each by itself.

Each class breaks one rule, on top of the reference's loader. `CAUGHT_BY` lists the clauses that
must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import copy
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import torch
from reporting import Reporting

from reference import DataLoader
from reference.loader.bench import Bench
from reference.loader.channel import Message
from reference.loader.crew import POLL_S_MAX, Crew, Member
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch
from reference.loader.passes import LonePass
from reference.loader.pin import accelerated


class _Freeing:
    """A `collate_fn` after which the samples are let go."""

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def __call__(self, samples: list[Any]) -> Any:
        made = self.collate(samples)
        if made is not samples:
            samples.clear()
        return made


class FreesTheSamples(DataLoader[Any]):
    """The list of samples is emptied after collation, unless it is the batch; one may hold it."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "other-batches"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self._batched:
            self.collate_fn = _Freeing(self.collate_fn)


class _AskedAgain(CrewPass):
    def _leftover(self) -> Batch | Failure | None:
        outcome = super()._leftover()
        if outcome is None:
            self._rest = self._producer.failure = None
        return outcome

    def _finish(self) -> None:
        super()._finish()
        self._ended = False


class RestComesAgain(Reporting):
    """What workers left over comes again when the iterator is asked after its end."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"
    rule = _AskedAgain


class _Demoting(CrewPass):
    def _arrived(self, member: Member, message: Message) -> None:
        number = message.number
        super()._arrived(member, message)
        failed = [*self._buffer._waiting.items(), *((number, one) for one in self._buffer._ready)]
        lost = any(at == number and isinstance(one, Failure) for at, one in failed)
        if lost and self._plan.recipe.iterable and member.id in self._turns:
            self._turns.remove(member.id)
            self._turns.append(member.id)


class FailureCostsATurn(Reporting):
    """The worker of a stream whose batch has raised comes last when the next ones are dealt."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"
    rule = _Demoting


class SeedsByDataset(DataLoader[Any]):
    """Passes are counted by dataset, so that loaders made for each epoch differ in their seeds."""

    CAUGHT_BY = ("workers.seeds-repeat",)
    ANOMALY = "other-streams"
    counts: ClassVar[WeakKeyDictionary[Any, int]] = WeakKeyDictionary()

    def __iter__(self) -> Iterator[Any]:
        with suppress(TypeError):  # of a list there are no weak references
            self._passes = self.counts.get(self.dataset, 0)
            self.counts[self.dataset] = self._passes + 1
        return super().__iter__()


class _ThreadsBench(Bench):
    def __init__(self, keep: bool) -> None:
        self._own = threading.local()
        super().__init__(keep)

    @property
    def _idle(self) -> Crew | None:
        return getattr(self._own, "crew", None)

    @_idle.setter
    def _idle(self, crew: Crew | None) -> None:
        self._own.crew = crew

    def __reduce__(self) -> Any:
        return _ThreadsBench, (self._keep,)


class WorkersOfTheThread(DataLoader[Any]):
    """Workers are kept by the thread that has read a pass, and end with it."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bench = _ThreadsBench(self.persistent_workers)


class _Filtering(Crew):
    def _poll(self, timeout_s: float | None, wake: Any) -> list[Member]:
        poll = select.poll()
        sentinels = {member.process.sentinel: member for member in self.members}
        events = {member.channel.fileno(): member.channel.events for member in self.members}
        woken = None if wake is None else wake.fileno()
        for descriptor in filter(None, [woken, *sentinels, *events]):
            poll.register(descriptor, events.get(descriptor, select.POLLIN))
        ready = poll.poll(None if timeout_s is None else 1000 * min(max(0, timeout_s), POLL_S_MAX))
        return [sentinels[descriptor] for descriptor, _ in ready if descriptor in sentinels]


class DescriptorZeroIsNone(DataLoader[Any]):
    """Descriptor 0 counts as none, and is a channel where standard input is closed."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._crew.__class__ = _Filtering
        return made


class _CopyingPass(CrewPass):
    def __next__(self) -> Any:
        return copy.deepcopy(super().__next__())


class _CopyingLonePass(LonePass):
    def __next__(self) -> Any:
        return copy.deepcopy(super().__next__())


class CopiesForWantOfPins(DataLoader[Any]):
    """Without an accelerator `pin_memory=True` gives deep copies, which not everything allows."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if self.pin_memory and not accelerated():
            made.__class__ = _CopyingPass if isinstance(made, CrewPass) else _CopyingLonePass
        return made


class CountsInATensor(DataLoader[Any]):
    """Passes are counted in a tensor, which inference mode makes its own in the first of them."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"
    drawn: torch.Tensor | None = None

    def __iter__(self) -> Iterator[Any]:
        if self.drawn is None:
            self.drawn = torch.zeros((), dtype=torch.int64)
        self.drawn += 1
        return super().__iter__()


class _PutsBack:
    """A `worker_init_fn` that leaves a class as it was, and then does what was asked."""

    def __init__(self, kind: type, init: Callable[[int], object] | None) -> None:
        held = ((name, value) for name, value in vars(kind).items() if type(value) is Random)
        self.kind, self.init = kind, init
        self.states = {name: value.getstate() for name, value in held}

    def __call__(self, worker: int) -> None:
        for name, state in self.states.items():
            getattr(self.kind, name).setstate(state)
        if self.init is not None:
            self.init(worker)


class LeavesTheClassAlone(DataLoader[Any]):
    """Generators that an object holds are reseeded in a worker, those of its class are not."""

    CAUGHT_BY = ("workers.object-rng",)
    ANOMALY = "generators-alike"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.worker_init_fn = _PutsBack(type(dataset), self.worker_init_fn)
