"""The laws of `spec/lifecycle.md` on traces written by hand."""

from typing import Any

import pytest
from by_hand import UNMET, error, judged
from lived import HANG, WHOLE, lived, rest

from conformance.datasets import Collate, Fault, Mapped
from conformance.laws import LAWS
from conformance.loading import (
    Consume,
    Daemon,
    Drop,
    End,
    Limit,
    Memory,
    Printed,
    Shut,
    Strike,
)
from conformance.operations import Drain, Iterate, Open, Rebuild, Take
from conformance.trace import Error, Event, RankTrace, Trace


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
    ("drained", "keeps", "anomaly"),
    [(WHOLE, False, "left-alive"), (WHOLE, True, UNMET), (error("ValueError"), False, UNMET)],
)
def test_an_iterator_that_is_held_at_its_end_owns_nothing(drained, keeps, anomaly):
    """What came to its end holds no worker, unless they are kept for the next pass."""
    steps = (Open("a"), None), (Drain("a"), drained), rest(children=2)

    assert judged("lifecycle.leftovers", lived(*steps, persistent_workers=keeps)) == anomaly


def test_an_iterator_of_the_name_of_an_ended_one_is_another():
    """What is opened under the name of an iterator that was read to its end may own things."""
    ended = (Open("a"), None), (Drain("a"), WHOLE), (Drop("a"), 0.1)
    taken = (Open("a"), None), (Take("a"), [[0]]), rest(children=2)

    assert judged("lifecycle.leftovers", lived(*ended, *taken)) == UNMET


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


@pytest.mark.parametrize(("what", "anomaly"), [("descriptors", ""), ("memory", "prints")])
def test_what_the_fork_server_prints_without_descriptors_is_python_s(what, anomaly):
    """It is forgiven where descriptors are limited, and nowhere else."""
    told = 'File "/usr/lib/python3.11/multiprocessing/forkserver.py", line 258, in main'
    fails = (Limit(what, 0), None), (Open("a"), error("OSError")), (Drop(), 0.0)

    trace = lived(*fails, rest(), (Printed(), told))

    assert judged("lifecycle.failed-construction", trace) == anomaly


@pytest.mark.parametrize(("took", "anomaly"), [(5.9, ""), (6.1, "late-drop"), (HANG, "late-drop")])
def test_drop_is_bounded(took, anomaly):
    """Six seconds, and a drop that never came back is one that took longer."""
    seconds = (
        Event(Drop("a"), None, HANG, 13.1) if took is HANG else Event(Drop("a"), None, None, took)
    )
    trace = lived((Shut(), None), (Open("a"), None), (Drop("a"), None))
    events = (*trace.ranks[0].events[:-1], seconds)

    assert judged("lifecycle.shutdown", Trace(trace.case, (RankTrace(0, events),))) == anomaly


@pytest.mark.parametrize(
    ("found", "anomaly"),
    [
        ({"ended": "exit 0", "seconds": 5.9}, ""),
        ({"ended": "exit 1", "seconds": 0.1}, ""),
        ({"ended": "exit 0", "seconds": 6.1}, "late-exit"),
        ({"ended": "stuck", "seconds": 8.0}, "late-exit"),
        (None, UNMET),
    ],
)
def test_the_end_of_a_program_is_bounded(found, anomaly):
    """Six seconds with an open iterator; a child that took no item shows nothing."""
    assert judged("lifecycle.shutdown", lived((End(), found))) == anomaly


@pytest.mark.parametrize(("rested", "again"), [(5.5, True), (6.2, False)])
def test_who_only_rests_is_late_for_certain(rested, again):
    """What took too long is seen twice, unless nobody had anything to do for as long as that."""
    dropped = lived((Shut(), None), (Open("a"), None), (Drop("a"), None))
    events = (*dropped.ranks[0].events[:-1], Event(Drop("a"), None, None, 8.0, rested=rested))
    ended = {"ended": "exit 0", "seconds": 8.0, "rested": rested}
    late = [
        LAWS["lifecycle.shutdown"](Trace(dropped.case, (RankTrace(0, events),))),
        LAWS["lifecycle.shutdown"](lived((End(), ended))),
    ]

    assert [found and found.racy for found in late] == [again, again]


def test_dropping_nothing_is_no_drop():
    """A drop of what was never opened, or is only garbage, shows nothing."""
    assert judged("lifecycle.shutdown", lived((Drop("a"), error("KeyError")))) == UNMET
    assert judged("lifecycle.shutdown", lived((Open("a"), None), (Drop("a", False), None))) == UNMET


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
    ("kept", "anomaly"),
    [((24, 1), ""), ((24, 12), ""), ((24, 23), "keeps-batches"), (None, UNMET)],
)
def test_batches_are_let_go_of(kept, anomaly):
    """A pass may hold on to some of what it has delivered, not to most of it."""
    steps = (Open("a"), None), (Consume("a"), kept)

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
