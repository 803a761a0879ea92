"""The laws of `spec/lifecycle.md` on what befalls a loader: signals, deaths, forks, threads."""

from typing import Any

import pytest
from by_hand import UNMET, error, judged
from lived import HANG, WHOLE, lived, rest

from conformance.datasets import Stream
from conformance.loading import (
    Drop,
    Fork,
    Interrupt,
    Journal,
    Orphan,
    Ponder,
    Printed,
    Strike,
)
from conformance.operations import Drain, Iterate, Open, Take, Threads
from conformance.trace import Event, RankTrace, Record, Trace

INTERRUPT = error("KeyboardInterrupt")


@pytest.mark.parametrize(
    ("told", "then", "left", "anomaly"),
    [
        (INTERRUPT, [], {}, ""),
        ([[0]], [], {}, "interrupt-lost"),
        (HANG, [], {}, "interrupt-lost"),
        (error("RuntimeError"), [], {}, "interrupt-replaced"),
        (INTERRUPT, INTERRUPT, {}, "interrupted-again"),
        (INTERRUPT, error("RuntimeError"), {}, ""),
        (INTERRUPT, [], {"children": 1}, "late-end"),
        (INTERRUPT, [], {"seconds": 10.5}, "late-end"),
    ],
)
def test_one_interrupt(told, then, left, anomaly):
    """Exactly one KeyboardInterrupt, and then the workers end."""
    steps = (Open("a"), None), (Interrupt("a"), told), (Take("a"), then), (Drop("a"), 0.1)
    steps = steps[:2] if told is HANG else steps

    found = lived(*steps, rest(**left)) if told is not HANG else lived(*steps)

    assert judged("lifecycle.interrupt", found) == anomaly


@pytest.mark.parametrize(
    ("sent", "told", "anomaly"),
    [
        (True, None, "interrupt-lost"),
        (True, INTERRUPT, ""),
        (True, error("RuntimeError"), "interrupt-replaced"),
        (False, None, UNMET),
        (False, error("RuntimeError"), UNMET),
    ],
)
def test_one_interrupt_while_workers_start(sent, told, anomaly):
    """It counts where it was sent, and nobody asks for what is left of a start."""
    starting = Interrupt("a", everybody=False, starting=True)
    plan = lived((starting, None), (Ponder(), None))
    events = Event(None), Event(starting, sent, told), Event(Ponder())

    found = Trace(plan.case, (RankTrace(0, events),))

    assert judged("lifecycle.interrupt", found) == anomaly


def test_quiet_after_interrupt():
    """A traceback of anybody's counts, since the main process prints none here."""
    steps = (Open("a"), None), (Interrupt("a"), INTERRUPT)
    loud = "Traceback (most recent call last): ..."

    assert judged("lifecycle.interrupt-quiet", lived(*steps, (Printed(), ""))) == ""
    assert (
        judged("lifecycle.interrupt-quiet", lived(*steps, (Printed(), loud)))
        == "traceback-of-a-worker"
    )
    assert judged("lifecycle.interrupt-quiet", lived((Printed(), loud))) == UNMET


@pytest.mark.parametrize(
    ("found", "anomaly"),
    [
        ({"workers": 2, "alive": 0, "rest": False, "seconds": 5.0}, ""),
        ({"workers": 0, "alive": 0, "rest": False, "seconds": 0.0}, ""),
        ({"workers": 2, "alive": 1, "rest": False, "seconds": 10.5}, "late-orphans"),
        ({"workers": 2, "alive": 1, "rest": True, "seconds": 10.5}, "late-orphans"),
        (None, UNMET),
    ],
)
def test_orphans_end(found, anomaly):
    """Nobody may be left, at work or at rest; a child that took no item shows nothing."""
    assert judged("lifecycle.orphans", lived((Orphan(), found))) == anomaly


@pytest.mark.parametrize(
    ("child", "then", "printed", "anomaly"),
    [
        ("exit 0", [[1]], "", ""),
        ("exit 0", HANG, None, "parent-affected"),
        ("exit 0", error("RuntimeError"), "", "parent-affected"),
        ("exit 0", [], "", "parent-affected"),
        (error("RuntimeError"), [[1]], "", "parent-affected"),
        ("stuck", [[1]], "", "child-affected"),
        ("exit 1", [[1]], "", "child-affected"),
        ("exit 0", [[1]], "AssertionError: can only test a child process", "prints"),
    ],
)
def test_fork_affects_nobody(child, then, printed, anomaly):
    """Neither parent nor child, and nothing is printed."""
    steps = [(Open("a"), None), (Take("a"), [[0]]), (Fork(), child), (Drain("a"), then)]
    more = [] if printed is None else [(Printed(), printed)]

    assert judged("lifecycle.fork", lived(*steps, *more)) == anomaly


def test_garbage_is_forked_too():
    """Workers of the next pass inherit what nobody has collected."""
    steps = (Open("a"), None), (Drop("a", collected=False), None), (Iterate(), WHOLE)

    assert judged("lifecycle.fork", lived(*steps, (Printed(), ""))) == ""
    assert judged("lifecycle.fork", lived(*steps, (Printed(), "AssertionError"))) == "prints"
    assert judged("lifecycle.fork", lived((Iterate(), WHOLE), (Printed(), "x"))) == UNMET


@pytest.mark.parametrize(
    ("results", "anomaly"),
    [
        ([error("RuntimeError"), WHOLE], ""),
        ([WHOLE, WHOLE], ""),
        ([error("RuntimeError"), error("RuntimeError")], "no-complete-pass"),
        ([error("RuntimeError"), WHOLE, [[0]]], "no-complete-pass"),
        ([error("RuntimeError"), HANG], "no-complete-pass"),
        ([error("RuntimeError")], UNMET),
    ],
)
def test_a_pass_after_a_death(results, anomaly):
    """One pass may fail for a death, and no more than one."""
    struck = (Iterate(), WHOLE), (Strike(0), 17)
    passes = [(Iterate(), result) for result in results]

    assert judged("lifecycle.again", lived(*struck, *passes)) == anomaly


@pytest.mark.parametrize(
    ("last", "anomaly"), [(WHOLE, ""), (error("RuntimeError"), "no-complete-pass")]
)
def test_a_loader_outlives_many_deaths(last, anomaly):
    """Each death may cost the pass that finds it; after the last one passes are whole again."""
    dying = [(Strike(0), 17), (Iterate(), error("RuntimeError"))] * 3

    assert judged("lifecycle.again", lived(*dying, (Iterate(), last))) == anomaly


@pytest.mark.parametrize(
    ("later", "anomaly"),
    [([[1, 0], [2]], ""), ([[1], [0, 2]], ""), ([[1]], "no-complete-pass"),
     ([[1, 1], [0, 2]], "no-complete-pass")],
)  # fmt: skip
def test_a_stream_is_complete_in_any_order(later, anomaly):
    """After the death of a worker a pass over a stream has each element once."""
    passes = [(Iterate(), error("RuntimeError")), (Iterate(), later)]
    found = lived((Strike(0), 17), *passes, dataset=Stream(3), batch_size=2)

    assert judged("lifecycle.again", found) == anomaly


def test_a_death_at_the_gate_is_in_the_journal():
    """The pass in which it happened is the one that may fail."""
    died = error("RuntimeError")
    record = Record("dies", 1, 1, 9, 0.0)

    def judge(*results: Any, journal: Any = (record,)) -> str:
        found = lived(*((Iterate(), result) for result in results), (Journal(), None))
        events = (*found.ranks[0].events[:-1], Event(Journal(), journal))
        return judged("lifecycle.again", Trace(found.case, (RankTrace(0, events),)))

    assert judge(died, WHOLE) == ""
    assert judge(died, died) == "no-complete-pass"
    assert judge(WHOLE, WHOLE, journal=()) == UNMET


def test_without_processes_nobody_dies():
    """A loader with threads cannot be struck, and so neither ambushes nor stays dead."""
    nobody = (Strike(0), error("LookupError")), (Iterate(), WHOLE)

    assert judged("lifecycle.again", lived(*nobody)) == ""
    assert judged("lifecycle.no-ambush", lived(*nobody)) == ""


def test_ambush_is_an_error_in_other_code():
    """In an operation that calls nothing of the loader."""
    died = error("RuntimeError")

    assert judged("lifecycle.no-ambush", lived((Strike(0), died))) == "ambushed"
    assert judged("lifecycle.no-ambush", lived((Strike(0), 1), (Ponder(), died))) == "ambushed"
    assert judged("lifecycle.no-ambush", lived((Strike(0), 1), (Iterate(), died))) == ""
    assert judged("lifecycle.no-ambush", lived((Strike(0, "SIGSTOP"), 1))) == UNMET


@pytest.mark.parametrize(
    ("drained", "again", "anomaly"),
    [
        ([[1]], WHOLE, ""),
        ([], WHOLE, "bound-to-a-thread"),
        ([[1]], [[1], [0]], "bound-to-a-thread"),
        (error("ValueError"), WHOLE, "bound-to-a-thread"),
        (HANG, WHOLE, "bound-to-a-thread"),
    ],
)
def test_threads_get_the_same_pass(drained, again, anomaly):
    """Whichever calls: no call may fail, and each pass has all its batches."""
    opened = (Threads(), None), (Open("a"), None), (Take("a"), [[0]])
    read = (Drain("a"), drained), (Iterate(), again)

    assert judged("lifecycle.threads", lived(*opened, *read)) == anomaly
    assert judged("lifecycle.threads", lived(*opened[1:], *read)) == UNMET


def test_threads_may_change_an_order_that_is_free():
    """With `in_order=False` a pass has all its batches, in whatever order."""
    turned = (Threads(), None), (Iterate(), [[1], [0]])
    short = (Threads(), None), (Iterate(), [[1]])

    assert judged("lifecycle.threads", lived(*turned, in_order=False)) == ""
    assert judged("lifecycle.threads", lived(*short, in_order=False)) == "bound-to-a-thread"


@pytest.mark.parametrize(
    ("drained", "anomaly"),
    [(error("RuntimeError"), ""), ([[1]], ""), (HANG, "bound-to-a-thread")],
)
def test_a_thread_hears_of_deaths(drained, anomaly):
    """Where a worker was killed the pass may fail, but nobody may wait for ever."""
    opened = (Threads(), None), (Open("a"), None), (Take("a"), [[0]])

    found = lived(*opened, (Strike(0), 7), (Drain("a"), drained), (Iterate(), WHOLE))

    assert judged("lifecycle.threads", found) == anomaly
