"""Relations between orders and draws, on rows made by hand and by a seeded generator."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.laws.cycles import cyclic
from conformance.laws.neighbours import neighbours
from conformance.laws.relations import even_steps, not_repeated, repeated, unrelated

RNG = np.random.default_rng(5)


def shuffles(passes: int, n: int) -> np.ndarray:
    """Independent shuffles of [0, n), shape (passes, n)."""
    return np.stack([RNG.permutation(n) for _ in range(passes)])


def anomaly(found: object) -> str:
    return getattr(found, "anomaly", "")


@pytest.mark.parametrize(("passes", "n"), [(4000, 5), (1500, 40), (8, 3001), (5, 70_001)])
def test_independent_shuffles_are_unrelated(passes: int, n: int) -> None:
    """Shuffles that know nothing of each other are not accused, short or long."""
    assert unrelated(shuffles(passes, n), n) is None


@pytest.mark.parametrize(("passes", "n"), [(2000, 5), (600, 40), (2, 3001)])
def test_a_shuffle_turned_round_is_related(passes: int, n: int) -> None:
    """Every second shuffle read from its end is found, though each is uniform by itself."""
    once = shuffles(passes // 2, n)
    rows = np.stack([once, once[:, ::-1]], axis=1).reshape(passes, n)

    assert anomaly(unrelated(rows, n)) == "orders-related"


def test_what_never_moves_is_found_in_few_long_passes() -> None:
    """One index that keeps its place in eight shuffles of 3001 is no accident."""
    rows = np.concatenate([shuffles(8, 3000), np.full((8, 1), 3000)], axis=1)

    assert anomaly(unrelated(rows, 3001)) == "never-moved"


def test_even_steps_are_no_shuffle() -> None:
    """Stepping through the indices by one width, modulo n, is found in a single pass."""
    assert anomaly(even_steps((7 + 13 * np.arange(100))[None] % 100, 100)) == "even-steps"


@pytest.mark.parametrize(("passes", "n"), [(3, 16), (2000, 3), (1500, 40), (8, 3001), (2, 70_001)])
def test_fair_shuffles_keep_no_order(passes: int, n: int) -> None:
    """Of any two items of a fair shuffle either comes first as often, whole or cut off."""
    rows = shuffles(passes, n)

    assert neighbours(rows, n) is None
    assert neighbours(rows[:, : 2 * n // 3], n) is None


@pytest.mark.parametrize(("passes", "n", "known"), [(1500, 40, 1024), (5, 3001, 4), (300, 24, 1)])
def test_passes_that_come_again_are_told(passes: int, n: int, known: int) -> None:
    """Passes drawn from few orders repeat one another exactly, and fair ones of 24 never do."""
    orders = shuffles(known, n)
    rows = orders[np.arange(passes) * 7 % known]

    assert anomaly(repeated(rows, n)) == "passes-repeat"
    assert repeated(shuffles(passes, n), n) is None
    assert repeated(rows % 4, 4) is None


@pytest.mark.parametrize(("passes", "n", "keys"), [(2000, 24, 100), (1, 20_000, 1 << 14)])
def test_items_with_equal_keys_keep_their_order(passes: int, n: int, keys: int) -> None:
    """A shuffle that sorts by random keys of few bits is found by what ties leave in order."""
    drawn = RNG.integers(keys, size=(passes, n))

    assert anomaly(neighbours(np.argsort(drawn, axis=1, kind="stable"), n)) == "order-kept"


def test_pairs_that_stay_are_told_before_the_order_that_they_keep() -> None:
    """Twos that are never torn apart ascend too often, and are told as what they are."""
    twos = 2 * RNG.permutation(2000)

    order = (twos[:, None] + [0, 1]).reshape(1, -1)

    assert anomaly(neighbours(order, 4000)) == "shuffled-in-blocks"


@pytest.mark.parametrize(("passes", "n"), [(4000, 5), (48, 100), (8, 3001), (5, 70_001)])
def test_cycles_of_fair_shuffles_are_left_to_chance(passes: int, n: int) -> None:
    """Fair shuffles have as many cycles as chance gives them, and either sign."""
    assert cyclic(shuffles(passes, n), n) is None


def test_an_order_of_one_cycle_is_no_shuffle() -> None:
    """Long orders, each of which is one cycle, are told after eight passes."""
    rows = np.empty((8, 3001), np.int64)
    for row, order in zip(rows, shuffles(8, 3001), strict=True):
        row[order] = np.roll(order, 1)

    found = cyclic(rows, 3001)
    assert anomaly(found) == "not-uniform"
    assert "one cycle" in getattr(found, "saw", "")


def test_orders_of_one_sign_are_no_shuffle() -> None:
    """Shuffles of which each odd one has its last two items changed are told after 48 passes."""
    rows = shuffles(48, 100)
    for row in rows:
        if round(np.linalg.det(np.eye(100)[row])) < 0:
            row[[-1, -2]] = row[[-2, -1]]

    assert "even permutation" in getattr(cyclic(rows, 100), "saw", "")


def test_draws_may_be_spread_evenly_and_not_repeated() -> None:
    """Twice each draw is too often; draws that avoid each other are left free."""
    weights = np.array([2.0, 3.0, 3.0, 4.0])
    drawn = RNG.choice(4, (1000, 20), p=weights / 12)
    evenly = np.tile(np.repeat(np.arange(4), [2, 3, 3, 4]), (1000, 1))

    assert not_repeated(drawn, weights) is None
    assert anomaly(not_repeated(np.repeat(drawn, 2, axis=1), weights)) == "draws-repeated"
    assert not_repeated(RNG.permuted(evenly, axis=1), weights) is None
