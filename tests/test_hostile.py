"""Hostile candidates: each ends in a verdict, in bounded time, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from faults.hostile import HOSTILE
from zoo import WHOLE

ZOO = Path(__file__).parent / "faults"
RUN_S_MAX = 300.0
GRACE_S = 10.0
MARKER = "CONFORMANCE_TEST_MARKER"
CLAUSES = (
    "sampler.works", "sampler.returns", "sampler.ends", "sampler.index", "sampler.quiet",
    "sequential.order",
)  # fmt: skip

TOGETHER = ("AloneInBroadcast", "AloneInReduce", "Endless", "Exits", "Killed", "SysExits")
"""Those that are examined in a real group as well, which takes ten seconds each: one of each way in
which a rank leaves the others waiting."""


WAYS = (
    "AloneInReduce", "ClosesDescriptors", "Endless", "Escapes", "EvilItems", "Exits", "FloodsDisk",
    "Grows", "Killed", "LeavesDaemon", "Spins",
)  # fmt: skip
"""Those of the usual run, one of each way to be hostile, as each takes ten seconds, and is asked
the first clause that it breaks; with CONFORMANCE_ZOO=all it is all of them, and all of CLAUSES."""


@dataclass
class Run:
    """What a run of the suite came to: exit code, output, and what it left behind."""

    code: int
    output: str
    processes: list[str]
    shared_memory: set[str]

    @property
    def violated(self) -> set[str]:
        """The clauses that are told to be violated by the distributed sampler."""
        found = re.findall(r"^([a-z]+\.[a-z-]+) \(MUST\) is violated by Dist", self.output, re.M)
        return set(found)


def marked(marker: str) -> list[str]:
    """The living processes that have the marker in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER) == marker:
                found.append(f"{process.pid} {process.status()} {process.cmdline()}")
        except psutil.Error:
            continue
    return found


def shared() -> set[str]:
    """The names in shared memory, without those that the C library gives a semaphore before its own
    one: they stay where a process, of whichever test, was killed at that moment."""
    names = {path.name for path in Path("/dev/shm").iterdir()}
    return {name for name in names if not re.fullmatch(r"sem\.[A-Za-z0-9]{6}", name)}


def mapped(pid: int) -> set[int]:
    """The inodes of what a process has mapped from shared memory.

    Not the names: whoever makes a semaphore has mapped it under a name that is gone, as the C
    library links it to its own name only afterwards.
    """
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
        found = [line.split(maxsplit=5) for line in lines]
        return {int(line[4]) for line in found if line[-1].startswith("/dev/shm/")}
    return set()


class Watch(threading.Thread):
    """Sees which shared memory is used by the processes that have the marker.

    Other tests use shared memory too, and some of their names last as long as their pools do.
    """

    def __init__(self, marker: str) -> None:
        super().__init__(daemon=True)
        self.marker, self.held, self.over = marker, set[int](), threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            for line in marked(self.marker):
                self.held |= mapped(int(line.split()[0]))

    def left(self, before: set[str]) -> set[str]:
        """Those of the new names in shared memory that these processes have used."""
        return {name for name in shared() - before if inode(name) in self.held}


def inode(name: str) -> int:
    """The number under which the file system knows a name in shared memory; 0 if it has gone."""
    try:
        return (Path("/dev/shm") / name).stat().st_ino
    except FileNotFoundError:
        return 0


@pytest.fixture
def marker() -> Iterator[str]:
    """A text that only the processes of this test carry; whoever carries it at the end dies."""
    made = uuid.uuid4().hex
    yield made
    for line in marked(made):
        psutil.Process(int(line.split()[0])).kill()


def run(impl: str, marker: str, clauses: tuple[str, ...] = CLAUSES) -> Run:
    """Run the suite on a candidate in a process of its own, as a user does."""
    before, watch = shared(), Watch(marker)
    watch.start()
    options = [word for clause in clauses for word in ("--clause", clause)]
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "--pyargs", "conformance", f"--impl={impl}", *options,
            "--effort=quick", "--case-timeout=3", "--world-sizes=2", "--backend=gloo",
            "-p", "no:cacheprovider",
        ],
        capture_output=True, text=True, timeout=RUN_S_MAX,
        env={**os.environ, MARKER: marker},
    )  # fmt: skip
    watch.over.set()
    left, end = marked(marker), time.monotonic() + GRACE_S
    while watch.left(before) and time.monotonic() < end:
        time.sleep(0.2)
    return Run(done.returncode, done.stdout + done.stderr, left, watch.left(before))


LEAVES = """
import mmap, os, sys, time
file = os.open(f"/dev/shm/{sys.argv[1]}", os.O_CREAT | os.O_RDWR)
os.ftruncate(file, 4096)
used = mmap.mmap(file, 4096)
time.sleep(1)
"""


def test_what_is_left_in_shared_memory_is_seen(marker: str) -> None:
    """A name that a process of the run used and did not remove is told, and another's is not."""
    before, watch, other = shared(), Watch(marker), Path(f"/dev/shm/other-{marker}")
    other.touch()
    watch.start()

    subprocess.run([sys.executable, "-c", LEAVES, marker], env={**os.environ, MARKER: marker})
    watch.over.set()

    assert watch.left(before) == {marker}
    Path(f"/dev/shm/{marker}").unlink()
    other.unlink()
    assert not watch.left(before)


@pytest.mark.parametrize("name", sorted(HOSTILE) if WHOLE else WAYS)
def test_hostile_candidate_gets_a_verdict(name: str, marker: str) -> None:
    """The run names a clause that the hostile sampler breaks, goes on, and leaves nothing."""
    wanted = set(HOSTILE[name].CAUGHT_BY)
    first = HOSTILE[name].CAUGHT_BY[:1]
    asked = CLAUSES if WHOLE or not first else ("sequential.order", *first)
    grouped = ("distributed.equal-counts",) if name in TOGETHER else ()

    found = run(f"{ZOO / 'hostile.py'}:{name}_", marker, (*asked, *grouped))

    assert found.code == (1 if wanted else 0), found.output
    assert found.violated & wanted if wanted else not found.violated, found.output
    assert re.search(r"^sequential\.order .* holds ", found.output, re.M), found.output
    assert not found.processes
    assert not found.shared_memory


@pytest.mark.parametrize("name", ["hangs", "exits", "sys_exits", "raises"])
def test_hostile_import_is_a_usage_error(name: str, marker: str) -> None:
    """A module that cannot be imported ends the run with exit code 4 and one clear sentence."""
    found = run(str(ZOO / "imports" / f"{name}.py"), marker)

    assert found.code == pytest.ExitCode.USAGE_ERROR, found.output
    told = [line for line in found.output.splitlines() if line.startswith("ERROR:")]
    assert len(told) == 1 and "--impl" in told[0] and "import" in told[0], found.output
    assert "Traceback" not in found.output
    assert not found.processes
    assert not found.shared_memory


def test_import_may_print(marker: str) -> None:
    """A module that prints 32 MiB while it is imported is examined, and is quiet in its passes."""
    found = run(str(ZOO / "imports" / "floods.py"), marker, ("sequential.order", "sampler.quiet"))

    assert found.code == 0, found.output
    assert re.search(r"^sequential\.order .* holds ", found.output, re.M), found.output
    assert len(found.output) < 1 << 20
