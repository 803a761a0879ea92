"""The laws of `spec/loader.md` on traces written by hand: errors, iterators, global states."""

from dataclasses import replace

import pytest
from by_hand import UNMET, error, items, journal, judged, seen, traced

from conformance.case import Case
from conformance.datasets import Fault, Init, Mapped, Stream
from conformance.laws.loader.arguments import given
from conformance.loading import Journal
from conformance.operations import Drain, Globals, Iterate, Open, Rebuild, Reseed, Take
from conformance.recipes import Generator
from conformance.trace import Event, RankTrace, Trace
from conformance.worlds.mishaps import EXCEPTIONS
from conformance.worlds.observe import error_of


def case(data, *plan, **options):
    """A loader that delivers single items."""
    return Case("DataLoader", {"dataset": data, "batch_size": None, **options}, plan)


def states(torch=0, numpy=0, random=0, generator=0):
    return {"torch": torch, "numpy": numpy, "random": random, "generator": generator}


@pytest.mark.parametrize(
    ("first", "second", "anomaly"),
    [
        ([1, 2], [1, 2], ""),
        ([2], [1], "iterators-entangled"),
        (error("RuntimeError"), [1, 2], "iterators-entangled"),
    ],
)
def test_iterators_are_independent(first, second, anomaly):
    """Each gives what it would give alone."""
    plan = [Open("a"), Open("b"), Take("a"), Take("b"), Drain("a"), Drain("b")]

    found = traced(case(Mapped(3), *plan), None, None, [0], [0], first, second)

    assert judged("loader.independent", found) == anomaly


@pytest.mark.parametrize(
    ("second", "anomaly"),
    [([1, 0], ""), ([0, 0], "iterators-entangled"), ([0], "iterators-entangled")],
)
def test_shuffled_iterators_are_independent(second, anomaly):
    """Beside another shuffled pass each index comes once."""
    plan = [Open("a"), Take("a"), Open("b"), Drain("b"), Drain("a")]

    found = traced(case(Mapped(3), *plan, shuffle=True), None, [2], None, [0, 2, 1], second)

    assert judged("loader.independent", found) == anomaly


def test_a_second_iterator_is_not_refused():
    """Except with persistent workers, which is another clause's."""
    plan = [Open("a"), Open("b")]
    kept = {"num_workers": 1, "persistent_workers": True}

    refused = traced(case(Mapped(3), *plan), None, error("RuntimeError"))
    persistent = traced(case(Mapped(3), *plan, **kept), None, error("RuntimeError"))

    assert judged("loader.independent", refused) == "second-refused"
    assert judged("loader.independent", persistent) == UNMET


@pytest.mark.parametrize(
    ("drained", "again", "anomaly"),
    [
        (items([0, 1]), [], ""),
        (replace(items([0, 1]), extra=1), [], "started-over"),
        (items([0, 1]), [0], "started-over"),
        (items([0, 1]), error("RuntimeError"), "started-over"),
    ],
)
def test_an_ended_iterator_stays_ended(drained, again, anomaly):
    """It gives nothing more and raises nothing else, however often it is asked."""
    asked = case(Stream(2), Open("a"), Drain("a"), Take("a"))

    assert judged("loader.ends", traced(asked, None, drained, again)) == anomaly


def test_an_iterator_that_never_ended():
    """A `Take` that got all that it wanted says nothing; one that fell short has met the end."""
    plan = [Open("a"), Take("a", 2), Take("a", 2), Take("a")]
    asked = case(Mapped(3), *plan)

    assert judged("loader.ends", traced(asked, None, [0, 1], [2], [])) == ""
    assert judged("loader.ends", traced(asked, None, [0, 1], [2], [0])) == "started-over"
    short = asked.with_plan(plan[:2])
    assert judged("loader.ends", traced(short, None, [0, 1])) == UNMET


@pytest.mark.parametrize(
    ("built", "passed", "anomaly"),
    [
        (states(), states(), ""),
        (states(), states(generator=1), ""),
        (states(numpy=1), states(numpy=1), "global-state-changed"),
        (states(), states(random=1), "global-state-changed"),
    ],
)
def test_with_a_generator_the_global_states_stay(built, passed, anomaly):
    """The given generator may be drawn from, the global ones may not."""
    plan = [Globals(), Rebuild(), Globals(), Iterate(), Globals()]
    asked = case(Mapped(1), *plan, generator=Generator(1))

    assert judged("loader.global-rng", traced(asked, states(), None, built, [0], passed)) == anomaly


def test_a_reseed_parts_two_looks():
    """What the suite itself does to the states is nobody's fault."""
    asked = case(Mapped(1), Globals(), Reseed(1), Globals(), Iterate(), Globals())

    found = traced(asked, states(), None, states(torch=5), [0], states(torch=5))

    assert judged("loader.draws-nothing", found) == ""
    drawn = traced(asked, states(), None, states(torch=5), [0], states(torch=6))
    assert judged("loader.draws-nothing", drawn) == "pass-draws"


def test_shuffling_may_draw():
    """A pass that shuffles draws, and so may a dataset of dice."""
    plan = [Globals(), Iterate(), Globals()]

    for asked in (case(Mapped(1), *plan, shuffle=True), case(Mapped(1, gives="dice"), *plan)):
        found = traced(asked, states(), [0], states(torch=1))
        assert judged("loader.draws-nothing", found) == UNMET


def alike(*after):
    """Two constructions, each seeded alike, with a look after each of two passes."""
    build = [Globals(), Rebuild(), Globals(), Reseed(7)]
    passes = [Iterate(), Globals(), Iterate(), Globals()]
    other = Rebuild((("num_workers", 2), ("persistent_workers", True)))
    asked = case(Mapped(1), *build, *passes, Globals(), other, Globals(), Reseed(7), *passes)
    events = [Event(None)]
    looks = iter((states(), states(), *after[:2], states(), states(), *after[2:]))
    for operation in asked.plan:
        value = next(looks) if isinstance(operation, Globals) else None
        events.append(Event(operation, items([0]) if isinstance(operation, Iterate) else value))
    return Trace(asked, (RankTrace(0, tuple(events)),))


def test_draws_do_not_depend_on_workers():
    """The states after the first pass, after the second, and so on are compared."""
    first, second = states(torch=1), states(torch=2)

    assert judged("loader.draws-alike", alike(first, second, first, second)) == ""
    assert judged("loader.draws-alike", alike(first, second, first, first)) == "draws-otherwise"


def test_construction_draws_nothing():
    """Not even if it always draws the same."""
    plan = [Globals(), Rebuild(), Globals()]

    found = traced(case(Mapped(1), *plan), states(), None, states(torch=1))

    assert judged("loader.draws-alike", found) == "construction-draws"


@pytest.mark.parametrize("what", ["Planned", "OSError", "KeywordOnly"])
def test_an_error_arrives_as_itself(what):
    """Type, arguments and attributes; further attributes and notes do no harm."""
    asked = case(Mapped(3, faults=(Fault("item", 1, what),)), Iterate())
    right = error_of(EXCEPTIONS[what]("planned 1"))

    def found(arrived):
        return judged("loader.errors", traced(asked, arrived))

    assert found(right) == ""
    assert found(replace(right, held=(*right.held, "worker 0"))) == ""
    assert found(replace(right, held=("arguments ()",))) == "arguments-lost"
    assert found(replace(right, kinds=("RuntimeError", "Exception"))) == "error-changed"
    assert found([0]) == "error-lost"


@pytest.mark.parametrize(
    ("taken", "anomaly"),
    [
        ([0, 1], "pass-cut-short"),
        (error("RuntimeError"), ""),
        (error("StopIteration"), "stop-leaks"),
    ],
)
def test_a_stop_iteration_is_an_error(taken, anomaly):
    """It neither ends a pass nor leaves it as it is."""
    data = Mapped(4, faults=(Fault("item", 2, "StopIteration"),))
    plan = [Open("a"), Take("a", 9)]

    found = traced(case(data, *plan), None, taken)

    assert judged("loader.stop-iteration", found) == anomaly


def test_a_stop_iteration_that_never_was():
    """An initialisation that was not called raises nothing, and a stream may end."""
    init = Init("report", (Fault("init", 0, "StopIteration"),))
    plan = [Open("a"), Take("a", 9), Journal()]
    asked = case(Mapped(1), *plan, num_workers=1, worker_init_fn=init)
    ending = case(Stream(3, faults=(Fault("item", 1, "StopIteration"),)), Iterate())

    assert judged("loader.stop-iteration", seen(asked, None, [0], ())) == UNMET
    called = seen(asked, None, [0], journal("init 0"))
    assert judged("loader.stop-iteration", called) == "pass-cut-short"
    assert judged("loader.stop-iteration", traced(ending, [[0]])) == UNMET


@pytest.mark.parametrize(
    ("first", "second", "third", "rest", "anomaly"),
    [
        ([0], error("ValueError"), [2], [], ""),
        ([0], error("ValueError"), [], [], "pass-ended"),
        ([0], error("ValueError"), error("ValueError"), error("ValueError"), "pass-lost"),
        ([0], [2], [], [], "error-lost"),
        ([0], error("ValueError"), [0], [2], "other-batches"),
    ],
)
def test_the_batch_after_a_broken_one(first, second, third, rest, anomaly):
    """Each request gives the next batch, or the error of a broken one."""
    plan = [Open("a"), Take("a"), Take("a"), Take("a"), Drain("a")]
    data = Mapped(3, faults=(Fault("item", 1, "ValueError"),))

    found = traced(case(data, *plan), None, first, second, third, rest)

    assert judged("loader.after-error", found) == anomaly


@pytest.mark.parametrize(
    ("first", "rest", "anomaly"),
    [([2], [0], ""), ([0], [2], ""), ([2], [], "pass-ended"), ([2], [2], "other-batches")],
)
def test_batches_beside_a_broken_one_in_any_order(first, rest, anomaly):
    """With in_order=False each batch and each error comes, whatever the order."""
    data = Mapped(3, faults=(Fault("item", 1, "ValueError"),))
    plan = [Open("a"), Take("a"), Take("a"), Drain("a")]

    found = traced(
        case(data, *plan, in_order=False, num_workers=2), None, first, error("ValueError"), rest
    )

    assert (judged("loader.after-error", found) != "") == (anomaly != "")


@pytest.mark.parametrize(
    ("raised", "anomaly"),
    [
        (None, "accepted"),
        (error("ValueError"), ""),
        (error("TypeError"), ""),
        (error("AssertionError"), "wrong-exception"),
    ],
)
def test_wrong_options_are_refused(raised, anomaly):
    """At the construction, by one of two types."""
    found = traced(case(Mapped(2), timeout=1), construction=raised)

    assert judged("loader.reject", found) == anomaly


def test_options_as_text():
    """Violations are told apart by what was given."""
    wrong = Case("DataLoader", {"dataset": Mapped(2), "num_workers": 1, "timeout": -1}, [])
    streamed = Case("DataLoader", {"dataset": Stream(2), "shuffle": True}, [])

    assert given(wrong) == "num_workers=1, timeout=-1"
    assert given(streamed) == "shuffle=True over an iterable dataset"
