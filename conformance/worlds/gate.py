"""The gate and the journal: who may fetch when, and what everybody did, in shared memory.

Loader properties do not sleep and hope. A dataset under the suite's control stops at the gate
before it hands out an item, and the gate lets the workers through in the order that the case has
drawn: turn after turn, each turn belonging to one worker. So "worker 1 is slow" is a value that can
be drawn, printed, shrunk and replayed.

*Leaving the gate and arriving in the main process are two events.* Between them lie collation,
pickling, a feeder thread and a queue that may let a later result overtake. A turn therefore ends
only when the item has arrived: items called parcels report it from their own unpickling, in the
main process. The next worker leaves after that, so both orders are the schedule's, and a schedule
replays exactly. Where items cannot report (tensors, numbers), a turn ends when the item leaves.

The gate is a file that every process maps, so it reaches workers however they are started; state
has one writer at a time and needs no lock (a lock would be lost with a killed worker): the worker
whose turn it is takes it, and whoever ends the turn advances it. The journal is a file opened for
appending: a record is one short write, which the kernel orders and a killed worker cannot tear.

A schedule may be impossible for a loader that gives work out in another way. If the worker whose
turn it is does not come for `PATIENCE_S`, the gate opens for good and says so in the journal; a law
then takes the schedule for unmet, and the deliveries for what they are.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.trace import KINDS, Record
from conformance.worlds.mishaps import happen

PATIENCE_S = 3.0
LOOK_S = 0.0002
TURNS_MAX = 4096

SHUT, FREE, SCHEDULED = 1, 0, 2
MODE, TURN, TAKEN, COUNT, ARRIVAL, DIES, HOW, HEAD = range(8)
"""Places in the mapped state; the turns follow."""

RECORD = struct.Struct("<5q")

DEATHS = ("SIGKILL", "SIGSEGV", "SIGTERM", "exit 0", "exit 1", "exit 3")


class Gate:
    """One gate and one journal in `folder`; a copy sent to another process maps the same files."""

    def __init__(self, folder: str) -> None:
        self.folder, self.owner, self.read = folder, os.getpid(), 0
        Path(folder, "gate").write_bytes(bytes(8 * (HEAD + TURNS_MAX)))
        Path(folder, "journal").touch()
        self._open()

    def _open(self) -> None:
        self.state: NDArray[np.int64] = np.memmap(
            Path(self.folder, "gate"), dtype=np.int64, mode="r+"
        )
        flags = os.O_APPEND | os.O_RDWR | os.O_CLOEXEC
        self.journal = os.open(Path(self.folder, "journal"), flags)

    def __reduce__(self) -> tuple[Any, ...]:
        return _mapped, (self.folder, self.owner)

    # In any process.

    def report(self, kind: str, value: int = 0, worker: int = -1) -> None:
        """Write one record; `worker` is -1 in the main process."""
        row = KINDS.index(kind), value, worker, os.getpid(), time.monotonic_ns()
        os.write(self.journal, RECORD.pack(*row))

    def number(self) -> int:
        """A number for this process, in order of asking, where the candidate gives none."""
        if os.getpid() == self.owner:
            return -1
        if os.getpid() not in _NUMBERS:
            for number in itertools.count():
                with contextlib.suppress(FileExistsError):
                    Path(self.folder, f"worker-{number}").touch(exist_ok=False)
                    _NUMBERS[os.getpid()] = number
                    break
        return _NUMBERS[os.getpid()]

    def pass_through(self, worker: int) -> None:
        """Wait for this worker's turn. The main process itself never waits."""
        if os.getpid() == self.owner:
            return
        since, turn = time.monotonic(), int(self.state[TURN])
        while not self._mine(worker):
            time.sleep(LOOK_S)
            if self.state[MODE] == SHUT or self.state[TURN] != turn:
                since, turn = time.monotonic(), int(self.state[TURN])
            elif time.monotonic() - since > PATIENCE_S:
                self.report("unfollowed", turn, worker)
                self.state[MODE] = FREE

    def _mine(self, worker: int) -> bool:
        state, mode = self.state, self.state[MODE]
        if mode != SCHEDULED or state[TURN] >= state[COUNT]:
            return bool(mode != SHUT)
        if state[TAKEN] != state[TURN] or state[HEAD + state[TURN]] != worker:
            return False
        turn = int(state[TURN])
        if turn == state[DIES]:
            self._die(turn, worker)
        state[TAKEN] = turn + 1
        if not state[ARRIVAL]:
            state[TURN] = turn + 1
        return True

    def _die(self, turn: int, worker: int) -> None:
        self.report("dies", turn, worker)
        self.state[MODE] = FREE
        happen(DEATHS[int(self.state[HOW])], turn)

    def arrived(self, item: int) -> None:
        """An item has been unpickled; in the main process this ends the turn."""
        if os.getpid() != self.owner:
            return
        self.report("arrive", item)
        if self.state[MODE] == SCHEDULED and self.state[ARRIVAL]:
            self.state[TURN] = self.state[TAKEN]

    # In the main process.

    def schedule(self, turns: tuple[int, ...], arrival: bool, dies: int, how: str) -> None:
        """Set the turns of the next pass; without any the gate is open."""
        if len(turns) > TURNS_MAX:
            raise ValueError(f"a schedule has at most {TURNS_MAX} turns, not {len(turns)}")
        self.state[MODE] = FREE
        self.state[HEAD : HEAD + len(turns)] = turns
        head = 0, 0, len(turns), int(arrival), dies, DEATHS.index(how)
        self.state[TURN : HOW + 1] = head
        self.state[MODE] = SCHEDULED if turns else FREE

    def shut(self) -> None:
        """Let no worker through."""
        self.state[MODE] = SHUT

    def free(self) -> None:
        """Let every worker through."""
        self.state[MODE] = FREE

    def records(self) -> tuple[Record, ...]:
        """What was reported since the last call."""
        raw = os.pread(self.journal, os.fstat(self.journal).st_size - self.read, self.read)
        self.read += len(raw)
        return tuple(
            Record(KINDS[kind], value, worker, pid, stamp * 1e-9)
            for kind, value, worker, pid, stamp in RECORD.iter_unpack(raw)
        )

    def everything(self) -> tuple[Record, ...]:
        """All that was reported, whether it was read before or not."""
        before, self.read = self.read, 0
        found = self.records()
        self.read = before
        return found

    def settle(self, quiet_s: float = 0.15, bound_s: float = 3.0) -> bool:
        """Wait until nothing has been reported for `quiet_s`; False if that never was."""
        end, size, since = time.monotonic() + bound_s, -1, time.monotonic()
        while time.monotonic() < end:
            now = os.fstat(self.journal).st_size
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > quiet_s:
                return True
            time.sleep(0.005)
        return False

    def strike(self, worker: int, how: str) -> int:
        """Signal the process that reported last as `worker`; returns its pid."""
        pids = [r.pid for r in self.everything() if r.worker == worker and r.pid != self.owner]
        if not pids:
            raise LookupError(f"no worker {worker} has reported")
        os.kill(pids[-1], signal.Signals[how])
        return pids[-1]

    def close(self) -> None:
        """Let everybody go and release the files."""
        self.free()
        os.close(self.journal)
        del self.state


_MAPPED: dict[str, Gate] = {}
_NUMBERS: dict[int, int] = {}


def _mapped(folder: str, owner: int) -> Gate:
    """The gate of `folder` in this process, mapped once."""
    if folder not in _MAPPED:
        gate = Gate.__new__(Gate)
        gate.folder, gate.owner, gate.read = folder, owner, 0
        gate._open()
        _MAPPED[folder] = gate
    return _MAPPED[folder]
