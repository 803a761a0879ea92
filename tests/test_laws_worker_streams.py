"""Laws of `spec/workers.md` on literal traces: the random streams of workers."""

from __future__ import annotations

import pytest
from by_hand import UNMET, error, events, items, judged, seen
from test_laws_worker_state import ONE, case, replace_world

from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Rebuild, Reseed
from conformance.recipes import Generator
from conformance.trace import Event, RankTrace, Trace


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


@pytest.mark.parametrize(("fourth", "anomaly"), [(5, ""), (2, "workers-alike")])
def test_a_successor_draws_other_numbers(fourth, anomaly):
    """What a worker drew first does not come once more, in whose place somebody went on."""
    found = seen(case(4, ONE, gives="dice"), dice((0, 1), (0, 2), (0, 1), (0, fourth)))

    assert judged("workers.seeds", found) == (anomaly or UNMET)


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


def test_a_generator_of_the_dataset_breaks_no_pass():
    """A loader that cannot seed a kind of generator must not fail for it."""
    event = Event(None, None, error("TypeError"))

    found = seen(case(4, ONE, gives="own-torch"), event)

    assert judged("workers.object-rng", found) == "crash"
