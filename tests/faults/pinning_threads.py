"""Wrong threads that pin: each breaks a rule of another chapter, and only where batches are pinned.

Without an accelerator there is nothing to pin and no thread. `tests/test_pretended_accelerator.py`
examines them on a pretended one.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.utils import data
from torch.utils.data._utils.pin_memory import pin_memory

WAIT_S = 120.0
"""A wrong loader must not wait for ever where nobody ends it."""


class _Told(NamedTuple):
    """What the thread has to say: a batch, or an error, or neither at the end."""

    batch: Any = None
    error: BaseException | None = None
    end: bool = False


class _Threaded(data.DataLoader):  # type: ignore[type-arg]
    """A thread reads torch's loader, pins, and is two batches ahead; faults replace its parts."""

    def __init__(self, *arguments: Any, pin_memory: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pins = pin_memory and torch.cuda.is_available()

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return _read(self, batches) if self.pins else batches

    def fill(self, batches: Iterator[Any], pinned: queue.Queue[_Told], left: Any) -> None:
        """What the thread does."""
        told = _Told()
        while not told.end and told.error is None and not left.is_set():
            told = self.step(batches)
            self.put(pinned, told, left)

    def step(self, batches: Iterator[Any]) -> _Told:
        """What comes next."""
        try:
            return _Told(pin_memory(next(batches)))
        except StopIteration:
            return _Told(end=True)
        except Exception as error:
            return _Told(error=error)

    def put(self, pinned: queue.Queue[_Told], told: _Told, left: Any) -> None:
        """Hand over, unless the caller has left."""
        there = False
        while not there and not left.is_set():
            with contextlib.suppress(queue.Full):
                pinned.put(told, timeout=0.05)
                there = True

    def between(self) -> queue.Queue[_Told]:
        """Between the thread and the caller."""
        return queue.Queue(2)


def _read(loader: _Threaded, batches: Iterator[Any]) -> Iterator[Any]:
    pinned, left = loader.between(), threading.Event()
    thread = threading.Thread(target=loader.fill, args=(batches, pinned, left), daemon=True)
    thread.start()
    del batches
    try:
        while not (told := pinned.get(timeout=WAIT_S)).end:
            if told.error is not None:
                raise told.error
            yield told.batch
    finally:
        left.set()
        thread.join(WAIT_S)


class StaysAtAFullQueue(_Threaded):
    """The thread that pins waits at its full queue for ever when the caller has left."""

    CAUGHT_BY = ("lifecycle.shutdown",)
    ANOMALY = "late-drop"
    DEVICES = 1

    def put(self, pinned: queue.Queue[_Told], told: _Told, left: Any) -> None:
        pinned.put(told, timeout=WAIT_S)


class EndsWithTheError(_Threaded):
    """An error of the dataset ends the thread that pins, and the caller waits for it."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    DEVICES = 1

    def step(self, batches: Iterator[Any]) -> _Told:
        told = super().step(batches)
        if told.error is not None:
            threading.Event().wait(WAIT_S)
        return told


class ErrorIsTheEnd(_Threaded):
    """To the thread that pins an error is the end of the pass."""

    CAUGHT_BY = ("loader.errors", "workers.errors", "workers.death")
    ANOMALY = "error-lost"
    DEVICES = 1

    def step(self, batches: Iterator[Any]) -> _Told:
        told = super().step(batches)
        return _Told(end=True) if told.error is not None else told


class OneQueueForAll(_Threaded):
    """The threads of all iterators put what they pinned into one queue."""

    CAUGHT_BY = ("loader.independent", "workers.two-iterators")
    ANOMALY = "iterators-entangled"
    DEVICES = 1

    def between(self) -> queue.Queue[_Told]:
        kept: queue.Queue[_Told] = self.__dict__.setdefault("kept", queue.Queue())
        return kept

    def fill(self, batches: Iterator[Any], pinned: queue.Queue[_Told], left: Any) -> None:
        super().fill(batches, pinned, threading.Event())


class NewestFirst(_Threaded):
    """Of the batches that are pinned the newest is delivered first."""

    CAUGHT_BY = ("workers.same-order", "loader.batches")
    DEVICES = 1

    def between(self) -> queue.Queue[_Told]:
        return queue.LifoQueue(2)


class LastOneUnpinned(_Threaded):
    """The end of the data overtakes the batch that is being pinned."""

    CAUGHT_BY = ("loader.batches", "iterable.once")
    ANOMALY = "lost-batch"
    DEVICES = 1

    def step(self, batches: Iterator[Any]) -> _Told:
        ahead: dict[int, _Told] = self.__dict__.setdefault("ahead", {})
        first = id(batches) not in ahead
        told = ahead.pop(id(batches), None) or super().step(batches)
        if not told.end and told.error is None:
            ahead[id(batches)] = super().step(batches)
            if ahead[id(batches)].end and not first:
                return ahead.pop(id(batches))
        return told


class ReadsToTheEnd(_Threaded):
    """The thread that pins goes on and on ahead of the caller."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"
    DEVICES = 1

    def between(self) -> queue.Queue[_Told]:
        return queue.Queue()


class WaitsWithoutALimit(_Threaded):
    """With pinned memory nobody passes the `timeout` on."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"
    DEVICES = 1

    def __init__(self, *arguments: Any, pin_memory: bool = False, **options: Any) -> None:
        if pin_memory:
            options.pop("timeout", None)
        super().__init__(*arguments, pin_memory=pin_memory, **options)
