"""Wrong loaders with workers: how deaths are reported, what follows them, and waits without end.

Each class breaks one rule of `spec/workers.md`, on top of the reference's loader. `CAUGHT_BY` lists
the clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number such
as B124 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
import math
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from reporting import Reporting, Worse, wait_for_ever

from reference import DataLoader, WorkerDied

WINDOW = 4
"""How many batches two workers may have under way."""

# Deaths.


class _Dead(Worse):
    """`mourned` is called with the report of a death."""

    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerDied):
            return self.mourned(error)
        raise error

    def mourned(self, error: WorkerDied) -> Any:
        raise error


class _Unnamed(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        how = str(error).rpartition("(pid")[2].partition(")")[2]
        raise RuntimeError(f"a worker of the loader {how}")


class NamesNobody(Reporting):
    """The report of a death tells how the worker ended and not which one it was."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "worker-unnamed"
    rule = _Unnamed


class _Unexplained(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        raise RuntimeError(str(error).partition(")")[0] + ") exited unexpectedly")


class NoReason(Reporting):
    """The report of a death names the worker and not how it ended (B148)."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "reason-unnamed"
    rule = _Unexplained


class _Unsigned(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        told = str(error)
        for number, name in ((9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")):
            if name in told:
                raise RuntimeError(f"{told.partition(')')[0]}) exited with code {number}")
        raise error


class LosesTheSign(Reporting):
    """The signal that killed a worker is told as the exit code of the same number."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "reason-unnamed"
    rule = _Unsigned


class _Ending(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        raise StopIteration


class DeathIsTheEnd(Reporting):
    """When a worker dies, the pass ends as if that had been all (B124)."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"
    rule = _Ending


class _EndingLater(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        if self.number > 1:
            raise StopIteration
        raise error


class LaterDeathIsTheEnd(Reporting):
    """From the second pass on, the death of a worker ends the pass."""

    CAUGHT_BY = ("workers.death",)
    ANOMALY = "silent-end"
    rule = _EndingLater


class _Asking(_Dead):
    late = True

    def mourned(self, error: WorkerDied) -> Any:
        if self.late:
            self.late = False
            time.sleep(3.5)
        raise error


class AsksNowAndThen(Reporting):
    """Whether the workers live is asked every few seconds (B125)."""

    CAUGHT_BY = ("workers.death-soon",)
    ANOMALY = "late-report"
    rule = _Asking


class _OnlySignals(_Dead):
    def mourned(self, error: WorkerDied) -> Any:
        if "code 0" in str(error):
            wait_for_ever()
        raise error


class MissesStatusZero(Reporting):
    """A worker that exited with status 0 is thought to be at work."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _OnlySignals


class _ForAWhile(_Dead):
    """Reports a death so `many` times, and then an end."""

    reports = 0

    def mourned(self, error: WorkerDied) -> Any:
        self.reports += 1
        if self.reports > self.many():
            raise StopIteration
        raise error

    def many(self) -> float:
        return 2


class DeadForAWhile(Reporting):
    """A death is reported twice; then the iterator is at its end."""

    CAUGHT_BY = ("workers.dead-iterator",)
    ANOMALY = "ends"
    rule = _ForAWhile


class _OnceUnordered(_ForAWhile):
    def many(self) -> float:
        return math.inf if self._plan.in_order else 1


class DiesOnceUnordered(Reporting):
    """Where batches come as they are ready, a death is reported once, and then the pass ends."""

    CAUGHT_BY = ("workers.dead-iterator",)
    ANOMALY = "ends"
    rule = _OnceUnordered


class GoesOnAfterDeath(DataLoader[Any]):
    """After the report of a death new workers go on with the batch after the one that is lost."""

    CAUGHT_BY = ("workers.dead-iterator",)
    ANOMALY = "batch-after-hole"

    def __iter__(self) -> Iterator[Any]:
        return _Recovering(super().__iter__)


class _Recovering(Iterator[Any]):
    def __init__(self, again: Any) -> None:
        self.again, self.items, self.count = again, again(), 0

    def __next__(self) -> Any:
        self.count += 1
        try:
            return next(self.items)
        except WorkerDied:
            self.items = itertools.islice(self.again(), self.count, None)
            raise


# Waits without end.


class _Waiting(Worse):
    def raised(self, error: Exception) -> Any:
        if "sent" in str(error):
            wait_for_ever()
        raise error


class LosesTheUnpicklable(Reporting):
    """A batch that cannot be pickled is lost on its way, and waited for (B121)."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _Waiting


class _Full(Worse):
    """An error whose text has `told` takes a place; `__next__` waits where all are taken."""

    told, places, taken = "", WINDOW, 0

    def __next__(self) -> Any:
        if self.taken >= self.places:
            wait_for_ever()
        return super().__next__()

    def raised(self, error: Exception) -> Any:
        self.taken += self.told in str(error)
        raise error


class _Burst(_Full):
    told, places = "cannot be unpickled", 1


class LosesTheBursting(Reporting):
    """After a batch that could not be unpickled, its place is waited for."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _Burst


class ErrorsTakePlaces(Reporting):
    """An error is never counted as delivered; after as many as there is room for, none is left."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _Full


class ReadsInAThread(DataLoader[Any]):
    """A thread reads the sampler; an error of the sampler ends it, and nobody is told (B146)."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable or not self.num_workers else _threaded(drawn)


def _threaded(drawn: Any) -> Iterator[Any]:
    read: queue.Queue[Any] = queue.Queue()

    def feed() -> None:
        try:
            for indices in drawn:
                read.put((indices,))
            read.put(None)
        except Exception:
            return

    threading.Thread(target=feed, daemon=True).start()
    while (found := read.get()) is not None:
        yield found[0]
