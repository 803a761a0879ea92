"""What travels between a pool and its ranks: one message to all, one answer from each."""

from __future__ import annotations

import collections
import contextlib
import select
import signal
from multiprocessing.connection import Connection, wait
from typing import Any

from conformance.worlds.forkserver import Process
from conformance.worlds.patience import Bound, Idleness

GRACE_S = 1.0
"""How long the others may take once one rank has died."""

LOOK_S = 0.25
"""How often somebody looks whether the time is up."""


class Mail:
    """The connections to standing ranks. A rank that is ahead of the others has answers waiting."""

    def __init__(self, connections: list[Connection], processes: list[Process]) -> None:
        self.connections, self.processes = connections, processes
        self.inbox = [collections.deque[bytes]() for _ in processes]
        self.poll = select.poll()
        self.rank_of: dict[int, int] = {}
        for rank, (connection, process) in enumerate(zip(connections, processes, strict=True)):
            for descriptor in (connection.fileno(), process.sentinel):
                self.poll.register(descriptor, select.POLLIN | select.POLLHUP)
                self.rank_of[descriptor] = rank

    def send(self, message: bytes) -> None:
        """Tell all ranks; one that has ended hears nothing."""
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.send_bytes(message)

    def waits(self, seconds: float) -> bool:
        """Whether an answer can be taken within so many seconds, or a rank has ended."""
        return bool(any(self.inbox) or wait(self.ends, seconds))

    @property
    def ends(self) -> list[Any]:
        """What becomes ready once a rank has answered, or ended."""
        return [*self.connections, *(process.sentinel for process in self.processes)]

    def collect(self, bound_s: float, together: bool = False) -> list[bytes | str]:
        """The next answer of each rank, in order: its bytes, or its fate if it did not answer.

        together: ranks that rest while another has answered will not answer at all.
        """
        boxes = enumerate(self.inbox)
        answers: dict[int, bytes | str] = {rank: box.popleft() for rank, box in boxes if box}
        bound = Bound(bound_s, (process.pid or 0 for process in self.processes))
        idle = Idleness()
        while len(answers) < len(self.processes) and not bound.over():
            ready = self.poll.poll(LOOK_S * 1000)
            if not ready and answers and together and idle.over(self._late(answers)):
                break
            for descriptor, _ in ready:
                rank = self.rank_of[descriptor]
                if isinstance(answers.get(rank), str):
                    self.poll.unregister(descriptor)
                    continue
                ended = self._receive(rank, descriptor, answers)
                if ended and len(answers) < len(self.processes):
                    bound = bound.shortened(GRACE_S)
        return [answers.get(rank, "stuck") for rank in range(len(self.processes))]

    def _late(self, answers: dict[int, bytes | str]) -> list[int]:
        late = (process for rank, process in enumerate(self.processes) if rank not in answers)
        return [process.pid or 0 for process in late]

    def _receive(self, rank: int, descriptor: int, answers: dict[int, bytes | str]) -> bool:
        """Take what is ready on a descriptor; True if the rank turned out to have ended."""
        connection = self.connections[rank]
        try:
            if descriptor == connection.fileno() or connection.poll(0):
                answer = connection.recv_bytes()
                if rank in answers:
                    self.inbox[rank].append(answer)
                answers.setdefault(rank, answer)
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
        """Nobody sends or answers any more."""
        for connection in self.connections:
            connection.close()
