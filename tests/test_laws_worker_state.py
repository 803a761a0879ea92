"""The laws of `spec/workers.md` on traces written by hand: streams, state, epochs, the ranks."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import UNMET, error, events, items, journal, judged, seen

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order
from conformance.loading import Drop, Free, Journal, Shut, Tell, Trickle
from conformance.operations import (
    Drain,
    Globals,
    Iterate,
    Open,
    Rebuild,
    Reseed,
    SetEpoch,
    Take,
)
from conformance.recipes import Generator, Role
from conformance.trace import Error, Event, RankTrace, Trace

ONE = Iterate()
KEPT = {"persistent_workers": True}


def case(n: int, *plan: Any, gives: str = "number", **options: Any) -> Case:
    """A loader without batching over `n` items, with two workers."""
    options = {"num_workers": 2, "batch_size": None, **options}
    return Case("DataLoader", {"dataset": Mapped(n, gives=gives), **options}, plan)


# Random streams.


def dice(*rows: tuple[int, ...]) -> list[list[int]]:
    """Items of a dataset that gives dice: worker, and the same draw for all three sources, or one
    for each of them."""
    return [[i, row[0], *(row[1:] if len(row) > 2 else row[1:] * 3)] for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("first", "second", "anomaly"),
    [
        (dice((0, 1), (1, 2), (0, 3), (1, 4)), dice((0, 5), (1, 6), (0, 7), (1, 8)), ""),
        (
            dice((0, 1), (1, 1), (0, 3), (1, 3)),
            dice((0, 5), (1, 6), (0, 7), (1, 8)),
            "workers-alike",
        ),
        (
            dice((0, 1), (1, 2), (0, 3), (1, 4)),
            dice((0, 1), (1, 6), (0, 3), (1, 8)),
            "passes-alike",
        ),
        (
            dice((0, 1), (1, 2), (0, 3), (1, 4)),
            dice((0, 2), (1, 6), (0, 4), (1, 8)),
            "passes-alike",
        ),
        (dice((0, 1), (1, 1), (0, 3), (1, 4)), dice((0, 5), (1, 5), (0, 7), (1, 8)), ""),
        (dice((0, 1), (1, 1)), dice((0, 1), (1, 1)), UNMET),
    ],
)
def test_streams_differ(first, second, anomaly):
    """No two workers draw the same, in one pass or in two; a single draw proves nothing."""
    found = seen(case(4, ONE, ONE, gives="dice"), first, second)

    assert judged("workers.seeds", found) == anomaly


def test_a_single_source_is_named():
    """That only numpy repeats is told."""
    alike = dice((0, 1, 9, 2), (1, 3, 9, 4), (0, 5, 8, 6), (1, 7, 8, 1))

    found = seen(case(4, ONE, gives="dice"), alike)

    assert judged("workers.seeds", found) == "workers-alike"


AGAIN = (Reseed(3, "torch"), Rebuild(()), ONE)


@pytest.mark.parametrize(
    ("plan", "options", "anomaly"),
    [
        ((*AGAIN, *AGAIN), {}, "other-streams"),
        ((*AGAIN, Reseed(4), Rebuild(()), ONE), {}, UNMET),
        ((*AGAIN, Rebuild(()), ONE), {}, UNMET),
        ((Rebuild(()), ONE, Rebuild(()), ONE), {"generator": Generator(3)}, "other-streams"),
        ((*AGAIN, Reseed(3, "numpy"), Rebuild(()), ONE), {}, UNMET),
    ],
)
def test_streams_repeat_after_the_same_seed(plan, options, anomaly):
    """Only a seed for torch, after the last pass and before the construction, asks for it."""
    draws = iter([dice((0, 1), (1, 2)), dice((0, 1), (1, 3))])
    results = [next(draws) if step == ONE else None for step in plan]

    found = seen(case(2, *plan, gives="dice", **options), *results)

    assert judged("workers.seeds-repeat", found) == anomaly


def test_repeated_streams_may_go_to_other_items():
    """A worker's stream is compared, whatever items it was given, as far as both go."""
    draws = dice((0, 1), (1, 2), (0, 3)), dice((1, 2), (0, 1))
    results = None, None, draws[0], None, None, draws[1]

    found = seen(case(3, *AGAIN, *AGAIN, gives="dice"), *results)

    assert judged("workers.seeds-repeat", found) == ""


@pytest.mark.parametrize(("other", "anomaly"), [((5, 6, 7, 8), ""), ((1, 2, 3, 4), "ranks-alike")])
@pytest.mark.parametrize("alike", [True, False])
def test_ranks_draw_differently(other, anomaly, alike):
    """It takes ranks that were seeded alike to tell."""
    given = replace_world(case(4, ONE, gives="dice"), alike)
    draws = [(1, 2, 3, 4), other]
    ranks = tuple(
        RankTrace(rank, events(given, (dice(*zip((0, 1, 0, 1), row, strict=True)),)))
        for rank, row in enumerate(draws)
    )

    assert judged("workers.rank-seeds", Trace(given, ranks)) == (anomaly if alike else UNMET)


@pytest.mark.parametrize(
    ("other", "order", "anomaly"),
    [
        ((1, 2, 3, 4), (0, 1, 0, 1), ""),
        ((1, 2, 3, 5), (0, 1, 0, 1), "other-streams"),
        ((1, 2, 3, 4), (1, 0, 1, 0), ""),
    ],
)
def test_another_process_draws_the_same(other, order, anomaly):
    """Two processes that are no ranks draw the same, worker by worker or item by item."""
    steps = Reseed(3, "torch"), Rebuild(()), ONE
    given = Case(
        "DataLoader", {"dataset": Mapped(4, gives="dice"), "num_workers": 2, "batch_size": None},
        steps, 2, "alone",
    )  # fmt: skip
    passes = (
        dice(*zip((0, 1, 0, 1), (1, 2, 3, 4), strict=True)),
        dice(*zip(order, other, strict=True)),
    )
    ranks = [RankTrace(n, events(given, (None, None, one))) for n, one in enumerate(passes)]

    assert judged("workers.seeds-repeat", Trace(given, tuple(ranks))) == anomaly


def replace_world(given: Case, alike: bool = False) -> Case:
    """The same case in a process group of two."""
    arguments = dict(given.arguments)
    return Case("DataLoader", arguments, given.plan, 2, "group", alike=alike)


@pytest.mark.parametrize(
    ("warning", "anomaly"),
    [("", "generators-alike"), ("UserWarning: its random generator is copied", "")],
)
def test_generators_of_the_dataset_differ_or_a_warning_tells(warning, anomaly):
    """A dataset that holds a generator in the same state in both workers."""
    rolled = [[0, 0, 7], [1, 1, 7], [2, 0, 8], [3, 1, 8]]
    event = Event(None, items(rolled), warnings=(warning,) if warning else ())

    found = seen(case(4, ONE, gives="own-Random"), event)

    assert judged("workers.object-rng", found) == anomaly


# State and epochs.


@pytest.mark.parametrize(
    ("plan", "results", "anomaly"),
    [
        ((Tell(1), ONE, Tell(2), ONE), (None, [1000, 1001], None, [2000, 2001]), ""),
        ((Tell(1), ONE, Tell(2), ONE), (None, [1000, 1001], None, [1000, 1001]), "stale-state"),
        ((Tell(1), ONE, Tell(2), ONE), (None, [1000, 1001], None, [1000, 2001]), "stale-state"),
        ((Open("a"), Tell(2), Drain("a")), (None, None, [0, 2001]), ""),
        ((Open("a"), Tell(2), Drain("a")), (None, None, [0, 3001]), "stale-state"),
        ((ONE,), ([0, 1],), UNMET),
    ],
)
def test_workers_see_what_was_set_before(plan, results, anomaly):
    """What is set while a pass goes on may be seen or not."""
    found = seen(case(2, *plan, gives="marked"), *results)

    assert judged("workers.state", found) == anomaly


LATE = SetEpoch(1), Open("a"), SetEpoch(2), Drain("a"), ONE


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("first", "second", "anomaly"),
    [
        ([1, 2, 0], [2, 0, 1], ""),
        ([2, 0, 1], [2, 0, 1], "epoch-leaked"),
        ([1, 0, 1], [2, 0, 1], "epoch-leaked"),
        ([1, 2, 0], [1, 2, 0], "epoch-leaked"),
        (error("OSError"), [2, 0, 1], ""),
    ],
)
def test_an_epoch_set_late_belongs_to_the_next_pass(first, second, anomaly, workers):
    """A pass has the epoch that was set before its `iter`, with any number of workers."""
    options = {"sampler": Order(3, "epochs"), "num_workers": workers}

    found = seen(case(3, *LATE, **options), None, None, None, first, second)

    assert judged("workers.set-epoch", found) == anomaly


@pytest.mark.parametrize(("late", "anomaly"), [([0, 2, 1], ""), ([2, 1, 0], "epoch-leaked")])
def test_passes_of_one_epoch_are_compared(late, anomaly):
    """A sampler whose order is not known gives it in a pass where nothing comes late."""
    spread = Role("DistributedSampler", dataset=Mapped(3))
    plan = SetEpoch(1), ONE, Open("a"), SetEpoch(5), Drain("a")

    found = seen(case(3, *plan, sampler=spread), None, [0, 2, 1], None, None, late)

    assert judged("workers.set-epoch", found) == anomaly


# Workers that are kept.


PASSES = Reseed(3), Globals(), ONE, Globals()
BOTH = (*PASSES, Rebuild((("persistent_workers", True),)), *PASSES)


def state(torch: int, generator: int = 0) -> dict[str, int]:
    """A digest of global states."""
    return {"torch": torch, "numpy": 5, "random": 6, "generator": generator}


@pytest.mark.parametrize(
    ("kept", "after", "anomaly"),
    [
        ([1, 0], state(2), ""),
        ([0, 1], state(2), "other-order"),
        ([1, 0], state(3), "other-draws"),
        ([1, 0], state(2, generator=9), ""),
        (error("OSError"), state(2), "raises"),
    ],
)
def test_kept_workers_change_nothing(kept, after, anomaly):
    """Neither the order of a pass nor what it draws; a generator of the caller's is not global."""
    results = None, state(1), [1, 0], state(2), None, None, state(1), kept, after

    assert judged("workers.persistent", seen(case(2, *BOTH, shuffle=True), *results)) == anomaly


def test_what_fails_without_kept_workers_proves_nothing():
    """A pass that raises with fresh workers is no measure for one with kept workers."""
    results = None, state(1), error("OSError"), state(2), None, None, state(1), [1, 0], state(2)

    assert judged("workers.persistent", seen(case(2, *BOTH, shuffle=True), *results)) == UNMET


def test_kept_workers_are_compared_with_the_same_steps_only():
    """A plan that does not do the same twice proves nothing."""
    results = None, state(1), [1, 0], state(2), None, None, state(1), [0, 1]

    assert judged("workers.persistent", seen(case(2, *BOTH[:-1]), *results)) == UNMET


@pytest.mark.parametrize(
    ("plan", "results", "anomaly"),
    [
        ((Open("a"), Open("b"), Drain("a"), Drain("b")), (None, None, [0, 1], [0, 1]), ""),
        (
            (Open("a"), Open("b"), Take("a"), Take("b")),
            (None, None, [0], [1]),
            "iterators-entangled",
        ),
        (
            (Open("a"), Take("a"), Open("b"), Drain("a")),
            (None, [0], None, []),
            "iterators-entangled",
        ),
        ((Open("a"), Open("b"), Drain("a")), (None, error("RuntimeError"), [0, 1]), ""),
        (
            (Open("a"), Open("b"), Drain("a")),
            (None, error("RuntimeError"), [1]),
            "iterators-entangled",
        ),
        ((Open("a"), Drain("a"), Open("b")), (None, [0, 1], error("RuntimeError")), "refused"),
        ((Open("a"), Drop("a"), Open("b")), (None, None, error("RuntimeError")), "refused"),
        ((Open("a"), Open("b"), Drain("a")), (None, None, error("OSError")), "crash"),
    ],
)  # fmt: skip
def test_two_iterators_are_independent_or_refused(plan, results, anomaly):
    """A second `iter` may raise while the first iterator is live, and only then."""
    assert judged("workers.two-iterators", seen(case(2, *plan, **KEPT), *results)) == anomaly


@pytest.mark.parametrize(
    ("before", "after", "anomaly"),
    [
        ((), ("begin 0",), ""),
        (("begin 0",), ("begin 0",), ""),
        ((), ("begin 0", "begin 0"), "sampler-restarted"),
        ((), (), "sampler-not-asked"),
    ],
)
def test_the_sampler_is_asked_once_a_pass(before, after, anomaly):
    """Calls of `iter` are counted between two looks; those of the construction are no pass's."""
    given = case(2, Journal(), ONE, Journal(), sampler=Order(2))

    found = seen(given, journal(*before), [0, 1], journal(*after))

    assert judged("workers.sampler-once", found) == anomaly


# Ranks.


@pytest.mark.parametrize(
    ("shares", "policies", "anomaly"),
    [
        (([0, 2], [1, 0]), {}, ""),
        (([0, 2], [1]), {}, "unequal-batches"),
        (([0, 2], [1]), {"pads": "none"}, UNMET),
        (([0, 2], [2, 0]), {}, "uncovered"),
        (([0, 2], [1, 3]), {}, "uncovered"),
        ((error("OSError"), [1, 0]), {}, "crash"),
    ],
)
def test_ranks_cover_the_dataset(shares, policies, anomaly):
    """All ranks together give each index, and equally many batches each."""
    spread = Role("DistributedSampler", dataset=Mapped(3))
    given = replace_world(case(3, SetEpoch(0), ONE, sampler=spread))

    ranks = tuple(RankTrace(r, events(given, (None, share))) for r, share in enumerate(shares))

    assert judged("workers.ranks", Trace(given, ranks, policies)) == anomaly


# A timeout.


def after(kind: str, seconds: float) -> Event:
    """An error after so many seconds."""
    return Event(None, None, error(kind), seconds)


@pytest.mark.parametrize(
    ("first", "rest", "anomaly"),
    [
        (after("RuntimeError", 1.1), [0, 1], ""),
        (after("RuntimeError", 1.1), error("RuntimeError"), ""),
        (after("RuntimeError", 1.1), [1], "lost-batch"),
        (after("RuntimeError", 1.1), [], "lost-batch"),
        (after("RuntimeError", 3.5), [0, 1], "late-timeout"),
        (after("RuntimeError", 0.5), [0, 1], "early-timeout"),
        (Event(None, items([])), [], "lost-batch"),
        (Event(None, items([0])), [1], UNMET),
    ],
)
def test_a_timeout_comes_and_loses_nothing(first, rest, anomaly):
    """After the error the pass goes on where it was, or raises for good."""
    plan = Shut(), Open("a"), Take("a"), Free(), Drain("a")

    found = seen(case(2, *plan, timeout=1), None, None, first, None, rest)

    assert judged("workers.timeout", found) == anomaly


@pytest.mark.parametrize(
    ("rest", "anomaly"), [([0, 1], ""), (error("RuntimeError"), "early-timeout")]
)
def test_no_timeout_comes_while_batches_do(rest, anomaly):
    """A worker that delivers each batch in time may take longer for all of them."""
    given = case(2, Trickle(0, 0.2), Open("a"), Drain("a"), timeout=1, num_workers=1)

    assert judged("workers.timeout", seen(given, None, None, rest)) == anomaly


@pytest.mark.parametrize(("seconds", "anomaly"), [(1.0, ""), (0.4, "early-timeout")])
def test_who_asks_late_may_wait_in_vain(seconds, anomaly):
    """A loader that does not read ahead may raise for a slow item, once its time is over."""
    given = case(2, Open("a"), Trickle(0, 1.6), Take("a"), timeout=1, num_workers=1)

    found = seen(given, None, None, after("RuntimeError", seconds))

    assert judged("workers.timeout", found) == anomaly


def test_a_timeout_that_never_comes_is_a_hang():
    """The trace ends with the call that did not return."""
    given = case(2, Shut(), Open("a"), Take("a"), timeout=1)
    hang = Event(None, None, Error(("Hang",), "did not return"), 11.0)

    assert judged("workers.timeout", seen(given, None, None, hang)) == "no-timeout"


def test_a_pass_that_goes_on_and_then_gives_up_has_lost_batches():
    """Some batches after the timeout, and then errors only, is neither of the two."""
    plan = Shut(), Open("a"), Take("a"), Free(), Drain("a"), Drain("a")
    some = Event(None, items([0]), error("RuntimeError"))
    results = None, None, after("RuntimeError", 1.0), None, some, error("RuntimeError")

    assert judged("workers.timeout", seen(case(2, *plan, timeout=1), *results)) == "lost-batch"


# All of them.

MINE = (
    "same-order", "unordered", "backpressure", "read-ahead", "seeds", "seeds-repeat", "rank-seeds",
    "object-rng", "state", "set-epoch", "persistent", "two-iterators", "sampler-once", "ranks",
)  # fmt: skip


@pytest.mark.parametrize("clause", MINE)
@pytest.mark.parametrize("gives", ["dice", "marked", "number"])
def test_a_refused_construction_proves_nothing(clause, gives):
    """A candidate that lacks an option is not accused, and neither is one that hung."""
    given = case(2, ONE, gives=gives, collate_fn=Collate("list"))
    hang = Event(ONE, None, Error(("Hang",), "did not return"))

    refused = Trace(given, (RankTrace(0, (Event(None, None, error("TypeError")),)),))
    hung = Trace(given, (RankTrace(0, (Event(None), hang)),))

    assert judged(f"workers.{clause}", refused) == UNMET
    assert judged(f"workers.{clause}", hung) == UNMET
