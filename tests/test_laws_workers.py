"""The laws of `spec/workers.md` on traces written by hand: orders, and working ahead."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import UNMET, error, journal, judged, seen

from conformance.case import Case
from conformance.datasets import Mapped, Order
from conformance.loading import Describe, Journal, Settle, Trickle
from conformance.operations import Drain, Iterate, Open, Rebuild, Reseed, Take
from conformance.recipes import Raw
from conformance.trace import Event, RankTrace, Record, Trace

ONE = Iterate()


def case(n: int, *plan: Any, gives: str = "number", **options: Any) -> Case:
    """A loader without batching over `n` items, with two workers."""
    options = {"num_workers": 2, "batch_size": None, **options}
    return Case("DataLoader", {"dataset": Mapped(n, gives=gives), **options}, plan)


# Orders.


@pytest.mark.parametrize(
    ("delivered", "anomaly"),
    [
        ([0, 1, 2], ""),
        ([0, 2, 1], "out-of-order"),
        ([0, 1], "other-batches"),
        ([0, 1, 1], "other-batches"),
        (error("OSError"), "crash"),
    ],
)
def test_order_is_that_of_the_sampler(delivered, anomaly):
    """Workers deliver what one process delivers, and in its order."""
    assert judged("workers.same-order", seen(case(3, ONE), delivered)) == anomaly


def test_order_is_judged_in_every_construction():
    """The same order is wanted without workers, and with other ones."""
    plan = ONE, Rebuild((("num_workers", 0),)), ONE

    right = seen(case(2, *plan), [0, 1], None, [0, 1])
    wrong = seen(case(2, *plan), [0, 1], None, [1, 0])

    assert judged("workers.same-order", right) == ""
    assert judged("workers.same-order", wrong) == "out-of-order"


@pytest.mark.parametrize(
    ("plan", "results", "anomaly"),
    [
        ((Reseed(7), ONE, Rebuild(()), Reseed(7), ONE), (None, [1, 0], None, None, [1, 0]), ""),
        (
            (Reseed(7), ONE, Rebuild(()), Reseed(7), ONE),
            (None, [1, 0], None, None, [0, 1]),
            "out-of-order",
        ),
        ((Reseed(7), ONE, Rebuild(()), Reseed(8), ONE), (None, [1, 0], None, None, [0, 1]), UNMET),
        ((Reseed(7), ONE, Rebuild(()), ONE), (None, [1, 0], None, [0, 1]), UNMET),
        ((Reseed(7), ONE, ONE), (None, [1, 0], [0, 1]), UNMET),
    ],
)
def test_shuffled_orders_are_compared_where_they_were_seeded_alike(plan, results, anomaly):
    """Without a known order, only the first passes after the same seed can be compared."""
    assert judged("workers.same-order", seen(case(2, *plan, shuffle=True), *results)) == anomaly


def test_collated_batches_are_compared_as_they_look():
    """Batches that are no numbers are compared by type, shape and values."""
    plan = ONE, Describe(), Rebuild((("num_workers", 0),)), ONE, Describe()
    given = case(1, *plan, gives="named")

    def found(*looks: str) -> str:
        return judged("workers.same-order", seen(given, [0], looks[:1], None, [0], looks[1:]))

    assert found("Point(1)", "Point(1)") == ""
    assert found("Point(1)", "tuple(1)") == "other-collation"


@pytest.mark.parametrize(
    ("delivered", "anomaly"),
    [
        ([2, 0, 1], ""),
        ([2, 1], "lost-batch"),
        ([2, 0, 1, 1], "doubled-batch"),
        (error("ValueError"), "crash"),
    ],
)
def test_each_batch_comes_once_without_order(delivered, anomaly):
    """With `in_order=False` only the order is free."""
    assert judged("workers.unordered", seen(case(3, ONE, in_order=False), delivered)) == anomaly


@pytest.mark.parametrize(
    ("taken", "anomaly"), [([1, 0, 1], "doubled-batch"), ([1, 0, 2], UNMET), ([], UNMET)]
)
def test_a_pass_that_hangs_is_judged_by_what_it_had_delivered(taken, anomaly):
    """That it hangs is another clause's matter, a batch that came twice is not."""
    given = case(4, Open("a"), Take("a", 3), Drain("a"), in_order=False)

    assert judged("workers.unordered", seen(given, None, taken, error("Hang"))) == anomaly


@pytest.mark.parametrize(
    ("told", "anomaly"),
    [
        (("fetch 0 by 0", "fetch 1 by 1", "fetch 3 by 1", "fetch 2 by 0"), ""),
        (("fetch 1 by 1", "fetch 2 by 1", "fetch 3 by 1", "fetch 0 by 0"), ""),
        (("fetch 2 by 0", "fetch 1 by 1", "fetch 0 by 0", "fetch 3 by 1"), "handed-out-of-order"),
        (("fetch 2", "fetch 1", "fetch 0", "fetch 3"), ""),
    ],
)
def test_each_worker_is_handed_its_batches_in_order(told, anomaly):
    """Which worker gets a batch is free, and so are threads of the main process."""
    found = seen(case(4, ONE, Journal(), in_order=False), [0, 1, 2, 3], journal(*told))

    assert judged("workers.unordered", found) == anomaly


def test_a_second_pass_starts_over_with_the_first_batch():
    """What was handed out in one pass says nothing about the next."""
    told = journal("fetch 0 by 0", "fetch 1 by 0", "fetch 0 by 0", "fetch 1 by 0")

    found = seen(case(2, ONE, ONE, Journal(), in_order=False), [0, 1], [1, 0], told)

    assert judged("workers.unordered", found) == ""


# Working ahead.


@pytest.mark.parametrize(
    ("told", "anomaly"),
    [
        (("fetch 0", "fetch 1", "want 0", "fetch 2"), ""),
        (("fetch 0", "fetch 1", "fetch 2", "want 0"), "fetched-too-far"),
        (("fetch 0", "want 0", "want 1", "want 2", "fetch 1", "fetch 2"), ""),
        (
            (
                "want 0", "want 1", "want 2", "want 3", "fetch 0", "fetch 1", "fetch 2",
                "fetch 0", "fetch 1", "fetch 2", "want 0",
            ),
            "fetched-too-far",
        ),
    ],
)  # fmt: skip
def test_fetches_are_counted_against_what_was_wanted(told, anomaly):
    """Two workers that work one batch ahead; the call that finds the end wants no batch."""
    found = seen(case(3, ONE, Journal(), prefetch_factor=1), [0, 1, 2], journal(*told))

    assert judged("workers.backpressure", found) == anomaly


@pytest.mark.parametrize(
    ("told", "anomaly"),
    [
        (("draw 0", "draw 1", "want 0", "want 0", "draw 2", "deliver 0"), ""),
        (("draw 0", "draw 1", "want 0", "draw 2", "want 0", "deliver 0"), ""),
        (
            ("draw 0", "draw 1", "want 0", "draw 2", "want 0", "draw 3", "deliver 0"),
            "read-too-far",
        ),
    ],
)
def test_calls_that_timed_out_count_once(told, anomaly):
    """What the first has drawn in the hope of a batch is for the next; a second is one too many."""
    options = {"sampler": Order(4), "prefetch_factor": 1, "timeout": 1}

    found = seen(case(4, Open("a"), Journal(), **options), None, journal(*told))

    assert judged("workers.read-ahead", found) == anomaly


@pytest.mark.parametrize(("ahead", "anomaly"), [(4, ""), (6, "read-too-far")])
def test_draws_are_counted_in_batches(ahead, anomaly):
    """Two indices make a batch, and two batches may be drawn before one is wanted."""
    told = journal(*(f"draw {place}" for place in range(ahead)))
    options = {"batch_size": 2, "sampler": Order(8), "prefetch_factor": 1}

    found = seen(case(8, Open("a"), Journal(), **options), None, told)

    assert judged("workers.read-ahead", found) == anomaly


# Starts.


@pytest.mark.parametrize(
    ("start", "delivered", "anomaly"),
    [
        ("fork", [1000, 1001], ""),
        ("fork", [0, 1], "not-forked"),
        ("spawn", [0, 1], ""),
        (Raw("forkserver", "context"), [0, 1], ""),
        (Raw("forkserver", "context"), [1000, 1001], "forked"),
        (Raw("fork", "context"), [1000, 1], "not-forked"),
        (Raw("fork", "context"), error("RuntimeError"), ""),
    ],
)
def test_workers_start_as_was_asked(start, delivered, anomaly):
    """Only workers that are forked hold what their caller's process held."""
    asked = {"multiprocessing_context": start}

    found = seen(case(2, ONE, gives="local", **asked), delivered)

    assert judged("workers.start-method", found) == anomaly


@pytest.mark.parametrize(
    ("named", "as_context", "anomaly"),
    [
        (None, None, ""),
        (None, error("ValueError"), "refused"),
        (error("TypeError"), None, "refused"),
        (error("ValueError"), error("ValueError"), UNMET),
    ],
)
def test_a_name_and_a_context_say_the_same(named, as_context, anomaly):
    """A loader takes a method in both ways or in none."""
    again = Rebuild((("multiprocessing_context", Raw("spawn", "context")),))
    given = case(2, again, gives="local", multiprocessing_context="spawn")
    made = Event(None, None, named), Event(again, None, as_context)

    assert judged("workers.start-method", Trace(given, (RankTrace(0, made),))) == anomaly


def test_only_what_asks_for_a_method_is_judged():
    """Other cases say nothing of it."""
    assert judged("workers.start-method", seen(case(2, ONE, gives="local"), [0, 1])) == UNMET


# Workers that are kept.


@pytest.mark.parametrize(
    ("pids", "options", "anomaly"),
    [
        ((7, 7, 7, 7), {"persistent_workers": True}, ""),
        ((7, 8, 8, 7), {"persistent_workers": True}, ""),
        ((7, 7, 8, 9), {"persistent_workers": True}, "started-anew"),
        ((7, 7, 8, 9), {}, UNMET),
    ],
)
def test_workers_are_kept(pids, options, anomaly):
    """No more processes than workers take part in several passes."""
    given = case(2, ONE, ONE, Journal(), **options)
    told = tuple(Record("fetch", n % 2, n % 2, pid, 0.0) for n, pid in enumerate(pids))

    found = seen(given, [0, 1], [0, 1], told)

    assert judged("workers.kept", found) == anomaly


def test_kept_workers_are_judged_over_whole_passes():
    """Of one pass, or one that was broken off, nothing is demanded."""
    told = tuple(Record("fetch", n, n, 7 + n, 0.0) for n in range(3))
    one = case(2, ONE, Journal(), persistent_workers=True)
    broken = case(2, Open("a"), Take("a"), ONE, Journal(), persistent_workers=True)

    assert judged("workers.kept", seen(one, [0, 1], told)) == UNMET
    assert judged("workers.kept", seen(broken, None, 0, [0, 1], told)) == UNMET


# Working ahead.


def walked(begun_by: tuple[int, int, int], **options: Any) -> Trace:
    """The records of a walk over 9 batches with rests after 1 and 3 of them: how many were begun
    before the first batch was asked for, and at the end of each rest."""
    plan = Open("a"), Settle(), Take("a"), Settle(), Take("a", 2), Settle(), Drain("a"), Journal()
    wants = [Record("want", n, -1, 1, 0.0) for n in range(9)]
    fetches = [Record("fetch", n, 0, 10, 0.0) for n in range(9)]
    first, second, third = begun_by
    told = [*fetches[:first], wants[0], *fetches[first:second], *wants[1:3]]
    told += [*fetches[second:third], *wants[3:], *fetches[third:]]
    given = case(9, *plan, **options)
    return seen(given, None, None, [0], None, [1, 2], None, list(range(3, 9)), tuple(told))


@pytest.mark.parametrize(
    ("begun_by", "busy", "prefetch"),
    [
        ((4, 5, 7), "", ""),
        ((0, 5, 7), "", ""),
        ((4, 4, 7), "", "late-prefetch"),
        ((4, 5, 5), "", "late-prefetch"),
        ((0, 1, 3), "late-workers", "late-prefetch"),
        ((2, 2, 7), "late-workers", "late-prefetch"),
    ],
)
def test_workers_go_on_while_the_caller_rests(begun_by, busy, prefetch):
    """Two workers that may be two batches ahead each are so after the first batch, not before."""
    found = walked(begun_by, prefetch_factor=2)

    assert judged("workers.busy", found) == busy
    assert judged("workers.prefetch", found) == prefetch


@pytest.mark.parametrize(
    ("shares", "anomaly"),
    [((6, 6), ""), ((9, 3), ""), ((10, 2), "late-workers"), ((12, 0), "late-workers")],
)
def test_no_worker_is_without_work(shares, anomaly):
    """Where items take a while, each of two workers fetches half of an even share at least."""
    given = case(12, Trickle(-1, 0.03), ONE, Journal())
    by = [worker for worker, count in enumerate(shares) for _ in range(count)]
    told = tuple(Record("fetch", n, worker, 7 + worker, 0.0) for n, worker in enumerate(by))

    assert judged("workers.busy", seen(given, None, list(range(12)), told)) == anomaly


def test_how_far_ahead_is_free_unless_it_is_asked_for():
    """Without `prefetch_factor` one batch for each worker is enough."""
    found = walked((2, 3, 5))

    assert judged("workers.busy", found) == ""
    assert judged("workers.prefetch", found) == UNMET
