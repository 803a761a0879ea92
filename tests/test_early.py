"""Cases that begin before anybody asks for them: `Worlds.expect` and `Looks`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice

import pytest
from talkers import case, fates, told
from talkers import talkers as talkers

from conformance.candidate import Source
from conformance.case import Case
from conformance.examine import Examiner, Options
from conformance.looks import Looks, What
from conformance.operations import Iterate
from conformance.properties import everything
from conformance.recipes import Data
from conformance.scenarios import EFFORTS
from conformance.search import Search
from conformance.trace import Trace
from conformance.worlds import turns
from conformance.worlds.pool import Pool
from conformance.worlds.turns import SAMPLING
from conformance.worlds.worlds import Worlds

REFERENCE = Source("reference")


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """One set of worlds for this file."""
    made = Worlds("simulated")
    made.describe(REFERENCE)
    yield made
    made.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[list[Case]]:
    """The chunks, in the order in which they are sent."""
    chunks, send = list[list[Case]](), Pool.send

    def heard(pool: Pool, source: Source, cases: list[Case]) -> int:
        chunks.append(cases)
        return send(pool, source, cases)

    monkeypatch.setattr(Pool, "send", heard)
    return chunks


def passes(*sizes: int) -> list[Case]:
    return [Case("SequentialSampler", {"data_source": Data(n)}, [Iterate()]) for n in sizes]


def lengths(traces: Iterator[tuple[Case, Trace]]) -> list[int]:
    """How many items each pass had."""
    return [len(told(trace)[0]) for _, trace in traces]


def expecting(worlds: Worlds, *chunks: list[Case]) -> None:
    """These will be asked for, one after the other."""
    left = iter(chunks)
    worlds.expect(lambda: next(((REFERENCE, chunk) for chunk in left), None))


def test_what_is_expected_begins_while_others_are_judged(
    worlds: Worlds, sent: list[list[Case]]
) -> None:
    """The second chunk is sent before the first trace is handed over, and is not sent again."""
    first, second = passes(1, 2, 3), passes(4, 5)
    expecting(worlds, second)

    traces = worlds.run_many(REFERENCE, first)
    one = next(traces)

    assert sent == [first, second]
    assert [len(told(one[1])[0]), *lengths(traces)] == [1, 2, 3]
    assert lengths(worlds.run_many(REFERENCE, second)) == [4, 5]
    assert sent == [first, second]


def test_processes_take_turns_and_what_is_next_fills_the_gap(
    worlds: Worlds, sent: list[list[Case]]
) -> None:
    """Two chunks are under way at a time, in two processes: of the next look as soon as this one
    has no more; traces come in the order of the cases all the same."""
    first, second = passes(*range(1, 13), 20), passes(*range(12), 31, *range(11), 32)
    expecting(worlds, second)
    pools = [worlds._pool(1, "simulated", place) for place in SAMPLING]
    traces = worlds.run_many(REFERENCE, first)

    assert [len(told(one)[0]) for _, one in islice(traces, 12)] == [*range(1, 13)]
    assert sent == [first[:12], first[12:], second[:12]]
    assert lengths(traces) == [20]
    assert lengths(worlds.run_many(REFERENCE, second)) == [*range(12), 31, *range(11), 32]
    assert sent[3:] == [second[12:24], second[24:]]
    assert all(pool.ticket > 1 for pool in pools)


def test_a_candidate_that_takes_long_to_import_is_imported_once(
    monkeypatch: pytest.MonkeyPatch, sent: list[list[Case]]
) -> None:
    """Nobody waits for a second import of several seconds before a first verdict."""
    monkeypatch.setattr(turns, "HEAVY_S", 0.0)
    with contextlib.closing(Worlds("simulated")) as made:
        made.describe(REFERENCE)

        assert lengths(made.run_many(REFERENCE, passes(*range(30)))) == [*range(30)]
        assert len(sent) == 3 and [*made.pools] == [(1, "simulated", SAMPLING[0])]


def test_other_cases_than_expected_have_their_own_traces(worlds: Worlds) -> None:
    """Whatever was begun for nothing, each case gets what became of it and nothing else."""
    expecting(worlds, passes(4, 5), passes(4, 5), passes(4, 5))

    assert lengths(worlds.run_many(REFERENCE, passes(1, 2))) == [1, 2]
    assert lengths(worlds.run_many(REFERENCE, passes(4))) == [4]
    assert len(told(worlds.run(REFERENCE, passes(3)[0]))[0]) == 3
    assert lengths(worlds.run_many(REFERENCE, passes(5, 4))) == [5, 4]


def test_what_hangs_for_nothing_accuses_nobody(worlds: Worlds, talkers: object) -> None:
    """A chunk that nobody asks for may end its process: the next case does not hear of it."""
    leaves = Source(f"{talkers}:LeavesAt")
    worlds.describe(leaves)
    worlds.expect(lambda: (leaves, [case(2, "simulated", seed=3)]))

    assert lengths(worlds.run_many(REFERENCE, passes(1))) == [1]
    worlds.expect()
    trace = worlds.run(REFERENCE, passes(2)[0])

    assert fates(trace) == ["done"] and len(told(trace)[0]) == 2


def test_looks_ahead_of_the_next_that_asks_for_anything(worlds: Worlds) -> None:
    """Cases that the look before asks for are left out, and no further look is begun than one."""
    examiner = Examiner(worlds, Options(EFFORTS["quick"], (1, 2), simulated=True), [])
    prop = next(p for p in everything() if p.role == "SequentialSampler")
    search = Search(examiner, worlds.describe(REFERENCE), prop)
    one = next(scenario for scenario in prop.scenarios if scenario.small)
    places = [frozenset({0, 1}), frozenset({1}), frozenset({1, 2}), frozenset({3})]
    looks = Looks(What(search, lambda: False, one, some) for some in places)
    cases = [*search.cases(one)]

    assert next(iter(looks)).places == places[0]
    assert looks.ahead() == (REFERENCE, [cases[2]])
    assert looks.ahead() is None
    assert [what.places for what in looks] == places[1:]
