"""The gate: who may fetch when, in memory that all processes share.

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
whose turn it is takes it, and whoever ends the turn advances it. Whoever waits sleeps at a bell, a
named pipe, and whoever changes the state rings it. A bell only says "look again": the state alone
decides, and a ring that is lost costs `LOOK_S`. (Looking every 0.2 ms in place of bells took twice
as long, since each look costs 20 us of processor and three workers share two cores.)

A schedule may be impossible for a loader that gives work out in another way. If the worker whose
turn it is does not come for a while, the gate opens for the rest of the pass and says so in the
journal; a law then takes the schedule for unmet, and the deliveries for what they are. The while is
`START_S` for a worker that has not come yet in this pass, as it may just be starting, and otherwise
`PATIENCE_S`. Patience wears off: after the first lost schedule it is `HASTE_S`, and after
`LOST_MAX` of them none is tried, so that a case stays within its own bound.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import select
import time
from pathlib import Path
from typing import Any

import psutil

from conformance.worlds.journal import Journal
from conformance.worlds.mishaps import happen

START_S = 6.0
PATIENCE_S = 1.0
HASTE_S = 0.25
REST_S, MOURNING_S = 0.02, 0.2
LOST_MAX = 9
LOOK_S = 0.02
BELLS = 4
TURNS_MAX = 4096
WORKERS_MAX = 64

SHUT, FREE, SCHEDULED, HELD, MOURNING, TRICKLING = 1, 0, 2, 3, 4, 5
MODE, TURN, TAKEN, COUNT, ARRIVAL, DIES, HOW, LOST, HASTY, ITEM, WANTED, WHO, PACE, CAME = range(14)
"""Places in the mapped state. LOST: this schedule could not be followed; HASTY: an earlier one was
lost; ITEM: with which the turn was taken; WANTED: whether the caller has asked for an item;
WHO, PACE: which worker alone may go on (-1: each), and after how many ms with each item; CAME:
where each worker says that it came to the gate, since the schedule was set."""

HEAD = CAME + WORKERS_MAX
"""Where the turns begin."""

DEATHS = ("SIGKILL", "SIGSEGV", "SIGTERM", "exit 0", "exit 1", "exit 3")


class Gate(Journal):
    """The gate in `folder`, with its journal, as any process has it; a copy that is sent to another
    process maps the same files. Who made it keeps it: see `keeper.py`.
    """

    def _map(self) -> None:
        with Path(self.folder, "gate").open("r+b") as file:
            self.state = memoryview(mmap.mmap(file.fileno(), 0)).cast("q")
        flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
        names = (Path(self.folder, f"bell-{number}") for number in range(BELLS))
        self.bells = [os.open(name, flags) for name in names]

    def __reduce__(self) -> tuple[Any, ...]:
        return _mapped, (self.folder, self.owner)

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

    def pass_through(self, worker: int, item: int) -> None:
        """Wait with an item for this worker's turn. The main process itself never waits, and if it
        has ended nobody does."""
        if os.getpid() == self.owner:
            return
        self.state[CAME + worker % WORKERS_MAX] = 1
        since, mode, turn = time.monotonic(), self.state[MODE], self.state[TURN]
        came = since
        while not self._mine(worker, item) and not self._trickles(worker, item, came):
            self._wait(worker)
            if not psutil.pid_exists(self.owner):
                return
            if mode in (SHUT, TRICKLING) or (self.state[MODE], self.state[TURN]) != (mode, turn):
                since, mode, turn = time.monotonic(), self.state[MODE], self.state[TURN]
            elif time.monotonic() - since > self._patience_s(turn):
                self._give_up(turn, worker)

    def _give_up(self, turn: int, worker: int) -> None:
        """Open the gate for good; after a death that is as planned."""
        if self.state[MODE] != MOURNING:
            self.report("unfollowed", turn, worker)
            self.state[LOST] = 1
        self._set(FREE)

    def _patience_s(self, turn: int) -> float:
        """How long to wait for the worker whose turn it is, or for the caller."""
        if self.state[MODE] == MOURNING:
            return MOURNING_S
        if self.state[MODE] == HELD or (turn == self.state[DIES] and not self.state[WANTED]):
            return START_S
        if self.state[HASTY]:
            return HASTE_S
        came = self.state[CAME + self.state[HEAD + turn] % WORKERS_MAX]
        return PATIENCE_S if came else START_S

    def heed(self, worker: int, item: int = -1) -> None:
        """Wait while the gate is held: everybody does, also where there are no turns."""
        if self.state[MODE] == HELD:
            self.pass_through(worker, item)
            time.sleep(REST_S)  # the caller has only just asked

    def _mine(self, worker: int, item: int) -> bool:
        state, mode, turn = self.state, self.state[MODE], self.state[TURN]
        if mode != SCHEDULED or turn >= state[COUNT]:
            return mode not in (SHUT, HELD, MOURNING, TRICKLING)
        if state[TAKEN] != turn or state[HEAD + turn] != worker:
            return False
        if turn == state[DIES]:
            if not state[WANTED]:
                return False
            self._die(turn, worker)
        state[ITEM], state[TAKEN] = item, turn + 1
        return True

    def _trickles(self, worker: int, item: int, came: float) -> bool:
        """Whether this worker may go on with it, and has waited for as long as it has to."""
        may = self.state[MODE] == TRICKLING and self.state[WHO] in (worker, -2 - item, -1)
        return may and time.monotonic() - came > self.state[PACE] / 1000

    def left(self, item: int, worker: int) -> None:
        """An item of this worker has left; where no arrival is awaited, this ends its turn."""
        if not self.state[ARRIVAL]:
            self._end_turn(item, worker)

    def _wait(self, worker: int) -> None:
        """Sleep until this worker's bell rings, or for a while: workers may share a bell."""
        bell = self.bells[worker % BELLS]
        poll = select.poll()
        poll.register(bell, select.POLLIN)
        if poll.poll(LOOK_S * 1000):
            with contextlib.suppress(BlockingIOError):
                os.read(bell, 4096)

    def _ring(self, *workers: int) -> None:
        for worker in workers:
            with contextlib.suppress(BlockingIOError):  # full of rings that nobody has heard yet
                os.write(self.bells[worker % BELLS], b"!")

    def _set(self, mode: int) -> None:
        self.state[MODE] = mode
        self._ring(*range(BELLS))

    def _end_turn(self, item: int, worker: int) -> None:
        """End the turn that this worker took with this item; then the next, or all, may go on."""
        state, turn = self.state, self.state[TURN]
        taken = state[TAKEN] > turn and (state[ITEM], state[HEAD + turn]) == (item, worker)
        if taken and state[MODE] == SCHEDULED:
            turn = state[TURN] = state[TAKEN]
            self._ring(*(range(BELLS) if turn >= state[COUNT] else [state[HEAD + turn]]))

    def _die(self, turn: int, worker: int) -> None:
        """Die while the caller is at rest in `next()`: nobody else sends anything meanwhile.

        A handler of SIGCHLD that raises would otherwise lose what is just being received: in torch,
        that makes one run in hundreds wait for ever.
        """
        time.sleep(REST_S)
        self.report("dies", turn, worker)
        self._set(MOURNING)
        happen(DEATHS[self.state[HOW]], turn)

    def arrived(self, item: int, worker: int) -> None:
        """An item of this worker has been unpickled; in the main process this ends its turn.

        Other items of the batch, and of batches that do not stop at the gate, end no turn.
        """
        if os.getpid() != self.owner:
            return
        self.report("arrive", item, worker)
        if self.state[ARRIVAL]:
            self._end_turn(item, worker)


_MAPPED: dict[str, Gate] = {}
_NUMBERS: dict[int, int] = {}


def _mapped(folder: str, owner: int) -> Gate:
    """The gate of `folder` in this process, mapped once."""
    if folder not in _MAPPED:
        gate = Gate.__new__(Gate)
        Journal.__init__(gate, folder, owner)
        gate._map()
        _MAPPED[folder] = gate
    return _MAPPED[folder]
