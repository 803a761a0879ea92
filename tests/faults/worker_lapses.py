"""Wrong loaders whose workers are right but in one moment that their author did not think of.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any

from worker_shortcuts import _Benched, _Unasked

import reference
from reference.loader.bench import Bench, _packed
from reference.loader.crew import Crew, Member
from reference.loader.crew_pass import CrewPass
from reference.loader.worker import Begin, End

# Workers that are kept.


class _TwoBits(_Unasked):
    def begin(self, order: Begin, descriptor: int | None = None) -> bool:
        taken = super().begin(order, descriptor)
        self.turn %= 4
        return taken

    def end(self) -> None:
        self.turn = (self.turn + 1) % 4
        self._tell_all(End())
        for _, message in self.receive(0, None):
            message.close()


class _TwoBitsBench(Bench):
    def begin(self, *given: Any) -> Crew:
        crew = super().begin(*given)
        crew.__class__ = _TwoBits
        return crew


class TwoBitsOfPass(_Benched):
    """Two bits tell to which pass an answer belongs: one that is late by two passes is delivered
    in the present one."""

    CAUGHT_BY = ("workers.set-epoch",)
    ANOMALY = "epoch-leaked"
    bench = _TwoBitsBench


class _Mending(Crew):
    fallen: Member | None = None

    def receive(self, timeout_s: float | None, wake: Any) -> Iterator[Any]:
        whole = self.death is None
        yield from super().receive(timeout_s, wake)
        if whole and self.death is not None:
            gone = (m for m in self.members if m.channel.hung_up or m.process.exitcode is not None)
            self.fallen = next(gone)

    def mend(self, job: Any, context: Any) -> None:
        """Start the one again that is known to have ended."""
        assert self.fallen is not None
        self.fallen.channel.close()
        self.fallen.process.kill()
        self.members[self.fallen.id] = Member(self.fallen.id, job, context)
        self.fallen = self.death = None


class _MendingBench(Bench):
    def begin(self, job: Any, context: Any, seed: int) -> Crew:
        crew = self._idle
        if not isinstance(crew, _Mending) or crew.fallen is None or crew.pid != os.getpid():
            found = super().begin(job, context, seed)
            found.__class__ = _Mending
            return found
        self._idle = None
        crew.mend(job, context)
        dataset, descriptor = _packed(job.dataset) or (None, None)
        crew.begin(Begin(seed, dataset), descriptor)
        return crew

    def release(self, crew: Crew) -> None:
        if not (self._keep and self._idle is None and crew.pid == os.getpid()):
            crew.dismiss()
            return
        crew.end()
        self._idle = crew


class StartsOneAgain(_Benched):
    """Of standing workers the one whose death was noticed is started again: where two have died,
    a second pass fails."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    bench = _MendingBench


class _AsAtTheStart(Bench):
    """Two idle crews take turns; a dataset that is as it was at their start is not sent again."""

    def __init__(self, keep: bool) -> None:
        super().__init__(keep)
        self._waiting, self._started = deque[Crew](), b""

    def begin(self, job: Any, context: Any, seed: int) -> Crew:
        found = _packed(job.dataset) if self._keep else None
        crew = self._waiting.popleft() if self._waiting and found else None
        if crew is not None and not crew.healthy():
            crew.dismiss()
            crew = None
        dataset, descriptor = found or (None, None)
        digest = sha256(dataset or b"").digest()
        if crew is None:
            crew, self._started = Crew(job, context), digest
        if digest == self._started:
            dataset = None
            if descriptor is not None:
                os.close(descriptor)
        crew.begin(Begin(seed, dataset), None if dataset is None else descriptor)
        return crew

    def release(self, crew: Crew) -> None:
        if self._keep and len(self._waiting) < 2 and crew.healthy():
            crew.end()
            self._waiting.append(crew)
        else:
            crew.dismiss()


class KnownToAnotherCrew(_Benched):
    """What the workers of one pass had at their start is taken for known to those of another."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    bench = _AsAtTheStart


# How a wait ends.


class _Overdue(CrewPass):
    due: float | None = None

    def _wait(self, deadline: float) -> None:
        self.due = deadline if self.due is None else self.due
        super()._wait(self.due)

    def _outcome(self) -> Any:
        found = super()._outcome()
        self.due = None
        return found


class TimeIsUpAlready(reference.DataLoader[Any]):
    """The time of a late batch is up once for all: the next call raises at once."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "early-timeout"

    def __iter__(self) -> Iterator[Any]:
        found = super().__iter__()
        if isinstance(found, CrewPass) and self.timeout:
            found.__class__ = _Overdue
        return found


class _PoliteBench(Bench):
    def begin(self, *given: Any) -> Crew:
        crew = super().begin(*given)
        for member in crew.members:
            member.process.kill = member.process.terminate
        return crew


class AsksBySigterm(_Benched):
    """A busy worker is ended by SIGTERM, which one that has inherited a handler outlives."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"
    bench = _PoliteBench


class _PatientBench(Bench):
    def begin(self, *given: Any) -> Crew:
        crew = super().begin(*given)
        for member in crew.members:
            member.process.kill = partial(_killed_later, member.process.kill, member.process)
        return crew


def _killed_later(kill: Callable[[], None], process: Any) -> None:
    process.join(1.0)
    kill()


class ASecondForEach(_Benched):
    """When a pass is dropped each worker is given a second to end, one after the other."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"
    bench = _PatientBench
