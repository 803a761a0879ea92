"""Patience: who waits for a core is not late.

A bound in seconds judges the candidate only if it could run meanwhile. On a busy machine processes
stand in line for a core; Linux counts for how long (`/proc/PID/schedstat`, second number, ns), and
a bound grows by that much. Where nothing is counted, nothing is added: so it is where a loader has
reached its limit of open files, and nobody there can read `/proc` any more.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

AFTER_S = 1.0
"""Whoever comes back sooner is never measured."""

STRETCH_MAX = 4.0
"""A bound grows to so many times its length at most, so that every wait has an end."""


LOOK_S = 0.5
"""So often a bound looks: who ends between two looks has its last seconds in line forgotten."""


class Starvation:
    """What some processes and their descendants have stood in line since this was made."""

    def __init__(self, pids: Iterable[int]) -> None:
        self.pids = tuple(pids)
        self.before = self._delays()
        self.seen = dict(self.before)

    def seconds(self) -> float:
        """The sum over the processes, in seconds; who has ended counts as when last asked for."""
        self.seen.update((pid, delay) for pid, delay in self._delays().items() if delay)
        return sum(delay - self.before.get(pid, 0) for pid, delay in self.seen.items()) / 1e9

    def _delays(self) -> dict[int, int]:
        return {pid: _delay_ns(pid) for pid in self.family()}

    def family(self) -> set[int]:
        """These processes and all their descendants."""
        return set(self.pids).union(*map(_descendants, self.pids))


def _descendants(pid: int) -> set[int]:
    """Who is below a process, as Linux lists it: to go through all processes of the machine takes
    as long as some cases do, and each case that waits looks twice a second."""
    lists, below = list[Path](), set[int]()
    with contextlib.suppress(OSError):  # it ends meanwhile
        lists += Path(f"/proc/{pid}/task").glob("*/children")
    for one in lists:
        with contextlib.suppress(OSError):  # the thread does
            below.update(map(int, one.read_text().split()))
    if lists:
        return below.union(*map(_descendants, below))
    with contextlib.suppress(psutil.Error, OSError):  # a system that has no such lists
        return {child.pid for child in psutil.Process(pid).children(recursive=True)}
    return set()


def _delay_ns(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


class Bound:
    """A bound on processes that somebody waits for: `bound_s` seconds in which they could run."""

    def __init__(self, bound_s: float, pids: Iterable[int]) -> None:
        self.bound_s, self.pids = bound_s, tuple(pids)
        self.began = self.looked = time.monotonic()
        self.starvation: Starvation | None = None

    def over(self) -> bool:
        """Whether the time is up; to be asked often, as counting begins when it is asked."""
        now = time.monotonic()
        wall_s = now - self.began
        if self.starvation is None and wall_s > AFTER_S:
            self.starvation, self.looked = Starvation(self.pids), now
        elif self.starvation is not None and now - self.looked > LOOK_S:
            self.starvation.seconds()
            self.looked = now
        return wall_s >= self.bound_s and self.spent_s() >= self.bound_s

    def spent_s(self) -> float:
        """Seconds so far, without those in line."""
        wall_s = time.monotonic() - self.began
        if self.starvation is None:
            return wall_s
        return max(wall_s / STRETCH_MAX, wall_s - self.starvation.seconds())

    def shortened(self, bound_s: float) -> Bound:
        """A bound from now on, which ends no later than this one."""
        return Bound(min(bound_s, max(0.0, self.bound_s - self.spent_s())), self.pids)


IDLE_S, STIR_S = 3.0, 0.05
"""Once a rank has answered, another that for so long has neither used a core, but for so little,
nor stood in line for one, waits for what will never come."""


GAP_S = 2.0
"""Who has not looked for so long knows nothing: the machine may have stood still."""


class Idleness:
    """Whether processes and their descendants have had nothing to do for `idle_s` seconds: none has
    used a core, stood in line for one, or waited for a disk.

    stir_s: seconds on a core, or in line for one, that do not count. besides: nor do those of
    whoever looks. rested_s: how long they have had nothing to do, at most, as far as was looked.
    """

    def __init__(
        self, idle_s: float = IDLE_S, stir_s: float = STIR_S,
        besides: Callable[[], float] = lambda: 0.0,
    ) -> None:  # fmt: skip
        self.idle_s, self.stir_s, self.besides = idle_s, stir_s, besides
        self.pids: list[int] = []
        self.line, self.seen = Starvation(()), dict[int, float]()
        self.used_s = self.since = self.looked = self.rested_s = 0.0

    def over(self, pids: list[int]) -> bool:
        """Whether these have not stirred for so long; to be asked often."""
        now = time.monotonic()
        if pids != self.pids:
            self.pids, self.line, self.used_s = pids, Starvation(pids), -math.inf
        if self._stir() or now - self.looked > GAP_S:
            self.since = now
        self.looked, rests_s = now, now - self.since
        self.rested_s = max(self.rested_s, rests_s)
        return rests_s > self.idle_s

    def _stir(self) -> bool:
        """Whether somebody has had something to do since the last that did, or nobody can know."""
        family = self.line.family()
        try:
            self.seen.update((pid, _used_s(pid)) for pid in family)
            at_a_disk = any(map(_is_at_a_disk, family))
        except OSError:  # no file can be opened here
            return True
        used_s = self.line.seconds() + sum(self.seen.values()) - self.besides()
        stirs = used_s - self.used_s > self.stir_s or at_a_disk
        self.used_s = used_s if stirs else self.used_s
        return stirs


def _is_at_a_disk(pid: int) -> bool:
    """Whether it waits for a file, as a new interpreter does that imports from far away."""
    with contextlib.suppress(psutil.Error):
        return bool(psutil.Process(pid).status() == psutil.STATUS_DISK_SLEEP)
    return False


def _used_s(pid: int) -> float:
    """Seconds on a core."""
    with contextlib.suppress(psutil.Error):
        return float(sum(psutil.Process(pid).cpu_times()[:2]))
    return 0.0
