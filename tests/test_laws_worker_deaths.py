"""The laws of `spec/workers.md` about deaths and endless waits, on traces written by hand."""

from dataclasses import replace

import pytest
from by_hand import UNMET, judged, seen
from test_laws_worker_failures import HUNG, case, raised

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order
from conformance.laws import LAWS
from conformance.loading import Journal, Schedule, Strike
from conformance.operations import Iterate, Open, Take
from conformance.trace import Event, RankTrace, Record


def told(*rows, pid=77):
    """Records of worker 0, which has this pid, at the given seconds; "want" is the caller's."""
    return tuple(
        Record(kind, value, -1 if kind == "want" else 0, 1 if kind == "want" else pid, seconds)
        for kind, value, seconds in rows
    )


DIED = told(("want", 0, 5.0), ("want", 1, 5.1), ("leave", 1, 6.0), ("want", 1, 9.0))


def death(error, *after, how="exit 3", seconds=1.0, **options):
    """A worker died at item 1, one second into the second call of next()."""
    plan = Open("a"), *(Take("a") for _ in range(2 + len(after))), Journal()
    reported = Event(None, None, error, seconds + 0.9)
    wants = told(*(("want", 1, 9.0) for _ in after[1:]))
    return seen(
        case(*plan, what=how, **options), None, [0], reported, *after,
        (*DIED[: 4 if after else 3], *wants),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("how", "text", "anomaly"),
    [
        ("exit 3", "worker 0 exited with code 3", ""),
        ("exit 3", "pid 77: exit status 3", ""),
        ("exit 3", "DataLoader worker (pid(s) 77) exited unexpectedly", "reason-unnamed"),
        ("exit 3", "a worker exited with code 3", "worker-unnamed"),
        ("exit 3", "worker 1 exited with code 3", "worker-unnamed"),
        ("exit 0", "worker 0 exited with code 3", "reason-unnamed"),
        ("SIGKILL", "worker process 0 was killed", ""),
        ("SIGKILL", "worker #0 (exit code -9)", ""),
        ("SIGKILL", "worker 0 exited with code 9", "reason-unnamed"),
        ("SIGSEGV", "worker id=0: Segmentation fault", ""),
        ("SIGSEGV", "worker id=0 got signal 9", "reason-unnamed"),
        ("SIG37", "worker 0 was killed by 37", ""),
        ("SIG37", "worker 0 was killed", "reason-unnamed"),
    ],
)
def test_the_report_of_a_death_names_worker_and_reason(how, text, anomaly):
    """In one text or in that of a cause."""
    assert judged("workers.death", death(raised("RuntimeError", text), how=how)) == anomaly
    behind = raised("RuntimeError", "it failed", raised("OSError", text))
    assert judged("workers.death", death(behind, how=how)) == anomaly


def test_a_clean_exit_may_arrive_as_an_exception():
    """`sys.exit(0)` in a worker may count as its death or as SystemExit."""
    itself = raised("SystemExit", "0")

    assert judged("workers.death", death(itself, how="CleanExit")) == ""
    named = raised("RuntimeError", "worker 0 exited with code 0")
    assert judged("workers.death", death(named, how="CleanExit")) == ""
    vague = raised("RuntimeError", "worker 0 exited unexpectedly")
    assert judged("workers.death", death(vague, how="CleanExit")) == "reason-unnamed"


def test_a_death_is_reported_in_time():
    """Seconds count from the death, where that is later than the call."""
    right = raised("RuntimeError", "worker 0 exited with code 3")

    assert judged("workers.death", death(right, seconds=9.9)) == ""
    assert judged("workers.death", death(right, seconds=10.2)) == "late-report"
    assert judged("workers.death-soon", death(right, seconds=1.9)) == ""
    assert judged("workers.death-soon", death(right, seconds=2.2)) == "late-report"


@pytest.mark.parametrize(("seconds", "anomaly"), [(4.3, ""), (4.6, "late-report")])
def test_of_a_worker_that_was_started_again_the_last_death_counts(seconds, anomaly):
    """It died at 6.0 s, and in its place another at 7.5 s; the call began at 5.1 s."""
    plan = case(Open("a"), Take("a"), Take("a"), Journal(), what="exit 3")
    reported = Event(None, None, raised("RuntimeError", "worker 0 exited with code 3"), seconds)
    records = (*DIED[:3], *told(("leave", 1, 7.5), pid=78))

    assert judged("workers.death-soon", seen(plan, None, [0], reported, records)) == anomaly


def test_a_pass_that_lost_a_worker_does_not_end_well():
    """Unless the batch was made after all."""

    def passed(*items):
        plan = case(Iterate(), Journal(), what="SIGKILL")
        return seen(plan, list(items), DIED)

    assert judged("workers.death", passed(0, 2, 3)) == "silent-end"
    assert judged("workers.death", passed(0, 1, 2, 3)) == ""
    assert judged("workers.dead-iterator", passed(0, 1, 2, 3)) == UNMET


@pytest.mark.parametrize(
    ("after", "anomaly"),
    [
        ((raised("RuntimeError"), raised("ValueError")), ""),
        ((raised("RuntimeError"), []), "ends"),
        (([1], [2]), "goes-on"),
        (([2], []), "batch-after-hole"),
        ((), UNMET),
    ],
)
def test_a_dead_iterator_stays_dead(after, anomaly):
    """After the report only errors, and never a batch after a missing one."""
    assert judged("workers.dead-iterator", death(raised("RuntimeError"), *after)) == anomaly


def test_a_stroke_is_a_death_of_an_idle_worker():
    """Who was struck is known from what the worker reported last."""
    plan = Open("a"), Take("a"), Strike(0), Take("a"), Journal()
    given = Case("DataLoader", {"dataset": Mapped(4), "num_workers": 1}, plan)
    rows = told(("leave", 0, 1.0), ("want", 0, 1.0), ("want", 1, 2.0))

    def judge(text):
        trace = seen(given, None, [[0]], 77, raised("RuntimeError", text), rows)
        return LAWS["workers.death"](trace)

    assert judge("worker (pid 77) is killed by signal: Killed") is None
    assert judge("worker (pid 77) exited unexpectedly").about == "SIGKILL of an idle worker"


def test_nothing_makes_next_wait_for_ever():
    """A call that did not return is told with what went wrong, what was called and where it is."""
    wrong = case(Open("a"), Take("a"), what="unpicklable")
    found = LAWS["workers.no-hang"](seen(wrong, None, HUNG))

    assert (found.anomaly, found.about) == ("hang", "unpicklable in item")
    assert "Take('a') did not return" in found.saw and "queues.py" in found.saw
    assert judged("workers.no-hang", seen(wrong, None, raised("TypeError"))) == ""


def test_a_loader_that_does_not_answer_has_hung():
    """Whatever its case was; where nothing goes wrong and all return, nothing is judged."""
    right = Case("DataLoader", {"dataset": Mapped(4)}, [Iterate()])
    trace = seen(right, [0, 1, 2, 3])

    assert judged("workers.no-hang", trace) == UNMET
    for fate, anomaly in (("stuck", "hang"), ("SIGSEGV", "main-process-died")):
        lost = replace(trace, ranks=(RankTrace(0, (), fate),))
        assert judged("workers.no-hang", lost) == anomaly


def test_a_dataset_that_does_not_return_is_not_the_loaders_fault():
    """Unless a timeout was asked for."""
    endless = case(Iterate(), what="hang")
    bounded = case(Iterate(), what="hang", timeout=1)

    assert judged("workers.no-hang", seen(endless, HUNG)) == UNMET
    assert judged("workers.no-hang", seen(bounded, HUNG)) == "hang"


def test_what_cannot_be_sent_and_who_writes_is_named():
    """Indices, functions, and results under way tell one hang from another."""

    def about(*plan, **options):
        given = {"dataset": Mapped(4), "num_workers": 1, **options}
        return LAWS["workers.no-hang"](seen(Case("DataLoader", given, plan), HUNG)).about

    assert about(Iterate(), sampler=Order(4, "lambdas")) == "unpicklable index"
    assert about(Iterate(), collate_fn=Collate("lambda")) == "unpicklable collate_fn"
    assert about(Schedule((0,), dies=0)) == "SIGKILL at a turn"
    assert about(Strike(0), dataset=Mapped(4, "bulk")).endswith("that writes a large result")
