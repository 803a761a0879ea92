"""What is done to loaders, and what is then measured.

`worlds/blows.py`, `worlds/forked.py` and `worlds/leftovers.py`. All of it happens to real
processes, each of which is bounded and killed afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import psutil
import pytest

from conformance import loading as lo
from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Drain, Iterate, Open, Operation, Take
from conformance.trace import Event
from conformance.worlds import forked
from conformance.worlds.leftovers import descendants, leftovers, standing
from conformance.worlds.segments import hear_of_segments
from conformance.worlds.worlds import Worlds

PLAIN = str(Path(__file__).parent / "faults" / "plain_loader.py")


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """One set of worlds for this file."""
    made = Worlds("gloo")
    yield made
    made.close()


def done(worlds: Worlds, *plan: Operation, n: int = 4, **options: Any) -> list[Event]:
    """What the plain loader shows, alone, after its construction."""
    source = Source(f"{PLAIN}:DataLoader")
    worlds.describe(source)
    data = Mapped(n, gives=options.pop("gives", "number"), gated=options.pop("gated", 0))
    arguments = {"dataset": data, "num_workers": 2, **options}
    trace = worlds.run(source, Case("DataLoader", arguments, plan, world="alone"))
    assert trace.done
    return list(trace.ranks[0].events[1:])


def began(worlds: Worlds, *plan: Operation, **options: Any) -> list[Event]:
    """The same, once an iterator `a` has given an item."""
    return done(worlds, Open("a"), Take("a"), *plan, **options)[2:]


# Signals.


def test_a_strike_has_taken_effect(worlds: Worlds) -> None:
    """A killed worker is gone when `Strike` returns, and the next pass says so."""
    struck, drained = began(worlds, lo.Strike(0), Drain("a"), n=12)

    assert struck.error is None and struck.value > 1
    assert drained.error is not None and drained.error.is_a("RuntimeError")


def test_a_strike_needs_a_worker(worlds: Worlds) -> None:
    """Nobody is struck who has never been heard of."""
    (struck,) = began(worlds, lo.Strike(7))

    assert struck.error is not None and struck.error.kind == "LookupError"


def test_a_strike_needs_a_worker_that_is_there(worlds: Worlds) -> None:
    """Nobody is struck where the workers of a pass have ended with it."""
    *_, struck = began(worlds, Drain("a"), lo.Drop("a"), lo.Strike(0))

    assert struck.error is not None and struck.error.kind == "LookupError"


@pytest.mark.parametrize("everybody", [True, False])
def test_an_interrupt_comes_while_next_waits(worlds: Worlds, everybody: bool) -> None:
    """One KeyboardInterrupt in the waiting main process, after which all goes on."""
    plan = [lo.Shut(), Open("a"), lo.Interrupt("a", everybody), lo.Free(), Take("a", 2)]

    events = done(worlds, *plan, gated=1)

    assert events[2].error is not None and events[2].error.kind == "KeyboardInterrupt"
    assert events[4].value.tolist() == [[0], [1]]


def test_ponder_takes_its_time(worlds: Worlds) -> None:
    """The user's own code runs for as long as it says."""
    (event,) = done(worlds, lo.Ponder(0.3))

    assert event.error is None and event.seconds >= 0.3


# Children.


@pytest.mark.parametrize("how", ["_exit", "exit"])
def test_a_forked_child_tells_how_it_ended(worlds: Worlds, how: str) -> None:
    """And the parent's pass goes on."""
    forked, drained = began(worlds, lo.Fork(how), Drain("a"))

    assert forked.value == "exit 0"
    assert len(drained.value) == 3


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("import os; os._exit(3)", "exit 3"),
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("import signal; signal.alarm(1); signal.pause()", "stuck"),
        ("import time; time.sleep(60)", "stuck"),
    ],
)
def test_a_child_is_waited_for_with_a_bound(code: str, ended: str) -> None:
    """By its exit code, its signal, or as stuck if it does not end."""
    child = subprocess.Popen([sys.executable, "-S", "-c", code])

    assert forked._wait(child.pid, 3.0) == ended
    child.returncode = 0  # it has been waited for


def test_orphans_are_counted(worlds: Worlds) -> None:
    """The workers of a killed process are found, and seen to end."""
    (event,) = done(worlds, lo.Orphan())

    assert event.value["workers"] == 2
    assert event.value["alive"] == 0 and event.value["seconds"] < 5.0


@pytest.mark.parametrize("kept", [True, False])
def test_a_program_ends_with_an_open_iterator(worlds: Worlds, kept: bool) -> None:
    """It is heard of that a child ended, and when; what its loader did not end is ended."""
    (event,) = done(worlds, lo.End(), persistent_workers=kept)

    assert event.value["ended"] == "exit 0" and event.value["seconds"] < 5.0


# Limits.


def test_a_limit_of_descriptors_is_exact(worlds: Worlds) -> None:
    """Two workers take one pipe each, and one more descriptor for a moment."""
    for spare, fails in ((2, True), (3, False)):
        _, opened, _ = done(
            worlds, lo.Limit("descriptors", spare), Open("a"), lo.Limit("descriptors", -1)
        )

        assert (opened.error is not None) == fails


def test_a_limit_is_taken_back(worlds: Worlds) -> None:
    """After that a pass succeeds that could not begin before."""
    limits = lo.Limit("descriptors", 0), Iterate(), lo.Limit("descriptors", -1), Iterate()

    _, failed, _, passed = done(worlds, *limits)

    assert failed.error is not None and "Too many open files" in failed.error.message
    assert len(passed.value) == 4


def test_a_program_may_take_sigterm_for_itself(worlds: Worlds) -> None:
    """Its handler counts as the caller's own, and no setting has changed since."""
    plan = [lo.Preempt(), Open("a"), Take("a"), lo.Ponder(0.1), lo.Leftovers()]

    *_, left = done(worlds, *plan)

    assert left.value["changed"] == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # not in this process


def test_a_daemon_may_have_no_children(worlds: Worlds) -> None:
    """multiprocessing then refuses to start any, as in a worker of a Pool."""
    source = Source("reference")
    worlds.describe(source)
    case = Case("DataLoader", {"dataset": Mapped(2), "num_workers": 1}, [lo.Daemon(), Open("a")])

    opened = worlds.run(source, case.in_world("alone")).ranks[0].events[-1]

    assert opened.error is not None and "daemon" in opened.error.message


# Measurements.


def test_memory_counts_what_is_kept(worlds: Worlds) -> None:
    """Sixteen MiB that were delivered are seen."""
    before, _, after = done(worlds, lo.Memory(), Iterate(), lo.Memory(), n=16, gives="bulk")

    assert 14 <= after.value - before.value <= 40


def test_workers_are_leftovers_while_they_live(worlds: Worlds) -> None:
    """Forked workers are found although they look like the process that forked them."""
    living, _, dropped = began(worlds, lo.Leftovers(), lo.Drop("a"), lo.Leftovers())

    assert (living.value["children"], dropped.value["children"]) == (2, 0)
    assert living.value["descriptors"] > dropped.value["descriptors"]


def test_garbage_waits_for_the_collector(worlds: Worlds) -> None:
    """An iterator that is dropped uncollected keeps its workers until garbage is collected."""
    plan = lo.Drop("a", collected=False), lo.Strike(0, "SIGCONT"), lo.Leftovers()

    _, struck, left = began(worlds, *plan)

    assert struck.error is None
    assert left.value["children"] == 0


def test_what_workers_print_is_seen(worlds: Worlds) -> None:
    """A worker's traceback is part of what the run has printed."""
    printed = done(worlds, Iterate(), lo.Printed())[1]
    source = Source(str(Path(PLAIN).with_name("lifecycle_interrupts.py")) + ":LoudWorkers")
    worlds.describe(source)
    plan = [lo.Shut(), Open("a"), lo.Interrupt("a"), lo.Ponder(), lo.Printed()]
    arguments = {"dataset": Mapped(2, gated=1), "num_workers": 2}

    loud = worlds.run(source, Case("DataLoader", arguments, plan, world="alone")).ranks[0].events

    assert printed.value == ""
    assert loud[-1].value.count("Traceback") == 2


# What is left, in this process.


def test_leftovers_are_counted_by_kind() -> None:
    """A child, a thread and a descriptor that were not there before."""
    before, end = standing(), threading.Event()
    thread = threading.Thread(target=end.wait, args=(30.0,))
    thread.start()
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(30)"])
    ours, theirs = os.pipe()

    found = leftovers(before, frozenset(), 0.1)

    end.set(), child.kill(), child.wait(), thread.join(), os.close(ours), os.close(theirs)
    assert (found["children"], found["threads"], found["descriptors"]) == (1, 1, 2)
    assert leftovers(before, frozenset(), 1.0)["children"] == 0


def test_a_zombie_is_left_too() -> None:
    """Whoever was killed and not waited for."""
    before = standing()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)

    found = leftovers(before, frozenset(), 0.1)["children"]

    os.waitpid(pid, 0)
    assert found == 1


def test_leftovers_are_waited_for() -> None:
    """As soon as all have gone the answer comes, with the time that they took."""
    before = standing()
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"])
    threading.Timer(0.0, child.wait).start()

    found = leftovers(before, frozenset(), 10.0)

    assert found["children"] == 0
    assert found["seconds"] < 8.0


def test_mapped_segments_are_counted() -> None:
    """Also where neither a descriptor nor a name is left of them."""
    import mmap

    before = standing()
    descriptor = os.memfd_create("left")
    os.truncate(descriptor, mmap.PAGESIZE)
    mapped = mmap.mmap(descriptor, mmap.PAGESIZE)
    os.close(descriptor)

    found = leftovers(before, frozenset(), 0.1)["segments"]

    mapped.close()
    assert (found, leftovers(before, frozenset(), 0.1)["segments"]) == (1, 0)


def test_names_in_shared_memory_are_heard_of() -> None:
    """Of this process and of its forks, and only where the name is made."""
    found, made = Path(f"/dev/shm/found-{os.getpid()}"), Path(f"/dev/shm/made-{os.getpid()}")
    found.write_bytes(b"")
    hear_of_segments()
    before = standing()
    found.write_bytes(b"there before")
    if os.fork() == 0:
        made.write_bytes(b"")
        os._exit(0)
    os.wait()

    left = leftovers(before, frozenset(), 0.1)

    found.unlink(), made.unlink()
    assert (left["segments"], left["what"]) == (1, [made.name])


def test_servants_of_the_process_are_nobodys() -> None:
    """The fork server and the resource tracker of multiprocessing are not counted."""
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=signal.getsignal, args=(signal.SIGTERM,))
    before = frozenset(child.pid for child in descendants(frozenset()))
    process.start()
    process.join(30.0)

    left = descendants(before)
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    assert not left
