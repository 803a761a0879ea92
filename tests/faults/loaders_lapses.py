"""Wrong loaders: right but in one moment or surrounding that their author did not think of.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import copy
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from hashlib import sha256
from multiprocessing.util import Finalize
from typing import Any

from loaders_shortcuts import _Asking
from torch.utils.data._utils import worker as torch_worker
from worker_shortcuts import _Benched

import reference
from reference import default_collate
from reference.loader import bench, worker
from reference.loader.collate import rebuilt
from reference.loader.crew import FAREWELL_S, Crew, Member
from reference.loader.crew_pass import CrewPass
from reference.loader.fetch import MapFetcher
from reference.loader.worker import Begin, End

# What is collated.


class _Collating(reference.DataLoader[Any]):
    """collates: the default collation."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = self.collates

    @classmethod
    def collates(cls, batch: Any) -> Any:
        first = batch[0]
        if cls.is_text(first):
            return list(batch)
        if isinstance(first, Mapping):
            content = {key: cls.collates([sample[key] for sample in batch]) for key in first}
            return cls.filled(first, content)
        if not isinstance(first, Sequence):
            return default_collate(batch)
        columns = [cls.collates(column) for column in zip(*batch, strict=True)]
        same = isinstance(first, (tuple, list)) and type(first) is not tuple
        return rebuilt(first, columns) if same else columns

    @staticmethod
    def is_text(sample: Any) -> bool:
        return isinstance(sample, (str, bytes))

    @staticmethod
    def filled(first: Any, content: Any) -> Any:
        return rebuilt(first, content)


class CountsAdded(_Collating):
    """A mapping is a copy of the first that is updated, and a Counter adds what it is updated
    with."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    @staticmethod
    def filled(first: Any, content: Any) -> Any:
        if type(first) is dict or not isinstance(first, MutableMapping):
            return rebuilt(first, content)
        clone = copy.copy(first)
        clone.update(content)
        return clone


class TakesTextsApart(_Collating):
    """Only `str` and `bytes` themselves are texts; numpy's are sequences of characters."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    @staticmethod
    def is_text(sample: Any) -> bool:
        return type(sample) in (str, bytes)


class ForgetsItsWorker(reference.DataLoader[Any]):
    """A pass without workers forgets which worker it is in: the dataset of an outer loader is told
    nothing after it has read through such a one."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-told"

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            worker._info = torch_worker._worker_info = None
        return super().__iter__()


class _Sorted(MapFetcher):
    def _all_samples(self, indices: Any) -> list[Any]:
        if not getattr(self._dataset, "__getitems__", None):
            return super()._all_samples(indices)
        order = sorted(range(len(indices)), key=lambda place: indices[place])
        found = super()._all_samples([indices[place] for place in order])
        return [found[place] for place in order]


class PutBackWrongly(_Asking):
    """Items are asked for in ascending order, and put back by that order and not its inverse."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "items-out-of-place"
    fetcher = _Sorted


class GoesOnAfterAnError(reference.DataLoader[Any]):
    """A pass that was given up after an error is gone on with by the next one."""

    CAUGHT_BY = ("loader.after-error",)

    _delivered = 0

    def __iter__(self) -> Iterator[Any]:
        return _Resumed(self, super().__iter__(), self._delivered)


class _Resumed:
    """One pass; `known` batches of it were delivered in the one before."""

    def __init__(self, loader: GoesOnAfterAnError, batches: Iterator[Any], known: int) -> None:
        self.loader, self.batches, self.known, self.place = loader, batches, known, known
        loader._delivered = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while self.known:
            self.known -= 1
            next(self.batches)
        try:
            batch = next(self.batches)
        except ValueError:
            self.loader._delivered = self.place
            raise
        self.place += 1
        self.loader._delivered = 0
        return batch


# Workers that are kept.


class _OwnBench(bench.Bench):
    """crews: the class of the workers of a pass."""

    crews: type[Crew]

    def begin(self, job: Any, context: Any, seed: int) -> Crew:
        crew, self._idle = self._idle, None
        crew = self.usable(crew, job, context)
        found = bench._packed(job.dataset) if crew is not None else None
        if crew is None or found is None:
            if crew is not None:
                crew.dismiss()
            crew = self.crews(job, context)
        dataset, descriptor = found or (None, None)
        crew.begin(Begin(seed, dataset), descriptor)
        return crew

    def usable(self, crew: Crew | None, job: Any, context: Any) -> Crew | None:
        """The crew that was kept, if it is of use."""
        if crew is None or crew.healthy():
            return crew
        crew.dismiss()
        return None


class _TwoBits(Crew):
    def begin(self, order: Begin, descriptor: int | None = None) -> None:
        super().begin(order, descriptor)
        self.turn %= 4

    def end(self) -> None:
        self.turn = (self.turn + 1) % 4
        self._tell_all(End())
        for _, message in self.receive(0, None):
            message.close()


class _TwoBitsBench(_OwnBench):
    crews = _TwoBits


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

    def mended(self, job: Any, context: Any) -> bool:
        """Whether all live, once the one that was known to have ended was started again."""
        if self.pid != os.getpid() or self.fallen is None:
            return self.healthy()
        self.fallen.channel.close()
        self.fallen.process.kill()
        self.members[self.fallen.id] = Member(self.fallen.id, job, context)
        self.fallen = self.death = None
        return True


class _MendingBench(_OwnBench):
    crews = _Mending

    def usable(self, crew: Any, job: Any, context: Any) -> Any:
        if crew is None or crew.mended(job, context):
            return crew
        crew.dismiss()
        return None

    def release(self, crew: Crew) -> None:
        if not (self._keep and self._idle is None and crew.pid == os.getpid()):
            return crew.dismiss()  # type: ignore[no-any-return]
        with suppress(OSError):
            crew.end()
        self._idle = crew
        return None


class StartsOneAgain(_Benched):
    """Of standing workers the one whose death was noticed is started again: where two have died,
    a second pass fails."""

    CAUGHT_BY = ("lifecycle.again",)
    ANOMALY = "no-complete-pass"
    bench = _MendingBench


class _AsAtTheStart(bench.Bench):
    """Two idle crews take turns; a dataset that is as it was at their start is not sent again."""

    def __init__(self, keep: bool) -> None:
        super().__init__(keep)
        self._waiting, self._started = deque[Crew](), b""

    def begin(self, job: Any, context: Any, seed: int) -> Crew:
        found = bench._packed(job.dataset) if self._keep else None
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


def _asked(members: list[Member]) -> None:
    """Hang up, then ask by SIGTERM, twice, and never more firmly."""
    for member in members:
        member.channel.close()
    for _ in range(2):
        until = time.monotonic() + FAREWELL_S
        for member in members:
            member.process.join(max(0, until - time.monotonic()))
        for member in members:
            if member.process.exitcode is None:
                member.process.terminate()
    members.clear()


class _Polite(Crew):
    def __init__(self, job: Any, context: Any) -> None:
        super().__init__(job, context)
        self.dismiss.cancel()
        self.dismiss = Finalize(self, _asked, (self.members,), exitpriority=10)


class _PoliteBench(_OwnBench):
    crews = _Polite


class AsksBySigterm(_Benched):
    """A busy worker is ended by SIGTERM, which one that has inherited a handler outlives."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"
    bench = _PoliteBench
