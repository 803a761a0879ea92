"""What goes first of a scenario shows as much as so few cases can."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, product
from typing import Any

import pytest

from conformance.case import Case
from conformance.datasets import Mapped, Stream
from conformance.items import Leaf
from conformance.operations import Iterate, Len, Open, Rebuild
from conformance.recipes import Data, Values
from conformance.spread import parts, portions, spread


def loading(world: str = "simulated", **options: Any) -> Case:
    return Case("DataLoader", options, [Iterate()], world=world)


GRID = tuple(
    loading(dataset=Mapped(n), batch_size=size, drop_last=drop, num_workers=workers)
    for n, size, drop, workers in product((0, 1, 5, 8), (1, 2), (False, True), (1, 2, 3))
)


def shown(cases: Sequence[Case], names: tuple[str, ...]) -> set[tuple[Any, ...]]:
    """Which values of these options come together."""
    given = [dict(case.arguments) for case in cases]
    return {tuple(repr(one[name]) for name in names) for one in given}


def test_each_place_comes_once() -> None:
    """An order leaves no case out, and repeats none, however much alike they are."""
    for cases in (GRID, GRID[:1], (), [GRID[0]] * 5, [GRID[0]] * 50):
        assert sorted(spread(cases)) == list(range(len(cases)))


@pytest.mark.parametrize("names", [("dataset", "num_workers"), ("batch_size", "drop_last")])
def test_all_pairs_come_soon(names: tuple[str, ...]) -> None:
    """A third of a grid of 48 cases shows all pairs; every third of them does not."""
    order = spread(GRID)

    assert shown([GRID[at] for at in order[:16]], names) == shown(GRID, names)
    assert shown(GRID[::3], ("num_workers",)) != shown(GRID, ("num_workers",))


def test_fields_and_steps_count() -> None:
    """What is unlike in a field of a dataset, or in a step of the plan, is not left for the end."""
    alike = [loading(dataset=Stream(8), num_workers=2, batch_size=size) for size in range(1, 20)]
    sized = loading(dataset=Stream(8, sized=True), num_workers=2, batch_size=3)
    opened = alike[4].with_plan([Len(), Open("a")])

    assert {19, 20} <= set(spread([*alike, sized, opened])[:3])


def test_parts_hold_every_place_once() -> None:
    """The first parts have some without workers, some with them; a later one the others without."""
    unaided = [loading(dataset=Mapped(n), num_workers=0) for n in range(12)]
    some, first, telling, others, *rest = sets([*GRID, *unaided])

    assert sorted(chain(some, first, others, *rest)) == list(range(60)) and not telling
    assert len(some) == len(first) == 6 and some | others == set(range(48, 60))
    assert [len(one) for one in rest] == [6, 12, 12, 12, 0]


def test_telling_cases_come_right_after_the_first() -> None:
    """Cases that told of a fault are in the third part, if they are not in an earlier one."""
    known = frozenset(range(0, 48, 5))
    some, first, telling, *others = map(set, parts(GRID, telling=known))

    assert telling == known - some - first
    assert sorted(chain(some, first, telling, *others)) == list(range(48))


def test_slow_ones_that_told_of_a_fault_come_after_the_others_that_did() -> None:
    """Where each case takes a second the telling are in the fourth part, the rest in the last."""
    known = frozenset(range(0, 48, 5))

    assert [set(one) for one in parts(GRID, True, known) if one] == [known, {*range(48)} - known]
    assert set(parts(GRID, True, known)[3]) == known


def test_of_what_takes_a_process_all_that_is_telling_comes_together() -> None:
    """A telling case that has a process of its own is no part of the first, which share some."""
    cases = [loading("alone", dataset=Mapped(n), num_workers=1) for n in range(9)]
    first = sets(cases)[1]
    some, others, telling, *_ = map(set, parts(tuple(cases), telling=frozenset({*first, 8})))

    assert first and telling == {*first, 8} and not some and not others


def test_who_is_alone_takes_time_without_workers() -> None:
    """A case with a process of its own is not among the quick ones."""
    cases = [loading("alone", dataset=Mapped(n), num_workers=0) for n in range(8)]

    assert [len(one) for one in sets(cases)] == [0, 1, 0, 0, 1, 2, 2, 2, 0]


def test_workers_that_come_later_take_time_too() -> None:
    """A loader that is built anew with workers is not among the quick ones."""
    late = Rebuild((("num_workers", 2),))
    cases = [loading(dataset=Mapped(n)).with_plan([Iterate(), late, Iterate()]) for n in range(8)]

    assert [len(one) for one in sets(cases)] == [0, 1, 0, 0, 1, 2, 2, 2, 0]


def test_large_data_and_groups_are_not_among_the_first() -> None:
    """A case of many elements comes with those that told of faults; one of a group comes after
    them, if it told of one, too, and else still later."""
    wide = Leaf("tensor", "uint8", (64, 64))
    large = [
        loading(dataset=Mapped(4, gives="formed", forms=(wide,)), num_workers=workers)
        for workers in (0, 2)
    ]
    cases = [*large, loading("group", dataset=Mapped(4), num_workers=2)]

    nothing = [set()]
    assert sets(cases) == [*nothing * 2, {0, 1}, *nothing, {2}, *nothing * 4]
    told = sets(cases, partial(parts, telling=frozenset({2})))
    assert told == [*nothing * 2, {0, 1}, {2}, *nothing * 5]


def test_of_many_quick_ones_a_fixed_number_is_enough_at_first() -> None:
    """Half of the cases without workers go first, and no more than 64."""
    cases = [loading(dataset=Mapped(n % 97), batch_size=1 + n // 97) for n in range(300)]

    assert [len(one) for one in sets(cases)[:4]] == [64, 0, 0, 236]


def test_slow_cases_come_last() -> None:
    """Where each case takes a second, all of them are in the last part, also the first in line."""
    assert [len(one) for one in map(set, parts(GRID, slow=True))] == [0] * 8 + [len(GRID)]


def test_portions_grow_and_end_with_what_takes_long() -> None:
    """Each place of a sampler's cases is in one portion, those of many draws in one of their own,
    and those of very many in the last."""
    cases = [Case("SequentialSampler", {"data_source": Data(n)}, [Iterate()]) for n in range(64)]
    long = Case("SequentialSampler", {"data_source": Data(1 << 20)}, [Iterate()])
    longer = Case("SequentialSampler", {"data_source": Data(1 << 16)}, [Iterate()])
    found = sets([long, longer, *cases], portions)

    assert sorted(chain(*found)) == list(range(66))
    assert [len(one) for one in found] == [2, 6, 16, 1, 41]
    assert 0 in found[-1] and found[-2] == {1}


def test_many_values_decide_nothing() -> None:
    """Thousands of weights take no time, and count as one feature."""
    cases = [
        Case("WeightedRandomSampler", {"weights": Values(tuple(range(n, n + 5000)))}, [Iterate()])
        for n in range(30)
    ]

    assert spread(cases) == list(range(30))


def sets(cases: list[Case], divided: Any = parts) -> list[set[int]]:
    """The places in each part."""
    return [{*one} for one in divided(tuple(cases))]
