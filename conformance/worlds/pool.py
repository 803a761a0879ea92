"""A standing pool: real processes in one process group, kept for the whole run.

A case travels to every rank, a trace comes back. Three things end a pool: a rank that dies, a rank
that does not answer within the bound, or rests while another has answered, and ranks that took part
in unequal numbers of collectives. Each is part of the trace (`RankTrace.fate`), the pool is killed
with all its children, and the next case gets a new one. Nothing here waits without a bound.

Measured (2 cores): starting the first pool takes as long as importing torch, each further one 10 to
60 ms; a case takes about 60 µs to travel at 2 ranks and 180 µs at 4.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import select
import signal
import tempfile
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import psutil

from conformance.candidate import CandidateError, Source
from conformance.case import Case
from conformance.roles import LOADERS
from conformance.trace import SLOW, Event, RankTrace
from conformance.worlds.forkserver import HASH_SEEDS, Process
from conformance.worlds.leftovers import named_segments
from conformance.worlds.patience import Bound, Idleness
from conformance.worlds.place import Place, begin

START_S_MAX = 120.0
GRACE_S = 1.0
"""How long the others may take once one rank has died."""

LOOK_S = 0.25
"""How often somebody looks whether the time is up."""


class PoolError(RuntimeError):
    """A pool that could not be started; the suite's trouble, not the candidate's."""


class Pool:
    """`world_size` processes in a group of `backend`, or one process without a group.

    bound_s: seconds that a rank may take for a case.
    """

    def __init__(self, world_size: int, backend: str, bound_s: float) -> None:
        self.world_size, self.backend, self.broken = world_size, backend, False
        self.slow_s = SLOW * bound_s
        self.ticket, self.pending = 0, collections.deque[int]()
        self.sampling = False
        self.answered: dict[int, list[bytes]] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True)
        store = f"{self.folder.name}/store"
        self.connections: list[Connection] = []
        self.processes: list[Process] = []
        for rank in range(world_size):
            ours, theirs = Pipe()
            place = Place(rank, world_size, backend, store, self.slow_s)
            seed = HASH_SEEDS[rank % 2]
            process = Process(seed, target=begin, args=(theirs, place), daemon=False)
            process.start()
            theirs.close()
            self.connections.append(ours)
            self.processes.append(process)
        self._watch()
        answers = self._collect(START_S_MAX)
        if any(answer != b"ready" for answer in answers):
            self.kill()
            raise PoolError(f"a {backend} group of {world_size} did not start: {answers}")

    def _watch(self) -> None:
        self.poll = select.poll()
        self.rank_of: dict[int, int] = {}
        for rank, (connection, process) in enumerate(
            zip(self.connections, self.processes, strict=True)
        ):
            for descriptor in (connection.fileno(), process.sentinel):
                self.poll.register(descriptor, select.POLLIN | select.POLLHUP)
                self.rank_of[descriptor] = rank

    def run(self, source: Source, cases: list[Case], bound_s: float) -> list[list[RankTrace]]:
        """Carry out cases; returns for each the traces of all ranks.

        Where a rank does not come back, the answer is one case long and the pool is broken; the
        caller carries out the cases of a longer list one by one.
        """
        return self.receive(self.send(source, cases), bound_s)

    def send(self, source: Source, cases: list[Case]) -> int:
        """Hand over cases; returns the ticket with which their traces are received."""
        self.ticket += 1
        self.pending.append(self.ticket)
        self.sampling = self.world_size > 1 and not any(case.role in LOADERS for case in cases)
        self._send(pickle.dumps(("run", source, cases), protocol=5))
        return self.ticket

    def receive(self, ticket: int, bound_s: float) -> list[list[RankTrace]]:
        """The traces of a ticket; those of older ones are kept for whoever still wants them."""
        while ticket not in self.answered:
            answers = self._next(bound_s)
            if self.broken:
                return [[_lost(rank, answer) for rank, answer in enumerate(answers)]]
        answers = self.answered.pop(ticket)  # type: ignore[assignment]
        return self._in_step(self._joined([pickle.loads(answer) for answer in answers]))  # type: ignore[arg-type]

    def waits(self, seconds: float) -> bool:
        """Whether an answer can be taken within so many seconds, or a rank has ended."""
        return bool(self.answered or wait([*self.connections, *self._sentinels()], seconds))

    def _sentinels(self) -> list[int]:
        return [process.sentinel for process in self.processes]

    def _next(self, bound_s: float) -> list[bytes | str]:
        """The answers to the oldest ticket, kept for whoever wants them, or a broken pool."""
        answers = self._collect(bound_s)
        if all(isinstance(answer, bytes) for answer in answers):
            self.answered[self.pending.popleft()] = answers  # type: ignore[assignment]
        else:
            self.kill()
        return answers

    def forget(self, ticket: int, bound_s: float) -> None:
        """Nobody wants the traces of a ticket any more."""
        if not self.broken:
            with contextlib.suppress(CandidateError):
                self.receive(ticket, bound_s)

    def _joined(self, answers: list[Any]) -> list[list[RankTrace]]:
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return [[t for part in parts for t in part] for parts in zip(*answers, strict=True)]

    def _in_step(self, traces: list[list[RankTrace]]) -> list[list[RankTrace]]:
        """After collectives every rank must stand at the same point, and a barrier must pass."""
        if self.backend in ("simulated", "alone") or not any(
            r.collectives for t in traces for r in t
        ):
            return traces
        unequal = any(len({rank.collectives for rank in trace}) > 1 for trace in traces)
        if unequal or not self._barrier():
            self.kill()
            last = [replace(rank, fate="out of step") for rank in traces[-1]]
            return [*traces[:-1], last]
        return traces

    def _barrier(self) -> bool:
        self._send(pickle.dumps(("barrier",)))
        return all(isinstance(answer, bytes) for answer in self._collect(GRACE_S * 5))

    def describe(self, source: Source, bound_s: float) -> Any:
        """The candidate's description, or the CandidateError, or how the process ended.

        Cases that are under way are waited for: their answers come first.
        """
        while self.pending:
            answers = self._next(bound_s)
            if self.broken:
                return answers[0] if isinstance(answers[0], str) else "stuck"
        self._send(pickle.dumps(("describe", source)))
        answer = self._collect(bound_s)[0]
        if isinstance(answer, bytes):
            return pickle.loads(answer)
        self.kill()
        return answer

    def _send(self, message: bytes) -> None:
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.send_bytes(message)

    def _collect(self, bound_s: float) -> list[bytes | str]:
        """One answer a rank, in order: its bytes, or its fate if it did not answer."""
        answers: dict[int, bytes | str] = {}
        bound = Bound(bound_s, (process.pid or 0 for process in self.processes))
        idle = Idleness()
        while len(answers) < self.world_size and not bound.over():
            ready = self.poll.poll(LOOK_S * 1000)
            if not ready and answers and self.sampling and idle.over(self._late(answers)):
                break  # loaders may have reasons to wait
            for descriptor, _ in ready:
                rank = self.rank_of[descriptor]
                if isinstance(answers.get(rank), str):
                    self.poll.unregister(descriptor)
                    continue
                fate = self._receive(rank, descriptor, answers)
                if fate and len(answers) < self.world_size:
                    bound = bound.shortened(GRACE_S)
        return [answers.get(rank, "stuck") for rank in range(self.world_size)]

    def _late(self, answers: dict[int, bytes | str]) -> list[int]:
        late = (process for rank, process in enumerate(self.processes) if rank not in answers)
        return [process.pid or 0 for process in late]

    def _receive(self, rank: int, descriptor: int, answers: dict[int, bytes | str]) -> bool:
        """Take what is ready on a descriptor; True if the rank turned out to have ended."""
        connection = self.connections[rank]
        try:
            if rank not in answers and (descriptor == connection.fileno() or connection.poll(0)):
                answers[rank] = connection.recv_bytes()
                return False
        except (EOFError, OSError):
            pass
        self.poll.unregister(descriptor)
        if rank not in answers:
            answers[rank] = self._fate(rank)
        return True

    def _fate(self, rank: int) -> str:
        process = self.processes[rank]
        process.join(GRACE_S)
        code = process.exitcode
        if code is None:
            return "closed its connection"
        return f"exit {code}" if code >= 0 else signal.Signals(-code).name

    def close(self) -> None:
        """End every rank in order; whoever does not end is killed."""
        self._send(pickle.dumps(("end",)))
        for process in self.processes:
            process.join(GRACE_S * 5)
        self.kill()

    def kill(self) -> None:
        """Kill every rank with all its children, and release what the pool held."""
        self.broken = True
        for process in self.processes:
            _kill_tree(process)
        for connection in self.connections:
            connection.close()
        self.folder.cleanup()


def _kill_tree(process: Process) -> None:
    family = []
    with contextlib.suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
    with contextlib.suppress(ProcessLookupError, PermissionError, TypeError):
        os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
    for child in family:
        with contextlib.suppress(psutil.Error):
            child.kill()
    _unlink_segments({process.pid, *(child.pid for child in family)})
    process.join(GRACE_S * 5)
    if process.exitcode is not None:
        process.close()


def _unlink_segments(pids: set[int | None]) -> None:
    """Shared memory outlives the killed."""
    for path, pid in named_segments():
        if pid in pids:
            path.unlink(missing_ok=True)


def _lost(rank: int, answer: bytes | str) -> RankTrace:
    if isinstance(answer, bytes):
        found = pickle.loads(answer)
        if isinstance(found, list) and found and found[0]:
            first: RankTrace = found[0][0]
            return first
        return RankTrace(rank, (Event(None),))
    return RankTrace(rank, (Event(None),), fate=answer)
