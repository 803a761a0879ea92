"""A rank that carries out a loader's plan: the operations of samplers, and those of loaders.

Every operation has a bound. A watching thread tells, when it has passed, where the main thread
waits; that is the last event of the trace, and the process is then killed with all its children.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import psutil
import torch.distributed as dist

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.trace import Event, RankTrace
from conformance.worlds.blows import BLOWS
from conformance.worlds.children import CHILDREN
from conformance.worlds.device import DEVICE, make_room
from conformance.worlds.gating import GATING
from conformance.worlds.keeper import Keeper
from conformance.worlds.keeping import kept
from conformance.worlds.leftovers import (
    WATCH,
    children,
    descendants,
    leftovers,
    standing,
)  # fmt: skip
from conformance.worlds.observe import Recorder, error_of
from conformance.worlds.rank import Rank
from conformance.worlds.realise_loader import LoaderRealiser
from conformance.worlds.samples import describe
from conformance.worlds.segments import hear_of_segments
from conformance.worlds.settings import changed, settings
from conformance.worlds.watch import Watch
from conformance.worlds.workload import change

FILTERED = 4
"""So often filters of warnings are changed by who does so in each pass; an import does so once."""

GONE_S = 7.0
"""How long children and threads may take to go: past the bound of lifecycle.shutdown."""


class LoaderRank(Rank):
    """One rank of a loader's case."""

    collects = True

    def __init__(
        self, roles: dict[str, Any], case: Case, rank: int,
        give_up: Callable[[RankTrace], None] | None = None, alone: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(roles, case, rank)
        self.give_up, self.alone = give_up, alone
        self.folder = tempfile.mkdtemp(prefix="conformance-gate-")
        self.gate = Keeper(self.folder)
        self.delivered: list[Any] = []
        self.beside: Any = None
        self.events: list[Event] = []
        hear_of_segments()
        self.asked = any(isinstance(step, lo.Leftovers) for step in case.plan)
        if self.asked:
            signal.setitimer(signal.ITIMER_REAL, lo.ALARM_S)
        self.before, self.settings = standing() if self.asked else children(), self._settings()
        self.least: int | None = None
        self.filtered = 0
        self.watch: Watch | None = None
        CHILDREN.waiting = False

    def run(self) -> RankTrace:
        """Carry out the plan, then end what the candidate has left behind."""
        stop = threading.Event()
        if self.give_up:
            name = {"name": WATCH, "daemon": True}
            threading.Thread(target=self._wait_for, args=(stop,), **name).start()  # type: ignore[arg-type]
        try:
            return super().run()
        finally:
            stop.set()
            self._clean()

    def forget(self) -> None:
        """Drop the loader, its iterators and all that was delivered."""
        self.iterators, self.delivered, self.sampler, self.made = {}, [], None, None
        self.beside = None
        gc.collect()

    def reported(self, kind: str) -> bool:
        """Whether anybody has reported this."""
        return any(record.kind == kind for record in self.gate.everything())

    def _clean(self) -> None:
        if self.alone:
            _KEPT.append(self)
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        self.gate.free()
        left = descendants(self.before.children)
        for child in left:  # first, lest a loader wait for them: torch does so for 5 s each
            with contextlib.suppress(psutil.Error):
                child.kill()
        self.forget()
        for child in left:
            with contextlib.suppress(psutil.Error):
                child.wait(1.0)
        self.gate.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Time, warnings and the watch.

    def _event(self, operation: op.Operation | None) -> Event:
        watch, event = Watch(self.case, operation), Event(operation)
        self.watch = watch
        try:
            with warnings.catch_warnings(record=True) as caught, CHILDREN.hear(operation):
                warnings.simplefilter("always")
                filters = [*warnings.filters]
                event = super()._event(operation)
                self.filtered += warnings.filters != filters
            told = tuple(f"{w.category.__name__}: {w.message}"[:500] for w in caught)
            event = replace(event, warnings=told)
        except BaseException as ambush:  # of a handler of signals
            event = replace(event, error=event.error or error_of(ambush))
        self.watch = None
        self.events.append(watch.timed(event))
        return self.events[-1]

    def _wait_for(self, stop: threading.Event) -> None:
        """Give up, with all that was seen, when an operation takes too long.

        Ctrl-C is not for this thread: it would be lost to a main one that holds it back.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        while not stop.wait(0.1):
            watch = self.watch
            if watch and (late := watch.late()):
                found = self._unfinished(watch, late)
                shutil.rmtree(self.folder, ignore_errors=True)
                assert self.give_up is not None
                self.give_up(found)
                return

    def _unfinished(self, watch: Watch, late: str) -> RankTrace:
        """What was seen so far of a plan that is given up."""
        if watch.is_slow():
            return RankTrace(self.rank, (*self.events,), "slow")
        hung = watch.hung(late, sys._current_frames().get(self.caller.ident))
        return RankTrace(self.rank, (*self.events, hung))

    # Passes.

    def build(self, operation: op.Rebuild | None) -> tuple[Any, Any]:
        case, self.iterators, self.delivered = self.case, {}, []
        arguments = dict(case.arguments) | dict(operation.overrides if operation else ())
        make_room(arguments)
        self.made: Any = LoaderRealiser(self.roles, case, self.rank, self.gate)
        early = operation is not None and operation.early
        with _groupless() if early else contextlib.nullcontext():
            self.sampler = self.made.role("DataLoader", arguments)
            for _ in self.sampler if early else ():
                pass
        return None, None

    def _reload(self, operation: lo.Reload) -> tuple[Any, Any]:
        held, self.beside = self.made.datasets, self.sampler if operation.beside else None
        kept = *operation.overrides, ("dataset", held[0])
        found = self.build(op.Rebuild(kept))
        self.made.datasets = held
        return found

    def _set_epoch(self, operation: op.SetEpoch) -> tuple[Any, Any]:
        for sampler in self.made.samplers:
            sampler.set_epoch(self.made.value(operation.epoch))
        return None, None

    def _open(self, operation: op.Open) -> tuple[Any, Any]:
        self.delivered = []
        return super()._open(operation)

    def _iterate(self, _: op.Iterate) -> tuple[Any, Any]:
        self.delivered = []
        return self._pass(iter(self.sampler))

    def _take(self, operation: op.Take) -> tuple[Any, Any]:
        return self.read(self.iterators[operation.name], operation.count)

    def _pass(self, iterator: Any) -> tuple[Any, Any]:
        items, error = self.read(iterator, self.case.limit)
        if error is not None:
            return items, error
        if len(items) >= self.case.limit:
            return replace(items, cut=True), None
        more = sum(1 for _ in itertools.islice(iterator, 3))
        return (replace(items, extra=more) if more else items), None

    def read(self, iterator: Iterator[Any], count: int) -> tuple[Any, Any]:
        """Items one by one: each is reported at the moment when the caller has it."""
        recorder, errors, before = Recorder(), list[BaseException](), len(self.delivered)
        try:
            for _ in range(count):
                self.gate.want(len(self.delivered))
                self.delivered.append(kept(next(iterator), len(self.delivered)))
                self.gate.report("deliver", len(self.delivered) - 1)
                if self.watch:
                    self.watch.came()
                recorder.add(self.delivered[-1:])
        except StopIteration:
            pass
        except BaseException as caught:  # of next(), or of a handler of signals, at any moment
            errors.append(caught)
        recorder.add(self.delivered[before + recorder.count :])
        # No variable holds the error, whose traceback holds this frame and the iterator: they would
        # be garbage for the collector, and so outlive the iterator's last reference.
        return recorder.items(), errors.pop() if errors else None

    # Operations of loaders.

    def _reread(self, _: lo.Reread) -> tuple[Any, Any]:
        recorder = Recorder()
        recorder.add(self.delivered)
        return recorder.items(), None

    def _describe(self, _: lo.Describe) -> tuple[Any, Any]:
        return tuple(describe(item) for item in self.delivered), None

    def _surround(self, operation: op.Surround) -> tuple[Any, Any]:
        super()._surround(operation)
        self.settle()
        return None, None

    def settle(self) -> None:
        """What is set now the caller has set."""
        self.settings = self._settings()

    def _settings(self) -> dict[str, Any]:
        """The settings, if somebody will ask for them: to count what is frozen takes 5 ms."""
        return settings() if self.asked else {}

    def _tell(self, operation: lo.Tell) -> tuple[Any, Any]:
        for dataset in self.made.datasets:
            change(dataset, operation.mark, operation.how)
        return None, None

    def _leave(self, _: lo.Leave) -> tuple[Any, Any]:
        self.sampler = None
        gc.collect()
        return None, None

    def _drop(self, operation: lo.Drop) -> tuple[Any, Any]:
        if not operation.collected:
            gc.disable()
            cycle = [self.iterators.pop(operation.name)]
            cycle.append(cycle)
            return None, None
        if operation.name:
            del self.iterators[operation.name]
        else:
            self.iterators, self.sampler, self.beside = {}, None, None
        gc.collect()
        return None, None

    def _leftovers(self, _: lo.Leftovers) -> tuple[Any, Any]:
        self.delivered = []  # a tensor in shared memory holds a descriptor
        gc.collect()
        pids = frozenset(record.pid for record in self.gate.everything())
        found = leftovers(self.before, pids, max(1.0, GONE_S - self._waited()), self.least)
        self.least = found["descriptors"]
        others = ["warnings.filters"] * (self.filtered >= FILTERED)
        return {**found, "changed": [*changed(self.settings, settings()), *others]}, None

    def _waited(self) -> float:
        """For how long what may be left has had time to go; what once stays is not waited for."""
        found = [e.value for e in self.events if isinstance(e.operation, lo.Leftovers) and e.value]
        if any(value["children"] or value["threads"] for value in found):
            return GONE_S
        return self.events[-1].seconds if isinstance(self.events[-1].operation, lo.Drop) else 0.0

    DO: ClassVar[dict[Any, Any]] = {
        **Rank.DO, type(None): build, op.Rebuild: build, op.SetEpoch: _set_epoch,
        op.Open: _open, op.Iterate: _iterate, op.Take: _take, op.Drain: Rank._drain,
        op.Surround: _surround, lo.Reload: _reload,
        lo.Reread: _reread, lo.Describe: _describe, lo.Tell: _tell, lo.Drop: _drop,
        lo.Leave: _leave,
        lo.Leftovers: _leftovers, **GATING, **BLOWS, **DEVICE,
    }  # fmt: skip


_KEPT: list[LoaderRank] = []
"""The rank of a process that serves one case: to tidy up after it takes time, and it is killed."""


@contextlib.contextmanager
def _groupless() -> Iterator[None]:
    """There is no process group yet."""
    group: Any = dist.distributed_c10d.GroupMember.WORLD
    dist.distributed_c10d._update_default_pg(None)
    try:
        yield
    finally:
        dist.distributed_c10d._update_default_pg(group)
