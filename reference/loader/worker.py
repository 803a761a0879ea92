"""What a worker process does: take tasks, answer each with an outcome, end with its loader."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import select
import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.utils.data._utils import worker as torch_worker

from reference.loader import buffers, parcel
from reference.loader.channel import Channel, Message
from reference.loader.failure import Failure, WorkerError, report, stop_iteration
from reference.loader.fetch import Ended, Fetcher, Outcome, Recipe
from reference.loader.seeds import reseed_attributes, seed_worker

POLL_S = 1.0

TAKEN, REFUSED = b"taken", b"refused"
"""What a worker answers, before any task, to a pass with a dataset that it has to unpickle."""


class Begin(NamedTuple):
    """Start of a pass. dataset: packed, or None for the one that the process was started with."""

    seed: int
    dataset: bytes | None


class Task(NamedTuple):
    """Wants one outcome; indices is None for an iterable dataset."""

    indices: Any


class End(NamedTuple):
    """The pass is over: its tasks need no answer."""


class Abandoned(BaseException):
    """The main process has hung up or has ended."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is. `seed - id` is the same in all workers of a pass.

    seed: torch's seed in this worker.
    dataset: this worker's own copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What this worker is; None in the main process."""
    return _info


@dataclass(frozen=True)
class Job:
    """All that the workers of a crew have to know, before the first pass and for every one."""

    dataset: Any
    recipe: Recipe
    worker_init_fn: Callable[[int], Any] | None
    num_workers: int


def work(end: socket.socket, worker: int, job: Job) -> None:
    """The main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process is interrupted, and ends us
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    torch.set_num_threads(1)
    buffers.enable()
    with suppress(Abandoned):
        Worker(Connection(Channel(end)), worker, job).run()


class Connection:
    """The worker's side of its channel: it waits, but not for a main process that is gone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._parent = os.getppid()

    def receive(self, wait: bool) -> list[Message]:
        while not (messages := [*self._channel.receive()]) and wait:
            self._poll(select.POLLIN)
        return messages

    def send(self, message: Message) -> None:
        self._channel.send(message)
        while not self._channel.flush():
            self._poll(select.POLLOUT)
        if self._channel.deaf:
            raise Abandoned

    def _poll(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._channel, event)
        if self._channel.hung_up or (not poll.poll(POLL_S * 1000) and self._orphaned()):
            raise Abandoned

    def _orphaned(self) -> bool:
        """Asked in silence only: a sibling may hold the other end open, and nobody hangs up."""
        parent = multiprocessing.parent_process()
        return os.getppid() != self._parent or (parent is not None and not parent.is_alive())


class Worker:
    """Answers tasks one by one, and looks for messages in between: a pass may be over early."""

    def __init__(self, connection: Connection, worker: int, job: Job) -> None:
        self._connection = connection
        self._id = worker
        self._job = job
        self._dataset = job.dataset
        self._tasks: deque[Message] = deque()
        self._fetch: Fetcher = _nothing

    def run(self) -> None:
        while True:
            for message in self._connection.receive(wait=not self._tasks):
                self._take(message)
            if self._tasks:
                self._answer(self._tasks.popleft())

    def _take(self, message: Message) -> None:
        if message.number:
            self._tasks.append(message)
            return
        while self._tasks:
            self._tasks.popleft().close()
        self._fetch = _nothing
        order = pickle.loads(message.body)
        if isinstance(order, Begin) and self._took(order.dataset, message):
            self._fetch = self._begin(order)

    def _took(self, dataset: bytes | None, message: Message) -> bool:
        """Whether this worker has the dataset of a pass; of one that was sent, it says so."""
        if dataset is None:
            return True
        try:
            self._dataset = parcel.unpacked(dataset, message.file(), mmap.ACCESS_COPY)
            answer = TAKEN
        except Exception:
            answer = REFUSED
        finally:
            message.close()
        self._connection.send(Message(message.turn, 0, answer))
        return answer == TAKEN

    def _begin(self, order: Begin) -> Fetcher:
        global _info
        try:
            dataset = self._dataset
            seed_worker(order.seed, self._id)
            reseed_attributes(dataset, order.seed, self._id)
            _info = WorkerInfo(self._id, self._job.num_workers, order.seed + self._id, dataset)
            torch_worker._worker_info = _info  # type: ignore[assignment]  # for torch's own asker
            self._initialise()
            return self._job.recipe.fetcher(dataset)
        except SystemExit:
            raise
        except BaseException as error:
            failure = Failure(error, lasting=True)
            return lambda task: failure

    def _initialise(self) -> None:
        try:
            if self._job.worker_init_fn is not None:
                self._job.worker_init_fn(self._id)
        except StopIteration as error:
            raise stop_iteration("worker_init_fn", error) from error

    def _answer(self, message: Message) -> None:
        try:
            outcome = self._fetch(_task(message).indices)
            body, descriptor = self._pack(outcome)
        except SystemExit:
            raise
        except BaseException as error:
            body, descriptor = self._pack(Failure(error))
        self._connection.send(Message(message.turn, message.number, body, descriptor))

    def _pack(self, outcome: Outcome) -> tuple[bytes, int | None]:
        if isinstance(outcome, Failure):
            return parcel.packed(report(outcome))
        try:
            return parcel.packed(outcome)
        except Exception as error:
            if isinstance(outcome, Ended):  # a tail that only collate_fn could have made sendable
                return parcel.packed(Ended([]))
            text = f"a batch cannot be sent to the main process: {type(error).__name__}: {error}"
            raise WorkerError(text) from error


def _task(message: Message) -> Task:
    try:
        task: Task = parcel.unpacked(message.body, message.file())
        return task
    finally:
        message.close()


def _nothing(task: Any) -> Outcome:
    return Failure(RuntimeError("the pass is over"))
