"""The memory of small cases: each is carried out once, whoever looks, and all come in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from by_hand import traced

from conformance.case import Case
from conformance.operations import Iterate
from conformance.small import ALL, Pair, SmallCases

CASES = [Case("SequentialSampler", {"data_source": n}, [Iterate()]) for n in range(20)]


class Carrier:
    """Carries cases out a few ahead of whoever judges them; those of `lost` cannot be placed."""

    def __init__(self, lost: Iterable[int] = (), ahead: int = 3) -> None:
        self.lost, self.ahead, self.asked = set(lost), ahead, []

    def __call__(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Pair | None]]:
        waiting: list[Case] = []
        for case in cases:
            self.asked.append(number(case))
            waiting.append(case)
            if len(waiting) > self.ahead:
                yield self.answer(waiting.pop(0))
        yield from map(self.answer, waiting)

    def answer(self, case: Case) -> tuple[Case, Pair | None]:
        return case, None if number(case) in self.lost else (case, traced(case, []))


def number(case: Case) -> int:
    return int(dict(case.arguments)["data_source"])


def looked(small: SmallCases, places: range = ALL) -> list[int]:
    return [number(case) for case, _ in small.at(places)]


def test_each_place_is_carried_out_once() -> None:
    """Looks that overlap carry out no case a second time, and see every one of their places."""
    carrier = Carrier()
    small = SmallCases(CASES, carrier)

    assert looked(small, range(1, 10**6, 8)) == [1, 9, 17]
    assert looked(small, range(4)) == [0, 1, 2, 3]
    assert looked(small) == looked(small) == list(range(20))
    assert sorted(carrier.asked) == list(range(20))


def test_any_places_may_go_first() -> None:
    """A look at some places carries out no others, and leaves them to later looks."""
    carrier = Carrier()
    small = SmallCases(CASES, carrier)

    assert [number(case) for case, _ in small.at(frozenset({8, 3}))] == [3, 8]
    assert carrier.asked == [3, 8] and not small.complete
    assert looked(small) == list(range(20))
    assert len(carrier.asked) == 20


def test_a_look_that_ends_early_leaves_the_rest_to_the_next() -> None:
    """What was on its way when somebody found enough is carried out again, and nothing is lost."""
    small = SmallCases(CASES, Carrier())

    first = next(small.at())

    assert number(first[0]) == 0
    assert looked(small) == list(range(20))


def test_what_cannot_be_placed_is_left_out() -> None:
    """A case that no world can carry out is not asked again either."""
    carrier = Carrier(lost=(2, 5))
    small = SmallCases(CASES, carrier)

    assert looked(small, range(6)) == [0, 1, 3, 4]
    assert looked(small, range(6)) == [0, 1, 3, 4]
    assert sorted(carrier.asked) == list(range(6))


@pytest.mark.parametrize("places", [range(0, 10**6, 8), range(3, 9), range(0)])
def test_some_places_are_not_all(places: range) -> None:
    """Only a look at all places makes the memory complete."""
    small = SmallCases(CASES, Carrier())

    looked(small, places)

    assert not small.complete


def test_what_is_not_asked_is_remembered() -> None:
    """Places that are passed over are known, until they are asked after all."""
    carrier, strict = Carrier(), [True]
    small = SmallCases(CASES, carrier, lambda place: place < 2 or not strict[0])

    assert looked(small, range(5)) == [0, 1] and small.skipped == {2, 3, 4}
    strict[0] = False
    assert looked(small, range(4)) == [0, 1, 2, 3] and small.skipped == {4}
