"""Wrong loaders whose workers are idle while the caller is at work.

Each class breaks one rule of `spec/workers.md`, on top of the reference's loader. `CAUGHT_BY` lists
the clauses that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from reporting import Reporting

from reference import DataLoader
from reference.loader import parcel
from reference.loader.bench import Bench
from reference.loader.channel import Message
from reference.loader.crew import Crew
from reference.loader.crew_pass import CrewPass
from reference.loader.worker import Task


class _Ahead(DataLoader[Any]):
    """Once a pass has begun, `ahead` says how many batches are under way."""

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._plan = made._plan._replace(ahead=self.ahead(made._plan.ahead))
        return made

    def ahead(self, right: int) -> int:
        return right


class _Demanded(CrewPass):
    def _deal(self, ahead: int) -> None:
        pass

    def _wait(self, deadline: float) -> None:
        if self._dealt == self._delivered:
            super()._deal(1)
        if self._dealt > self._delivered:
            super()._wait(deadline)


class FetchesOnDemand(Reporting):
    """What is under way at the start is delivered, and then each batch is made when it is asked."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"
    rule = _Demanded


class CountsForAll(_Ahead):
    """`prefetch_factor` is taken for the number of batches of all workers together."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"

    def ahead(self, right: int) -> int:
        return self.prefetch_factor or 0


class OneForEach(_Ahead):
    """`prefetch_factor` counts at the start of a pass only, and later each worker has one batch."""

    CAUGHT_BY = ("workers.prefetch",)
    ANOMALY = "late-prefetch"

    def ahead(self, right: int) -> int:
        return self.num_workers


class _Emptied(CrewPass):
    def _deal(self, ahead: int) -> None:
        if self._dealt <= self._delivered + 1:
            super()._deal(ahead)


class RefillsWhenEmpty(Reporting):
    """Batches are dealt anew when the last of those under way is delivered."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"
    rule = _Emptied


class _Piped(Crew):
    def send(self, worker: int, number: int, task: Task) -> None:
        body = pickle.dumps(([], pickle.dumps(task)))
        self.members[worker].channel.send(Message(self.turn, number + 1, body))


class _PipedBench(Bench):
    def begin(self, *given: Any) -> Crew:
        crew = super().begin(*given)
        crew.__class__ = _Piped
        return crew


class SendsTheRestLater(DataLoader[Any]):
    """Of long indices a worker gets as much as goes into its pipe, and the rest while the caller
    asks for a batch."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bench = _PipedBench(self.persistent_workers)


class _AllInline:
    def __init__(self, init: Callable[[int], Any] | None) -> None:
        self.init = init

    def __call__(self, worker: int) -> None:
        parcel.INLINE_BYTES_MAX = 1 << 60
        if self.init is not None:
            self.init(worker)


class WaitsUntilItIsTaken(DataLoader[Any]):
    """A worker writes its batch into a pipe, and begins the next when all of it has been read."""

    CAUGHT_BY = ("workers.prefetch",)
    ANOMALY = "late-prefetch"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.worker_init_fn = _AllInline(self.worker_init_fn)
