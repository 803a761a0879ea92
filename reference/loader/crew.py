"""Worker processes: their start, what is sent to them and comes from them, their end."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import pickle
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext, set_spawning_popen
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import Any
from weakref import WeakSet

from reference.loader.channel import Channel, Message
from reference.loader.failure import WorkerDied
from reference.loader.parcel import packed
from reference.loader.worker import TAKEN, Begin, End, Job, Task, work

FAREWELL_S = 1.0

TAKEN_S = 10.0
"""So long a dataset may be unpickled by idle workers; new ones are given theirs at the start."""

POLL_S_MAX = 1e6
"""poll(2) takes so many milliseconds as an int holds; whoever has more time asks again."""


class Member:
    """One worker process and the channel to it."""

    def __init__(self, worker: int, job: Job, context: BaseContext) -> None:
        self.id = worker
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.process: Any = context.Process(  # type: ignore[attr-defined]
            target=work, args=(theirs, worker, job), daemon=True, name=f"loader worker {worker}"
        )
        try:
            with _interrupts_held():
                self.process.start()
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.close()
        self.pid = self.process.pid
        _members.add(self)

    @property
    def name(self) -> str:
        return f"worker {self.id} (pid {self.pid})"

    def died(self) -> WorkerDied:
        """How it ended, once it has, or once it has hung up."""
        self.process.join(FAREWELL_S)
        return WorkerDied(f"{self.name} of the DataLoader {_ending(self.process.exitcode)}")


_members: WeakSet[Member] = WeakSet()


def _disown() -> None:
    """A forked child that exits would end these processes, as if they were its own children."""
    children: set[Any] = multiprocessing.process._children  # type: ignore[attr-defined]
    children.difference_update([member.process for member in _members])


os.register_at_fork(after_in_child=_disown)


class Crew:
    """Workers 0 to W - 1. It deals out and hands back; what the messages mean is up to others.

    death: set as soon as a worker has ended; the crew is of no use any more.
    """

    def __init__(self, job: Job, context: BaseContext) -> None:
        if multiprocessing.current_process().daemon:
            raise RuntimeError(
                "num_workers must be 0 in a daemonic process: it is not allowed to have children"
            )
        self.members: list[Member] = []
        self.death: WorkerDied | None = None
        self.turn = 0
        self.pid = os.getpid()
        # Called when the crew is garbage, and at exit before multiprocessing waits for children;
        # never in a forked child. (weakref.finalize may come too late at exit.)
        self.dismiss = Finalize(self, _dismiss, (self.members,), exitpriority=10)
        try:
            for worker in range(job.num_workers):
                self.members.append(Member(worker, job, context))
        except BaseException as error:
            self.dismiss()
            if isinstance(error, Exception) and not isinstance(error, OSError):
                _blame_argument(job, error)
            raise

    def begin(self, order: Begin, descriptor: int | None = None) -> bool:
        """Start a pass; the descriptor belongs to the dataset, and is closed.

        False if a worker cannot take the dataset: it has a class, say, that is younger than they.
        """
        self.turn += 1
        try:
            self._tell_all(order, descriptor)
        finally:
            if descriptor is not None:
                os.close(descriptor)
        return order.dataset is None or self._taken()

    def _taken(self) -> bool:
        """Whether all workers say in time that they have the dataset."""
        waiting = {member.id for member in self.members}
        deadline = time.monotonic() + TAKEN_S
        while waiting and not self.death and (left_s := deadline - time.monotonic()) > 0:
            answers = [(member.id, message) for member, message in self.receive(left_s, None)]
            if any(message.body != TAKEN for _, message in answers):
                return False
            waiting.difference_update(worker for worker, _ in answers)
        return not waiting

    def end(self) -> None:
        """Let the workers rest; what they still send belongs to a pass that is over."""
        self.turn += 1
        self._tell_all(End())
        for _ in self.receive(0, None):
            raise AssertionError("no answer can belong to a pass without tasks")

    def _tell_all(self, order: Begin | End, descriptor: int | None = None) -> None:
        body = pickle.dumps(order)
        for member in self.members:
            copy = None if descriptor is None else os.dup(descriptor)
            member.channel.send(Message(self.turn, 0, body, copy))

    def send(self, worker: int, number: int, task: Task) -> None:
        """Deal a task; whatever pickle raises if it cannot be pickled."""
        body, descriptor = packed(task)
        self.members[worker].channel.send(Message(self.turn, number + 1, body, descriptor))

    def healthy(self) -> bool:
        """Whether all workers live; False in a forked child, whose workers they are not."""
        return self.pid == os.getpid() and not (self.death or self._poll(0, None))

    def receive(self, timeout_s: float | None, wake: Any) -> Iterator[tuple[Member, Message]]:
        """The answers that have arrived. Waits for one, a death, `wake` or the time to be up."""
        ended = self._poll(timeout_s, wake)
        for member in self.members:
            member.channel.flush()
            for message in member.channel.receive():
                if message.turn == self.turn:
                    yield member, message._replace(number=message.number - 1)
                else:
                    message.close()
            if self.death is None and (member.channel.hung_up or member in ended):
                self.death = member.died()

    def _poll(self, timeout_s: float | None, wake: Any) -> list[Member]:
        """Wait until something happens; the workers that have ended."""
        poll = select.poll()
        sentinels = {member.process.sentinel: member for member in self.members}
        for sentinel, member in sentinels.items():
            poll.register(sentinel, select.POLLIN)
            poll.register(member.channel, member.channel.events)
        if wake is not None:
            poll.register(wake, select.POLLIN)
        ready = poll.poll(None if timeout_s is None else 1000 * min(max(0, timeout_s), POLL_S_MAX))
        return [sentinels[descriptor] for descriptor, _ in ready if descriptor in sentinels]


def _dismiss(members: list[Member]) -> None:
    """End all workers: first by hanging up, which also wakes one that waits; then by force."""
    for member in members:
        member.channel.close()
    deadline = time.monotonic() + FAREWELL_S
    for member in members:
        member.process.join(max(0, deadline - time.monotonic()))
    for member in members:
        if member.process.exitcode is None:
            member.process.kill()
            member.process.join(FAREWELL_S)
    # Not closed: where garbage is collected while another process starts, that one looks at it.
    members.clear()


def _ending(code: int | None) -> str:
    if code is None:
        return "hung up or ended, no exit code is known"
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    hint = {"SIGBUS": " (out of shared memory?)", "SIGKILL": " (out of memory?)"}.get(name, "")
    return f"was killed by {name}{hint}"


def _blame_argument(job: Job, error: Exception) -> None:
    """TypeError with the name of the argument that keeps the processes from being started."""
    named = {
        "dataset": job.dataset,
        "collate_fn": job.recipe.collate_fn,
        "worker_init_fn": job.worker_init_fn,
    }
    nobody: Any = _NoProcess()
    set_spawning_popen(nobody)
    try:
        for name, value in named.items():
            try:
                ForkingPickler.dumps(value)
            except Exception as reason:
                raise TypeError(f"{name} cannot be sent to the workers: {reason}") from error
    finally:
        set_spawning_popen(None)


class _NoProcess:
    """Stands for a process that is being started: for it a descriptor is not copied for later."""

    DupFd = duplicate_for_child = staticmethod(int)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits, so that it cannot hit a worker which does not ignore it yet.

    Nor a fork: Python drops what is raised there, and other threads may take the signal.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    handler = signal.getsignal(signal.SIGINT)  # None if it is not Python's, and stays as it is
    ours = handler is not None and threading.current_thread() is threading.main_thread()
    held: list[int] = []
    if ours:
        signal.signal(signal.SIGINT, lambda *_: held.append(1))
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if held:
            signal.raise_signal(signal.SIGINT)
