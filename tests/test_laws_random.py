"""The laws of `spec/random.md` on traces written by hand."""

import numpy as np
import pytest
from by_hand import UNMET, error, judged, traced

from conformance.case import Case
from conformance.laws.statistics import large_shuffle, uniform_blocks
from conformance.laws.throws import independent_draws
from conformance.operations import Iterate, Open, Passes, Rebuild, Reseed, Take
from conformance.recipes import Data, Generator

ONE, AGAIN = Iterate(), Rebuild((("generator", Generator(0)),))
OTHER = Rebuild((("generator", Generator(1)),))
RNG = np.random.default_rng(20)
A, B, C, D = (RNG.permutation(16) for _ in range(4))


def case(n, *plan, **arguments):
    return Case("RandomSampler", {"data_source": Data(n), **arguments}, plan)


@pytest.mark.parametrize(
    ("count", "order", "anomaly"),
    [
        (None, [2, 0, 1], ""),
        (2, [2, 0], ""),
        (8, [2, 0, 1, 1, 0, 2, 2, 1], ""),
        (8, [2, 0, 1, 1, 0, 2, 2, 2], "doubled-index"),
        (8, [2, 0, 1, 1, 0, 2], "wrong-count"),
        (None, [2, 0, 3], "out-of-range"),
        (None, [2, 0, 0], "doubled-index"),
        (2, [1, 1], "doubled-index"),
    ],
)
def test_permutation_is_block_by_block(count, order, anomaly):
    """Each block of n is a permutation, and what is left over is distinct."""
    arguments = {} if count is None else {"num_samples": count}

    assert judged("random.permutation", traced(case(3, ONE, **arguments), order)) == anomaly


def test_permutation_takes_any_count():
    """To refuse `num_samples` without replacement is a crash."""
    refused = traced(case(3, num_samples=2), construction=error("ValueError"))

    assert judged("random.permutation", refused) == "crash"


def test_replacement_is_another_matter():
    """The laws of shuffles do not judge draws with replacement, nor the other way round."""
    thrown, shuffled = case(3, ONE, replacement=True), case(3, ONE)

    assert judged("random.permutation", traced(thrown, [0, 0, 0])) == UNMET
    assert judged("random.replacement", traced(shuffled, [0, 1, 2])) == UNMET
    assert judged("random.replacement", traced(thrown, [0, 0, 0])) == ""
    assert judged("random.replacement", traced(thrown, [0, 0, 3])) == "out-of-range"
    assert judged("random.replacement", traced(thrown, [0, 0])) == "wrong-count"


@pytest.mark.parametrize(
    ("passes", "anomaly"),
    [
        ((A, B, A, B, C, D), ""),
        ((A, B, A, B, B, C), "seed-ignored"),
        ((A, A, A, A, B, C), "stale-pass"),
        ((A, B, A, C, B, C), "seed-not-fixed"),
        ((A, B, A, B, A, C), "seed-ignored"),
        ((A, B, A, B, C, B), "seed-ignored"),
    ],
)
def test_seeded_compares_pass_by_pass(passes, anomaly):
    """Equal seeds give equal k-th passes; all others differ, of one seed and of two."""
    plan = [ONE, ONE, AGAIN, ONE, ONE, OTHER, ONE, ONE]
    results = [*passes[:2], None, *passes[2:4], None, *passes[4:]]

    found = traced(case(16, *plan, generator=Generator(0)), *results)

    assert judged("random.seeded", found) == anomaly


@pytest.mark.parametrize(
    ("passes", "anomaly"), [((A, B, A, B), ""), ((A, B, C, A), "seed-not-fixed")]
)
def test_a_generator_that_is_seeded_anew_begins_anew(passes, anomaly):
    """The generator is the caller's: seeded between passes it is as if it were new."""
    plan = [ONE, ONE, Reseed(0, "generator"), ONE, ONE]

    found = traced(case(16, *plan, generator=Generator(0)), *passes[:2], None, *passes[2:])

    assert judged("random.seeded", found) == anomaly


@pytest.mark.parametrize(("second", "anomaly"), [(A, "stale-pass"), (B, "")])
def test_unfinished_passes_are_not_repeated(second, anomaly):
    """A pass that begins as one that was left before it is that pass again."""
    plan = Open("a"), Take("a", 16), ONE, ONE
    given = case(32, *plan, generator=Generator(0))
    rest = np.arange(16) + 16

    found = traced(given, None, A, [*second, *rest], [*C, *rest])

    assert judged("random.seeded", found) == anomaly


def test_what_was_left_unread_does_not_go_first():
    """A pass that begins with all that the one before it had left depends on that one."""
    plan = Open("a"), Take("a", 16), ONE
    given = case(32, *plan, generator=Generator(0))

    found = traced(given, None, A, [*(np.arange(16) + 16), *B])

    assert judged("random.seeded", found) == "stale-pass"


def test_seeded_lets_short_passes_coincide():
    """Two equal shuffles of 15 are taken for an accident."""
    short, few = list(range(15)), case(15, ONE, ONE, AGAIN, ONE, generator=Generator(0))

    found = traced(few, short, short, None, short)

    assert judged("random.seeded", found) == ""


@pytest.mark.parametrize(
    ("passes", "anomaly"),
    [((A, A, B), ""), ((A, B, C), "seed-not-fixed"), ((A, A, A), "seed-ignored")],
)
def test_manual_seed_fixes_the_pass(passes, anomaly):
    """The seed immediately before a pass decides it."""
    first, other = Reseed(0, "torch"), Reseed(1, "torch")
    results = [step for values in passes for step in (None, values)]

    found = traced(case(16, first, ONE, first, ONE, other, ONE), *results)

    assert judged("random.manual-seed", found) == anomaly


def test_uniform_needs_a_table_of_passes():
    """One look at 1,000 shuffles: fair ones pass, those that never move the last item do not."""
    fair = np.array([RNG.permutation(4) for _ in range(1000)])
    stuck = np.array([[*RNG.permutation(3), 3] for _ in range(1000)])
    many = case(4, Passes(1000))

    assert judged("random.uniform", traced(many, fair.ravel())) == ""
    assert judged("random.uniform", traced(many, stuck.ravel())) == "not-uniform"


def test_equal_blocks_of_one_pass_are_one_trial():
    """A pass that repeats its own permutation is unusual, and as uniform as any."""
    orders = np.array([RNG.permutation(4) for _ in range(2000)])

    assert uniform_blocks(np.tile(orders, 3), 4) is None


@pytest.mark.parametrize("n", [100, 3001, 70_001])
def test_long_shuffles_pass_and_half_shuffles_do_not(n):
    """One long permutation is enough to see that halves were shuffled apart."""
    whole = RNG.permutation(n)
    halves = np.concatenate([RNG.permutation(n // 2), n // 2 + RNG.permutation(n - n // 2)])

    assert large_shuffle(whole) is None
    assert large_shuffle(whole[: n // 3], n=n) is None
    assert large_shuffle(halves).anomaly == "shuffled-locally"


@pytest.mark.parametrize("n", [1, 2, 7, 100, 70_001])
def test_fair_throws_pass(n):
    """Independent draws are accused of nothing, for few faces and for many."""
    assert independent_draws(RNG.integers(n, size=(300, 100)), n) is None


def test_draws_that_remember_do_not_pass():
    """Frequencies alone would not show that each draw is one more than the last."""
    cycle = np.arange(30_000).reshape(300, 100) % 7

    assert independent_draws(cycle, 7).anomaly in ("not-uniform", "draws-depend")


@pytest.mark.parametrize("n", [2, 7, 100, 70_001])
@pytest.mark.parametrize("other", [lambda half, n: n - 1 - half, lambda half, n: half])
def test_draws_in_pairs_do_not_pass(n, other):
    """Draws that come in pairs show in how much a part's count varies, wherever the pairs lie."""
    rng = np.random.default_rng(n)  # of its own: which tests run before it is chance
    half = rng.integers(n, size=(300, 20))
    paired = rng.permuted(np.concatenate([half, other(half, n)], axis=1), axis=1)

    assert independent_draws(paired, n).anomaly == "draws-depend"


@pytest.mark.parametrize(
    ("made", "anomaly"),
    [(lambda rows: rows, ""), (lambda rows: np.sort(rows, axis=1), "not-uniform"),
     (lambda rows: rows % 500, "not-uniform"),
     (lambda rows: np.array([list(set(row)) for row in rows.tolist()]), "not-uniform")],
)  # fmt: skip
def test_a_few_of_many_are_as_uniform(made, anomaly):
    """Many passes over 5 of 1000 indices are judged together, place by place."""
    rows = np.stack([RNG.permutation(1000)[:5] for _ in range(2000)])

    found = uniform_blocks(made(rows), 1000)

    assert (found.anomaly if found else "") == anomaly
