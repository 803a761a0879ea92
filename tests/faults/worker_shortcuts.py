"""Wrong loaders, with workers: what is right until there is more of it, or until it changes.

Each class breaks one rule of `spec/workers.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import os
import pickle
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

import torch.distributed as dist
from reporting import Reporting, Worse
from worker_streams import _seed_all, _Seeding

from reference import DataLoader
from reference.loader.bench import Bench, _packed
from reference.loader.channel import Message
from reference.loader.crew import Crew, Member
from reference.loader.crew_pass import CrewPass
from reference.loader.fetch import Outcome
from reference.loader.reorder import ReorderBuffer
from reference.loader.worker import Begin, Job

# Order and room.

SEATS = 16


class _Short(ReorderBuffer):
    """No more than so many wait for the one that is due."""

    def put(self, number: int, outcome: Outcome) -> None:
        if number < self._next:
            self._ready.append(outcome)
            return
        super().put(number, outcome)
        if len(self._waiting) >= SEATS:
            late, self._next = self._waiting, min(self._waiting)
            super().put(self._next, late[self._next])


class SixteenWait(DataLoader[Any]):
    """When sixteen batches wait for a late one, they are delivered before it."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._buffer = _Short(self.in_order)
        return made


class _Widening(Worse):
    def raised(self, error: Exception) -> Any:
        self._plan = self._plan._replace(ahead=self._plan.ahead + 1)
        raise error


class ErrorsMakeRoom(Reporting):
    """After each error one batch more is under way, as if it had been delivered twice."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"
    rule = _Widening


# What changes between two passes.


class _Benched(DataLoader[Any]):
    """bench: where its idle workers wait for the next pass."""

    bench: type[Bench]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bench = self.bench(self.persistent_workers)


class _Unasked(Crew):
    """Does not wait until its workers say that they have taken the dataset."""

    def _taken(self) -> bool:
        return True

    def receive(self, timeout_s: float | None, wake: Any) -> Iterator[tuple[Member, Message]]:
        yield from (pair for pair in super().receive(timeout_s, wake) if pair[1].number >= 0)


class _Keeping(Bench):
    """Standing workers are not sent a dataset that `stays`."""

    def begin(self, job: Job, context: BaseContext, seed: int) -> Any:
        crew, stays = self._idle, self.stays(job.dataset)
        if crew is None or not stays or not crew.healthy():
            return super().begin(job, context, seed)
        self._idle = None
        crew.begin(Begin(seed, None))
        return crew

    def stays(self, dataset: Any) -> bool:
        raise NotImplementedError


class _AttributesAlone(_Keeping):
    def stays(self, dataset: Any) -> bool:
        return not hasattr(dataset, "__dict__")


class ListsStayTheSame(_Benched):
    """Standing workers are told anew what attributes a dataset has, and a list has none."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    bench = _AttributesAlone


class _SameText(_Keeping):
    """Sends a dataset only if what pickle writes of it has changed, without large arrays."""

    text: bytes | None = None

    def stays(self, dataset: Any) -> bool:
        text, descriptor = _packed(dataset) or (None, None)
        if descriptor is not None:
            os.close(descriptor)
        same, self.text = text is not None and text == self.text, text
        return same


class LargeArraysStayTheSame(_Benched):
    """Whether a dataset has changed is asked of its pickle, in which large arrays are apart."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    bench = _SameText


class _Sending(Bench):
    def begin(self, job: Job, context: BaseContext, seed: int) -> Any:
        if self._idle is not None:
            pickle.dumps(job.dataset)
        return super().begin(job, context, seed)


class SendsOrRaises(_Benched):
    """Standing workers are sent the dataset, even if it was forked because it cannot be pickled."""

    CAUGHT_BY = ("workers.persistent",)
    ANOMALY = "raises"
    bench = _Sending


class _AtFirstNext(Iterator[Any]):
    """A pass that begins when its first batch is asked for."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self.begin: Callable[[], Iterator[Any]] | None = begin

    def __next__(self) -> Any:
        if self.begin is not None:
            self.made, self.begin = self.begin(), None
        return next(self.made)


class LaterPassesWait(DataLoader[Any]):
    """With standing workers, a pass begins at `iter()` only if it is the first."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"

    begun = False

    def __iter__(self) -> Iterator[Any]:
        begin, later = super().__iter__, self.begun and self.persistent_workers
        self.begun = True
        return _AtFirstNext(begin) if later else begin()


class AsksForItsRank(_Seeding):
    """The rank is a part of the seed, but workers that are not forked do not know it."""

    CAUGHT_BY = ("workers.rank-seeds",)
    ANOMALY = "ranks-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        rank = dist.get_rank() if dist.is_initialized() else 0
        _seed_all(10_000 * given + 1000 * rank + 10 * passes + worker)


# Errors.


class _AsShell(Worse):
    def raised(self, error: Exception) -> Any:
        found = re.search(r"ended with exit code (\d+)", str(error))
        if found is None or int(found[1]) <= 128:
            raise error
        told = f"was killed by signal {int(found[1]) - 128}"
        raise type(error)(str(error).replace(found[0], told)) from None


class CodesOfTheShell(Reporting):
    """An exit code above 128 is told as the signal that a shell would mean by it."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "reason-unnamed"
    rule = _AsShell


class _Reading:
    """The draws of a sampler, taken in a thread."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = drawn

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[Any]:
        asked, ready, found = threading.Semaphore(0), threading.Semaphore(0), deque[Any]()
        threading.Thread(target=self._read, args=(asked, ready, found), daemon=True).start()
        while True:
            asked.release()
            ready.acquire()
            kind, draw = found.popleft()
            if kind == "end":
                return
            if kind == "error":
                raise draw
            yield draw

    def _read(self, asked: Any, ready: Any, found: deque[Any]) -> None:
        threading.excepthook = lambda _: None
        draws = iter(self.drawn)
        while asked.acquire():
            try:
                found.append(("draw", next(draws)))
            except StopIteration:
                found.append(("end", None))
            except Exception as error:
                found.append(("error", error))
            ready.release()
            if found and found[0][0] != "draw":
                return


class ReaderThatEnds(DataLoader[Any]):
    """The thread that reads the sampler ends, and says nothing, where `iter(sampler)` raises."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return _Reading(drawn) if self.num_workers and not self._iterable else drawn
