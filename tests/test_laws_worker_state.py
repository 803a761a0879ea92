"""The laws of `spec/workers.md` on traces written by hand: state, epochs, and workers kept."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import UNMET, error, events, journal, judged, seen

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order, Stream
from conformance.loading import Drop, Journal, Tell
from conformance.operations import (
    Drain,
    Globals,
    Iterate,
    Len,
    Open,
    Rebuild,
    Reseed,
    SetEpoch,
    Take,
)
from conformance.recipes import Role
from conformance.trace import Error, Event, RankTrace, Trace

ONE = Iterate()
KEPT = {"persistent_workers": True}


def case(n: int, *plan: Any, gives: str = "number", **options: Any) -> Case:
    """A loader without batching over `n` items, with two workers."""
    options = {"num_workers": 2, "batch_size": None, **options}
    return Case("DataLoader", {"dataset": Mapped(n, gives=gives), **options}, plan)


def replace_world(given: Case, alike: bool = False) -> Case:
    """The same case in a process group of two."""
    arguments = dict(given.arguments)
    return Case("DataLoader", arguments, given.plan, 2, "group", alike=alike)


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


@pytest.mark.parametrize(("second", "anomaly"), [([1000, 1001], ""), ([], "stale-state")])
def test_the_worker_whose_turn_it_is_gives_all(second, anomaly):
    """A worker that had nothing to give in one pass is asked in the next one, too."""
    turns = Stream(2, shard="told", gives="marked")
    given = Case("DataLoader", {"dataset": turns, "num_workers": 2}, [ONE, Tell(1), ONE])

    assert judged("workers.state", seen(given, [0, 1], None, second)) == anomaly


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


@pytest.mark.parametrize(("asked", "anomaly"), [((), ""), (("begin 0",), "sampler-asked-beside")])
def test_the_length_does_not_ask_the_sampler(asked, anomaly):
    """A call of `iter` between two looks is one too many if there was only `len`."""
    given = case(2, Journal(), Len(), Journal(), ONE, Journal(), sampler=Order(2))

    found = seen(given, journal(), 1, journal(*asked), [0, 1], journal("begin 0"))

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
