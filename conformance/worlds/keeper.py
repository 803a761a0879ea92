"""The keeper of a gate: what the main process alone does, which is to set who may pass when."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.worlds.gate import (
    BELLS,
    DEATHS,
    DIES,
    FREE,
    HEAD,
    HELD,
    LOST,
    LOST_MAX,
    MODE,
    MOURNING,
    PACE,
    SCHEDULED,
    SHUT,
    TRICKLING,
    TURN,
    TURNS_MAX,
    WANTED,
    WHO,
    WORKERS_MAX,
    Gate,
)  # fmt: skip


class Keeper(Gate):
    """The gate that this process makes in `folder`; what it sends to others is a plain `Gate`.

    lost: how many schedules could not be followed.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(folder, os.getpid())
        self.lost = 0
        Path(folder, "gate").write_bytes(bytes(8 * (HEAD + TURNS_MAX)))
        for number in range(BELLS):
            os.mkfifo(Path(folder, f"bell-{number}"))
        self._map()

    def schedule(self, turns: tuple[int, ...], arrival: bool, dies: int, how: str) -> None:
        """Set the turns of the next pass; without any the gate is open."""
        if len(turns) > TURNS_MAX:
            raise ValueError(f"a schedule has at most {TURNS_MAX} turns, not {len(turns)}")
        self._set(FREE)
        self.lost += self.state[LOST]
        if self.lost >= LOST_MAX:
            self.report("unfollowed")
            return
        hasty = int(self.lost > 0)
        head = 0, 0, len(turns), int(arrival), dies, DEATHS.index(how), 0, hasty, *[0] * 4
        for place, value in enumerate((*head, *[0] * WORKERS_MAX, *turns), TURN):
            self.state[place] = value
        if turns:
            self._set(SCHEDULED)

    def shut(self) -> None:
        """Let no worker through."""
        self._set(SHUT)

    def trickle(self, who: int, pace_s: float) -> None:
        """Let one worker or item alone through, or each if it is -1; an item every `pace_s`."""
        self.state[WHO], self.state[PACE] = who, int(pace_s * 1000)
        self._set(TRICKLING)

    def hold(self) -> None:
        """Let no worker through until the caller wants an item (or patience ends)."""
        self._set(HELD)

    def want(self, number: int) -> None:
        """Report that the caller wants item `number`; a gate that was held is opened."""
        self.report("want", number)
        self.state[WANTED] = 1
        if self.state[MODE] in (HELD, MOURNING):
            self._set(FREE)
        elif self.state[DIES] == self.state[TURN]:
            self._ring(*range(BELLS))

    def free(self) -> None:
        """Let every worker through."""
        self._set(FREE)

    def last(self, worker: int) -> int:
        """The pid of the process that reported last as `worker`."""
        pids = [r.pid for r in self.everything() if r.worker == worker and r.pid != self.owner]
        if not pids:
            raise LookupError(f"no worker {worker} has reported")
        return pids[-1]

    def close(self) -> None:
        """Let everybody go and release the files."""
        self.free()
        for descriptor in (self.descriptor, *self.bells):
            os.close(descriptor)
        del self.state
