"""A rank carries out a plan. It knows operations and nothing else: no clause, no expectation."""

from __future__ import annotations

import asyncio
import copy
import decimal
import gc
import itertools
import math
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import torch
import torch.distributed as dist

from conformance import operations as op
from conformance.case import Case
from conformance.roles import FIRST
from conformance.trace import Event, RankTrace
from conformance.worlds.globals import (
    become_worker,
    digest,
    draw_normal,
    launch,
    put_back_settings,
    seed_globals,
    settings,
)
from conformance.worlds.observe import Recorder, error_of, fill, read
from conformance.worlds.realise import Realiser, refilled
from conformance.worlds.threads import Caller


class Slow(BaseException):
    """The time for a case is over, and items still come."""


class Rank:
    """One rank of one case: construct the role, then carry out the plan, operation by operation.

    until: the CPU seconds of this process at which a pass that still yields items is given up.
    collects: whether garbage is collected; some programs collect it when they have the time.
    """

    collects: ClassVar[bool] = False

    def __init__(
        self, roles: dict[str, Any], case: Case, rank: int, until: float = math.inf
    ) -> None:
        self.case, self.rank, self.roles, self.until = case, rank, roles, until
        self.iterators: dict[str, Any] = {}
        self.batches: list[Any] = []
        self.twin: Any = None
        self.caller = Caller()
        self.neighbours: list[Any] = []
        self.refilled: list[Any] = []

    def run(self) -> RankTrace:
        """Carry out the plan; what is raised becomes part of the trace and the plan goes on."""
        seed_globals(self.case.rank_seed(self.rank))
        events, fate = [Event(None)], "done"
        try:
            with put_back_settings():
                if not self.collects:
                    gc.disable()
                began = settings()
                events[0] = self._event(None)
                for operation in self.case.plan if events[0].error is None else ():
                    self._more()  # simulated ranks share the time
                    events.append(self._event(operation))
        except Slow:
            fate = "slow"
        return RankTrace(self.rank, tuple(events), fate, settings=began)

    def _more(self) -> None:
        """Give up what yields and yields when its time is over: slow is not stuck."""
        if time.process_time() > self.until:
            raise Slow

    def _event(self, operation: op.Operation | None) -> Event:
        event: Event = self.caller.call(operation, self._outcome)
        return event

    def _outcome(self, operation: op.Operation | None) -> Event:
        try:
            value, error = self.DO[type(operation)](self, operation)
        except Slow:
            raise
        except BaseException as caught:  # sys.exit() in a pass is a finding too
            value, error = None, caught
        told = error_of(error) if error is not None else None
        error = None  # its traceback holds this frame: they would be garbage for the collector
        return Event(operation, value, told)

    def _build(self, operation: op.Rebuild | None) -> tuple[Any, Any]:
        case, self.iterators, self.twin = self.case, {}, None
        arguments = dict(case.arguments) | dict(operation.overrides if operation else ())
        self.made = Realiser(self.roles, self.rank, case.world_size, case.passed)
        self.sampler = self.made.role(case.role, arguments)
        return None, None

    def _refill(self, operation: op.Refill) -> tuple[Any, Any]:
        held, told = self.made.held, dict(operation.overrides)
        kept = {name: refilled(held.get(name), recipe) for name, recipe in told.items()}
        self.refilled.append(held)  # what is made afterwards shall not have the same addresses
        return self._build(op.Rebuild(tuple(kept.items())))

    def _neighbour(self, operation: op.Neighbour) -> tuple[Any, Any]:
        case = self.case
        if operation.rank not in (None, self.rank):
            return None, None
        same = {name: self.made.held[name] for name in case.shared(operation)}
        beside = self.made.afresh().role(case.role, case.beside(operation) | same)
        self.neighbours.append(beside)
        with suppress(TypeError):
            len(beside)
        if operation.epoch is not None:
            beside.set_epoch(operation.epoch)
        if operation.count:
            deque(itertools.islice(beside, operation.count), maxlen=0)
        return None, None

    def _len(self, _: op.Len) -> tuple[Any, Any]:
        return len(self.sampler), None

    def _set_epoch(self, operation: op.SetEpoch) -> tuple[Any, Any]:
        self.sampler.set_epoch(self.made.value(operation.epoch))
        return None, None

    def _iterate(self, _: op.Iterate) -> tuple[Any, Any]:
        return self._pass(iter(self.sampler))

    def _validate(self, operation: op.Validate) -> tuple[Any, Any]:
        with torch.inference_mode():
            return self._iterate(operation)

    def _within(self, operation: op.Within) -> tuple[Any, Any]:
        async def passed() -> tuple[Any, Any]:
            return self._iterate(operation)

        if operation.where == "loop":
            return asyncio.run(passed())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self._iterate(operation)

    def _passes(self, operation: op.Passes | op.Epochs) -> tuple[Any, Any]:
        recorder = Recorder()
        for number in range(operation.count):
            if isinstance(operation, op.Epochs):
                self.sampler.set_epoch(operation.start + number)
            self._more()  # a short pass has no look within it
            before = recorder.count
            error = fill(recorder, iter(self.sampler), self.case.limit, self._more)
            if error is not None:
                return None, error
            if recorder.count - before >= self.case.limit:
                return recorder.items(cut=True), None
        return recorder.items(), None

    def _open(self, operation: op.Open) -> tuple[Any, Any]:
        self.iterators[operation.name] = iter(self.sampler)
        return None, None

    def _take(self, operation: op.Take) -> tuple[Any, Any]:
        return read(self.iterators[operation.name], operation.count, self.batches, self._more)

    def _drain(self, operation: op.Drain) -> tuple[Any, Any]:
        return self._pass(self.iterators[operation.name])

    def _pass(self, iterator: Any) -> tuple[Any, Any]:
        items, error = read(iterator, self.case.limit, self.batches, self._more)
        if error is not None:
            return items, error
        if len(items) >= self.case.limit:
            return replace(items, cut=True), None
        more = sum(1 for _ in itertools.islice(iterator, 3))
        return (replace(items, extra=more) if more else items), None

    def _scribble(self, _: op.Scribble) -> tuple[Any, Any]:
        again = len(self.batches) - len({id(batch) for batch in self.batches})
        for batch in self.batches:
            batch[:] = [-7] * (len(batch) + 1)
        return again, None

    def _look(self, operation: op.Look) -> tuple[Any, Any]:
        recorder = Recorder()
        count = len(self.sampler)
        found: dict[int, Any] = {}
        for place in op.PLACES[operation.how](min(count, self.case.limit)):
            found[place] = self.sampler[place]
        recorder.add([found[place] for place in sorted(found)])
        try:
            self.sampler[operation.past + (count if operation.past >= 0 else -count)]
        except BaseException as error:
            return (recorder.items(), error_of(error)), None
        return (recorder.items(), None), None

    def _globals(self, _: op.Globals) -> tuple[Any, Any]:
        return digest(self.made.generators[0] if self.made.generators else None), None

    def _reseed(self, operation: op.Reseed) -> tuple[Any, Any]:
        if operation.which == "generator":
            for generator in self.made.generators:
                generator.manual_seed(operation.seed)
            return None, None
        seed_globals(operation.seed, operation.which)
        draw_normal(operation.which)
        return None, None

    def _surround(self, operation: op.Surround) -> tuple[Any, Any]:
        torch.set_default_dtype(getattr(torch, operation.dtype))
        torch.set_num_threads(operation.threads)
        decimal.getcontext().prec = operation.digits
        if operation.spare:
            gc.disable()
            torch.set_grad_enabled(False)
            sys.setswitchinterval(0.002)
        launch(operation.environment)
        if operation.worker:
            become_worker(*operation.worker)
        return None, None

    def _copy(self, operation: op.Copy) -> tuple[Any, Any]:
        deep = operation.how == "deepcopy"
        made = copy.deepcopy(self.sampler) if deep else pickle.loads(pickle.dumps(self.sampler))
        self.sampler = self.sampler if operation.spare else made
        return None, None

    def _resize(self, operation: op.Resize) -> tuple[Any, Any]:
        for dataset in self.made.datasets:
            dataset.n = operation.n
        for probe in self.made.probes:
            probe.count = operation.n
        return None, None

    def _forget(self, _: op.Forget) -> tuple[Any, Any]:
        self.made = self.made.afresh()
        gc.collect()
        return None, None

    def _threads(self, _: op.Threads) -> tuple[Any, Any]:
        self.caller.apart = True
        return None, None

    def _group(self, operation: op.Group) -> tuple[Any, Any]:
        """Of this process alone: none of the ranks of a pool may lose its own."""
        if operation.begins:
            store = dist.HashStore()  # type: ignore[attr-defined]
            dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        else:
            dist.destroy_process_group()
        return None, None

    def _overwrite(self, _: op.Overwrite) -> tuple[Any, Any]:
        self.made.overwrite()
        return None, None

    def _lengthen(self, step: op.Lengthen) -> tuple[Any, Any]:
        self.made.lengthen(step.count)
        return None, None

    def _arguments(self, _: op.Arguments) -> tuple[Any, Any]:
        return (self.made.handed_over, self.made.digest()), None

    def _inner(self, _: op.Inner) -> tuple[Any, Any]:
        return read(iter(self.made.first), self.case.limit)

    def _twin(self, _: op.Twin) -> tuple[Any, Any]:
        """The inner sampler of the case's own arguments, made anew where it is not yet there."""
        if self.twin is None:
            self.twin = self.made.afresh().value(self.case.argument(FIRST[self.case.role]))
        return read(iter(self.twin), self.case.limit)

    def _inspect(self, _: op.Inspect) -> tuple[Any, Any]:
        seen = self.made.probes[0].seen
        return {key: list(v) if isinstance(v, list) else v for key, v in seen.items()}, None

    DO: ClassVar[dict[Any, Callable[[Any, Any], tuple[Any, Any]]]] = {
        type(None): _build, op.Rebuild: _build, op.Refill: _refill, op.Neighbour: _neighbour,
        op.Len: _len, op.SetEpoch: _set_epoch,
        op.Iterate: _iterate, op.Passes: _passes, op.Epochs: _passes, op.Open: _open,
        op.Take: _take, op.Drain: _drain, op.Scribble: _scribble, op.Look: _look,
        op.Globals: _globals, op.Reseed: _reseed, op.Surround: _surround, op.Copy: _copy,
        op.Resize: _resize, op.Overwrite: _overwrite, op.Forget: _forget, op.Arguments: _arguments,
        op.Threads: _threads, op.Lengthen: _lengthen, op.Group: _group, op.Validate: _validate,
        op.Within: _within,
        op.Inspect: _inspect, op.Inner: _inner, op.Twin: _twin,
    }  # fmt: skip
