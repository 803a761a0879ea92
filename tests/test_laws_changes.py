"""Laws on what changes between passes: sizes, seeds, errors, the order in which a view is read."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import UNMET, error, events, judged, seen, shares, traced

from conformance.case import Case
from conformance.laws.inner import numbers, retyped
from conformance.operations import Iterate, Len, Look, Rebuild, Refill, Resize, SetEpoch
from conformance.recipes import Data, Generator, Probe, Values
from conformance.trace import UNREADABLE, Error, Items, RankTrace, Trace
from conformance.worlds.place import Place

ONE, OTHER = list(range(16)), list(range(15, -1, -1))
INDEX_ERROR = Error(("IndexError", "LookupError", "Exception"), "")


def reseeded(one: tuple[int, int], other: tuple[int, int]) -> Case:
    """Two passes, each for a pair of seed and epoch."""
    plan = [SetEpoch(one[1]), Iterate(), Rebuild((("seed", other[0]),)), SetEpoch(other[1])]
    arguments = {"dataset": Data(16), "seed": one[0]}
    return Case("DistributedSampler", arguments, [*plan, Iterate()])


@pytest.mark.parametrize(
    ("one", "other", "anomaly"),
    [
        ((0, 1), (1, 0), "seed-epoch-added"),
        ((0, 256), (1, 0), "seed-epoch-alike"),
        ((0, 1), (0, 2), UNMET),
        ((0, 1), (3, 1), UNMET),
    ],
)
def test_no_two_pairs_share_an_order(
    one: tuple[int, int], other: tuple[int, int], anomaly: str
) -> None:
    """Pairs that differ in seed and epoch are compared, whatever their sum; others are not."""
    trace = traced(reseeded(one, other), None, ONE, None, None, ONE)

    assert judged("distributed.mix", trace) == anomaly


@pytest.mark.parametrize(("seed", "anomaly"), [(1 << 32, UNMET), (7, "seed-ignored")])
def test_seeds_are_told_apart_by_32_bits(seed: int, anomaly: str) -> None:
    """Two seeds may have one order only if they differ beyond their last 32 bits alone."""
    trace = traced(reseeded((0, 0), (seed, 0)), None, ONE, None, None, ONE)

    assert judged("distributed.seed", trace) == anomaly


@pytest.mark.parametrize(
    ("after", "anomaly"),
    [
        ([5, 0, 3] * 30, ""),
        ([2, 0, 1] * 30, "stale-size"),
        ([5, 0, 6] * 30, "stale-size"),
        ([5, 0, 3] * 29, "stale-size"),
    ],
)
def test_throws_follow_the_length(after: list[int], anomaly: str) -> None:
    """After a resize there are as many throws as asked for, and from all that is there now."""
    given = {"data_source": Data(3), "replacement": True, "num_samples": 90}
    case = Case("RandomSampler", given, [Resize(6), Iterate()])

    assert judged("sampler.resize", traced(case, None, after)) == anomaly


REFUSED = Error(("RuntimeError", "Exception"), "")


@pytest.mark.parametrize(
    ("first", "second", "anomaly"),
    [
        ([[4, 0, 2], [1, 6, 3]], [[0], [1]], ""),
        ([[4, 0], [1, 6]], [[0], [1]], "stale-size"),
        ([[4, 0, 2], [1, 6, 6]], [[0], [1]], "stale-size"),
        ([REFUSED, REFUSED], [[0], [1]], ""),
        ([REFUSED, REFUSED], [REFUSED, REFUSED], ""),
        ([REFUSED, REFUSED], [[0], [3]], "stale-size"),
        ([[4, 0], [1, 6]], [REFUSED, REFUSED], "stale-size"),
        ([REFUSED, [1, 6, 3]], [REFUSED, REFUSED], ""),
    ],
)
def test_a_cut_follows_the_length(first: list[Any], second: list[Any], anomaly: str) -> None:
    """With drop_last each pass after a resize has whole shares of the new length, or is refused."""
    given = {"dataset": Data(4), "drop_last": True}
    plan = [Resize(7), Iterate(), Resize(3), Iterate()]
    case = Case("DistributedSampler", given, plan, 2)
    results = zip(first, second, strict=True)
    made = [events(case, (None, one, None, other)) for one, other in results]
    ranks = tuple(RankTrace(rank, found) for rank, found in enumerate(made))

    assert judged("sampler.resize", Trace(case, ranks)) == anomaly


@pytest.mark.parametrize(
    ("after", "anomaly"), [([1, 0, 0, 1, 0], ""), ([1, 0, 0, 0, 0], "stale-size")]
)
def test_repeated_shuffles_follow_the_length(after: list[int], anomaly: str) -> None:
    """After a resize each index comes as often as any other, up to one time."""
    case = Case("RandomSampler", {"data_source": Data(3), "num_samples": 5}, [Resize(2), Iterate()])

    assert judged("sampler.resize", traced(case, None, after)) == anomaly


@pytest.mark.parametrize(("again", "anomaly"), [([2, 1], ""), ([1, 2], "depends-on-process")])
def test_what_was_filled_anew_is_what_it_holds(again: list[int], anomaly: str) -> None:
    """A list that holds something else by now gives the order of a fresh one that holds it."""
    other = (("indices", Values((2, 1))),)
    plan = [Iterate(), Refill(other), Iterate(), Rebuild(other), Iterate()]
    given = {"indices": Values((1, 2)), "generator": Generator(0)}
    case = Case("SubsetRandomSampler", given, plan)
    trace = traced(case, [1, 2], None, again, None, [2, 1])

    assert judged("sampler.same-everywhere", trace) == anomaly


@pytest.mark.parametrize("short", [[], ONE[:15]])
def test_short_passes_may_be_alike(short: Any) -> None:
    """Two passes of a few items, or of none, have one order by chance; they tell nothing."""
    trace = traced(reseeded((0, 0), (7, 0)), None, short, None, None, short)

    assert judged("distributed.seed", trace) == UNMET


def test_a_refused_construction_has_no_passes() -> None:
    """What is done after a construction that was refused says nothing about its arguments."""
    trace = traced(reseeded((0, 0), (7, 0)), None, ONE, error("ValueError"), None, ONE)

    assert judged("distributed.seed", trace) == UNMET


def failing(what: str) -> Case:
    """A batch sampler over four items, of which the last raises."""
    again = Rebuild((("sampler", Probe("Raising", 4, 3, what)),))
    arguments = {"sampler": Probe("Raising", 4, 1), "batch_size": 2, "drop_last": False}
    return Case("BatchSampler", arguments, [again, Iterate()])


@pytest.mark.parametrize(
    ("kind", "anomaly"), [("KeyError", ""), ("RuntimeError", "error-changed"), ("", "error-lost")]
)
def test_the_error_is_that_of_the_inner_sampler_in_force(kind: str, anomaly: str) -> None:
    """A construction may bring an inner sampler that raises something else."""
    raised = Error((kind, "Exception"), "('planned', 3)") if kind else []

    assert judged("sampler.error-through", traced(failing("KeyError"), None, raised)) == anomaly


@pytest.mark.parametrize(
    ("behind", "anomaly"), [((error("StopIteration"),), ""), ((), "cause-lost")]
)
def test_an_error_keeps_what_it_was_raised_from(behind: Any, anomaly: str) -> None:
    """A StopIteration that leaked from a generator is still behind the error that it became."""
    leaked = Error(("RuntimeError", "Exception"), "generator raised StopIteration", behind=behind)

    trace = traced(failing("Leaked"), None, leaked)

    assert judged("sampler.error-through", trace) == anomaly


GROWN = [Iterate(), Resize(4), Iterate()]


@pytest.mark.parametrize(("after", "anomaly"), [([[0, 1], [2, 3]], ""), ([[0, 1]], "lost-index")])
def test_batches_follow_the_inner_sampler(after: list[Any], anomaly: str) -> None:
    """Each pass is compared with what the inner sampler has at that time."""
    arguments = {"sampler": Probe("Counting", 2), "batch_size": 2, "drop_last": False}
    trace = traced(Case("BatchSampler", arguments, GROWN), [[0, 1]], None, after)

    assert judged("batch.concatenation", trace) == anomaly


@pytest.mark.parametrize(("told", "anomaly"), [(2, ""), (1, "wrong-length")])
def test_the_number_of_batches_follows_the_inner_sampler(told: int, anomaly: str) -> None:
    """The length is that of the inner sampler at the time when it is asked for."""
    arguments = {"sampler": Probe("Counting", 2), "batch_size": 2, "drop_last": False}
    trace = traced(Case("BatchSampler", arguments, [Resize(4), Len()]), None, told)

    assert judged("batch.length", trace) == anomaly


@pytest.mark.parametrize(("after", "anomaly"), [([2, 1, 0], ""), ([2, 1], "lost-index")])
def test_shares_follow_the_inner_sampler(after: list[int], anomaly: str) -> None:
    """Each round is compared with what the inner sampler has at that time."""
    plan = [Iterate(), Resize(3), Iterate()]
    case = Case("DistributedSamplerWrapper", {"sampler": Probe("Descending", 2)}, plan)

    assert judged("wrapper.cover", traced(case, [1, 0], None, after)) == anomaly


@pytest.mark.parametrize(
    ("yielded", "anomaly"), [(((1 << 62, 3), (-1, 3)), "lost-index"), (((1 << 62, 3), (-1, 0)), "")]
)
def test_inner_items_may_be_of_any_size(yielded: Any, anomaly: str) -> None:
    """Items are counted, whether they are negative or larger than any memory."""
    inner = Values((1 << 62, -1, 3, 0))
    case = Case("DistributedSamplerWrapper", {"sampler": inner}, [Iterate()], 2)

    assert judged("wrapper.cover", shares(case, *yielded)) == anomaly


@pytest.mark.parametrize(
    ("kinds", "count", "kind"),
    [
        (("int", "bool", "NoneType"), None, ""),
        (("int", "NoneType"), None, "bool"),
        (("int", "NoneType"), 2, ""),
        (("int", "bool", "str"), None, "str"),
    ],
)
def test_items_keep_their_types(kinds: tuple[str, ...], count: int | None, kind: str) -> None:
    """A type that came in and did not come out, or the reverse, is found."""
    inner = Values((4, None, False))

    assert retyped(inner, Items(numbers(inner.items), kinds), count=count) == kind
    assert numbers(inner.items).tolist() == [4, UNREADABLE, 0]


@pytest.mark.parametrize(
    ("how", "found", "anomaly"),
    [("descending", [2, 1, 0], ""), ("descending", [2, 2, 2], "view-differs")],
)
def test_a_view_is_read_in_any_order(how: str, found: list[int], anomaly: str) -> None:
    """The items of a view are those of the pass, in whatever order they were asked for."""
    case = Case("DatasetFromSampler", {"sampler": Probe("Descending", 3)}, [Look(how, past=-1)])
    looked = Items(numbers(found), ("int",)), INDEX_ERROR

    assert judged("wrapper.view", seen(case, looked)) == anomaly


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_ranks_stand_on_two_nodes(width: int) -> None:
    """Each rank is told a node and a place on it; on an accelerator all stand on one node."""
    told = [Place(rank, width, "gloo", "").environment for rank in range(width)]
    places = [(one["NODE_RANK"], one["LOCAL_RANK"]) for one in told]

    assert len(set(places)) == width
    assert [one["RANK"] for one in told] == [str(rank) for rank in range(width)]
    assert Place(1, 2, "nccl", "").environment["LOCAL_RANK"] == "1"
