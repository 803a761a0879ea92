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
import signal
import tempfile
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import psutil

from conformance.candidate import CandidateError, Source
from conformance.case import Case
from conformance.roles import LOADERS
from conformance.trace import SLOW, Event, RankTrace
from conformance.worlds.forkserver import HASH_SEEDS, Process
from conformance.worlds.mail import GRACE_S, Mail
from conformance.worlds.place import Place, begin
from conformance.worlds.segments import named_segments

START_S_MAX = 120.0


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
        connections = list[Connection]()
        self.processes: list[Process] = []
        for rank in range(world_size):
            ours, theirs = Pipe()
            place = Place(rank, world_size, backend, store, self.slow_s)
            seed = HASH_SEEDS[rank % 2]
            process = Process(seed, target=begin, args=(theirs, place), daemon=False)
            process.start()
            theirs.close()
            connections.append(ours)
            self.processes.append(process)
        self.mail = Mail(connections, self.processes)
        answers = self.mail.collect(START_S_MAX)
        if any(answer != b"ready" for answer in answers):
            self.kill()
            raise PoolError(f"a {backend} group of {world_size} did not start: {answers}")

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
        self.mail.send(pickle.dumps(("run", source, cases), protocol=5))
        return self.ticket

    def receive(self, ticket: int, bound_s: float) -> list[list[RankTrace]]:
        """The traces of a ticket; those of older ones are kept for whoever still wants them."""
        while ticket not in self.answered:
            fates = self._next(bound_s)
            if self.broken:
                return [[_lost(rank, answer) for rank, answer in enumerate(fates)]]
        answers: list[bytes] = self.answered.pop(ticket)
        found = self._joined([pickle.loads(answer) for answer in answers])
        return self._in_step(found, bound_s)

    def waits(self, seconds: float) -> bool:
        """Whether an answer can be taken within so many seconds, or a rank has ended."""
        return bool(self.answered) or self.mail.waits(seconds)

    def _next(self, bound_s: float) -> list[bytes | str]:
        """The answers to the oldest ticket, kept for whoever wants them, or a broken pool."""
        # Loaders may have reasons to wait.
        answers = self.mail.collect(bound_s, together=self.sampling)
        if all(isinstance(answer, bytes) for answer in answers):
            self.answered[self.pending.popleft()] = answers  # type: ignore[assignment]
        else:
            self.kill()
        return answers

    def _fates_of_pending(self, bound_s: float) -> list[bytes | str]:
        """Wait for the cases that are under way: their answers come before any other. What became
        of the ranks if one breaks the pool, nothing if none does."""
        while self.pending:
            answers = self._next(bound_s)
            if self.broken:
                return answers
        return []

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

    def _in_step(self, traces: list[list[RankTrace]], bound_s: float) -> list[list[RankTrace]]:
        """After collectives every rank must stand at the same point, and a barrier must pass."""
        if self.backend in ("simulated", "alone") or not any(
            r.collectives for t in traces for r in t
        ):
            return traces
        unequal = any(len({rank.collectives for rank in trace}) > 1 for trace in traces)
        if unequal or not self._barrier(bound_s):
            self.kill()
            last = [replace(rank, fate="out of step") for rank in traces[-1]]
            return [*traces[:-1], last]
        return traces

    def _barrier(self, bound_s: float) -> bool:
        """Whether all ranks meet; where a case that was under way breaks the pool, nobody knows."""
        if self._fates_of_pending(bound_s):
            return True
        self.mail.send(pickle.dumps(("barrier",)))
        return all(isinstance(answer, bytes) for answer in self.mail.collect(GRACE_S * 5))

    def describe(self, source: Source, bound_s: float) -> Any:
        """The candidate's description, or the CandidateError, or how the process ended."""
        if fates := self._fates_of_pending(bound_s):
            return fates[0] if isinstance(fates[0], str) else "stuck"
        self.mail.send(pickle.dumps(("describe", source)))
        answer = self.mail.collect(bound_s)[0]
        if isinstance(answer, bytes):
            return pickle.loads(answer)
        self.kill()
        return answer

    def close(self) -> None:
        """End every rank in order; whoever does not end is killed."""
        self.mail.send(pickle.dumps(("end",)))
        for process in self.processes:
            process.join(GRACE_S * 5)
        self.kill()

    def kill(self) -> None:
        """Kill every rank with all its children, and release what the pool held."""
        self.broken = True
        for process in self.processes:
            _kill_tree(process)
        self.mail.close()
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
