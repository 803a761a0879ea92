"""The laws of `spec/lifecycle.md` on traces written by hand."""

from typing import Any

import pytest
from by_hand import UNMET, error, items, judged

from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped, Stream
from conformance.loading import (
    Daemon,
    Drop,
    Fork,
    Interrupt,
    Journal,
    Leftovers,
    Limit,
    Memory,
    Orphan,
    Ponder,
    Printed,
    Shut,
    Strike,
    Threads,
)
from conformance.operations import Drain, Iterate, Open, Rebuild, Take
from conformance.trace import Error, Event, RankTrace, Record, Trace

HANG = Error(("Hang",), "did not return within 11 s")
WHOLE = [[0], [1]]
REST = {
    "children": 0, "threads": 0, "descriptors": 3, "segments": 0, "what": [], "seconds": 0.1,
    "collects": True, "changed": [],
}  # fmt: skip


def lived(*steps: Any, n: int = 2, gives: str = "number", **options: Any) -> Trace:
    """A trace of a loader over `n` items: pairs of an operation and what came of it.

    A list is what was delivered, a float how long it took, an `Error` what was raised.
    """
    plan, results = [step[0] for step in steps], [step[1] for step in steps]
    given = {"dataset": Mapped(n, gives=gives), "num_workers": 2, **options}
    events = [Event(None)]
    for operation, result in zip(plan, results, strict=True):
        failed = result if isinstance(result, Error) else None
        seconds = result if isinstance(result, float) else 0.0
        value = items(result) if isinstance(result, list) else result
        events.append(Event(operation, None if failed else value, failed, seconds))
    return Trace(Case("DataLoader", given, plan, world="alone"), (RankTrace(0, tuple(events)),))


def rest(**changes: Any) -> Any:
    """What `Leftovers` found."""
    return Leftovers(), REST | changes


@pytest.mark.parametrize(
    ("found", "anomaly"),
    [
        ([{}], ""),
        ([{"children": 1}], "left-alive"),
        ([{"threads": 2}], "left-alive"),
        ([{"children": 1, "collects": False}, {}], ""),
        ([{}, {"changed": ["os.environ"]}], "left-changed"),
        ([{}, {"descriptors": 9}], ""),
        ([{}, {"descriptors": 9}, {"descriptors": 9}], ""),
        ([{}, {}, {"descriptors": 4}], "growing-descriptors"),
        ([{}, {"descriptors": 9}, {"descriptors": 11}], "growing-descriptors"),
        ([{}, {"segments": 1}, {"segments": 2}], "growing-segments"),
    ],
)
def test_a_first_pass_may_start_servants(found, anomaly):
    """Nobody may be left alive at all; what is open may not grow from the second time on."""
    steps = [step for changes in found for step in ((Iterate(), WHOLE), rest(**changes))]

    assert judged("lifecycle.leftovers", lived(*steps)) == anomaly


def test_leftovers_are_judged_at_rest():
    """While an iterator lives, or a loader with persistent workers, it may own things."""
    busy = rest(children=2)
    taken = (Open("a"), None), (Take("a"), [[0]])
    gone = (Drop("a"), 0.1)

    assert judged("lifecycle.leftovers", lived(*taken, busy)) == UNMET
    assert judged("lifecycle.leftovers", lived(*taken, gone, busy)) == "left-alive"
    keeps = {"persistent_workers": True}
    assert judged("lifecycle.leftovers", lived(*taken, gone, busy, **keeps)) == UNMET
    assert (
        judged("lifecycle.leftovers", lived(*taken, (Drop(), 0.1), busy, **keeps)) == "left-alive"
    )
    assert judged("lifecycle.leftovers", lived(busy)) == UNMET


@pytest.mark.parametrize(
    ("printed", "children", "anomaly"),
    [("", 0, ""), ("Exception ignored in ...", 0, "prints"), ("", 1, "left-alive")],
)
def test_failed_construction_leaves_nothing_and_is_silent(printed, children, anomaly):
    """Whether the constructor refuses or iter() does."""
    refused = (
        (Rebuild((("num_workers", -1),)), error("ValueError")),
        (Open("a"), None),
        (Drop(), 0.0),
    )
    fails = (Open("a"), error("OSError")), (Drop(), 0.0)
    after = rest(children=children), (Printed(), printed)

    assert judged("lifecycle.failed-construction", lived(*refused, *after)) == anomaly
    assert judged("lifecycle.failed-construction", lived(*fails, *after)) == anomaly
    assert judged("lifecycle.failed-construction", lived((Open("a"), None), *after)) == UNMET


@pytest.mark.parametrize(("took", "anomaly"), [(5.9, ""), (6.1, "late-drop"), (HANG, "late-drop")])
def test_drop_is_bounded(took, anomaly):
    """Six seconds, and a drop that never came back is one that took longer."""
    seconds = (
        Event(Drop("a"), None, HANG, 13.1) if took is HANG else Event(Drop("a"), None, None, took)
    )
    trace = lived((Shut(), None), (Open("a"), None), (Drop("a"), None))
    events = (*trace.ranks[0].events[:-1], seconds)

    assert judged("lifecycle.shutdown", Trace(trace.case, (RankTrace(0, events),))) == anomaly


def test_dropping_nothing_is_no_drop():
    """A drop of what was never opened, or is only garbage, shows nothing."""
    assert judged("lifecycle.shutdown", lived((Drop("a"), error("KeyError")))) == UNMET
    assert judged("lifecycle.shutdown", lived((Open("a"), None), (Drop("a", False), None))) == UNMET


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
        ({"workers": 2, "alive": 0, "seconds": 5.0}, ""),
        ({"workers": 0, "alive": 0, "seconds": 0.0}, ""),
        ({"workers": 2, "alive": 1, "seconds": 10.5}, "late-orphans"),
        (None, UNMET),
    ],
)
def test_orphans_end(found, anomaly):
    """Nobody may be left; a child that took no item shows nothing."""
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
    ("what", "result", "anomaly"),
    [
        ("descriptors", Error(("OSError",), "[Errno 24] Too many open files"), ""),
        ("descriptors", Error(("RuntimeError",), "received 0 items of ancdata"), "unclear-error"),
        ("descriptors", Error(("RuntimeError",), "no shared memory"), "unclear-error"),
        ("memory", Error(("RuntimeError",), "unable to allocate shared memory(shm)"), ""),
        ("memory", Error(("RuntimeError",), "worker exited unexpectedly"), "unclear-error"),
        ("memory", HANG, "hangs"),
        ("memory", WHOLE, ""),
        ("memory", [[0]], "lost-batch"),
    ],
)
def test_exhaustion_is_told(what, result, anomaly):
    """The error names what is exhausted; without an error all must have come."""
    found = lived((Limit(what, 5), None), (Iterate(), result))

    assert judged("lifecycle.exhaustion", found) == anomaly


def test_only_calls_under_a_limit_are_judged():
    """Not an error after the limit was taken back, or of an iterator that was never opened."""
    other = error("ValueError")
    under, free = (Limit("memory", 5), None), (Limit("memory", -1), None)

    assert judged("lifecycle.exhaustion", lived(under, free, (Iterate(), other))) == UNMET
    assert judged("lifecycle.exhaustion", lived(under, (Drain("a"), error("KeyError")))) == UNMET
    assert judged("lifecycle.exhaustion", lived(under, (Iterate(), error("KeyError")))) != UNMET


@pytest.mark.parametrize(
    ("values", "anomaly"),
    [
        ([30, 33, 28, 31], ""),
        ([30, 90, 91, 92], ""),
        ([30, 36, 42, 48], "growing-memory"),
        ([30, 33], UNMET),
    ],
)
def test_memory_grows_only_where_it_goes_on(values, anomaly):
    """A growth that stops is no leak; here there are two passes between two measurements."""
    steps = [s for v in values for s in ((Iterate(), WHOLE), (Iterate(), WHOLE), (Memory(), v))]

    assert judged("lifecycle.memory", lived(*steps)) == anomaly


@pytest.mark.parametrize(
    ("opened", "drained", "anomaly"),
    [
        (Error(("AttributeError",), "Can't pickle local object '<lambda>'"), None, ""),
        (Error(("TypeError",), "collate_fn cannot be sent"), None, ""),
        (Error(("RuntimeError",), "the workers could not be started"), None, "unnamed"),
        (HANG, None, "hangs"),
        (None, WHOLE, ""),
        (None, [[0]], "not-at-iter"),
        (None, Error(("AttributeError",), "Can't pickle '<lambda>'"), "not-at-iter"),
    ],
)
def test_what_cannot_be_sent_is_named(opened, drained, anomaly):
    """At iter(); a loader that can send it after all is right too."""
    steps = [(Open("a"), opened)] + ([] if opened else [(Drain("a"), drained)])
    options = {"collate_fn": Collate("lambda"), "multiprocessing_context": "spawn"}

    assert judged("lifecycle.unpicklable", lived(*steps, **options)) == anomaly


def test_a_daemon_is_told_so():
    """An error that does not speak of daemons says nothing."""
    bare, said = Error(("AssertionError",), ""), Error(("RuntimeError",), "a daemonic process")

    def judge(told: Any) -> str:
        return judged("lifecycle.unpicklable", lived((Daemon(), None), (Open("a"), told)))

    assert (judge(bare), judge(said), judge(None)) == ("unnamed", "", "")
    assert judged("lifecycle.unpicklable", lived((Open("a"), bare))) == UNMET


def test_a_case_that_fails_says_of_what():
    """One violation of a clause is told from another by what befell the workers."""
    from conformance.laws import LAWS

    stopped = lived((Open("a"), None), (Strike(0, "SIGSTOP"), 1), (Drop("a"), 7.0))
    fails = Mapped(8, faults=(Fault("item", 3, "ValueError"),))
    raised = lived((Open("a"), None), (Drop("a"), 7.0), dataset=fails)

    told = [LAWS["lifecycle.shutdown"](trace) for trace in (stopped, raised)]

    assert [v.about for v in told if v] == ["SIGSTOP to a worker", "ValueError in item"]


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


@pytest.mark.parametrize(
    ("drained", "anomaly"),
    [(error("RuntimeError"), ""), ([[1]], ""), (HANG, "bound-to-a-thread")],
)
def test_a_thread_hears_of_deaths(drained, anomaly):
    """Where a worker was killed the pass may fail, but nobody may wait for ever."""
    opened = (Threads(), None), (Open("a"), None), (Take("a"), [[0]])

    found = lived(*opened, (Strike(0), 7), (Drain("a"), drained), (Iterate(), WHOLE))

    assert judged("lifecycle.threads", found) == anomaly
