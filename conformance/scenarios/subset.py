"""Cases of `spec/subset.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import Iterate, Open, Operation, Passes, Take
from conformance.recipes import Generator, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import BIG, lengths, seeds
from conformance.scenarios.random import (
    ACROSS,
    HUGE,
    LONG,
    cases,
    grouped,
    reseeded,
    seeded_anew,
    sharing,
)

KINDS = (
    "list", "list.int64", "tuple", "range", "ndarray", "ndarray.int32", "ndarray.uint8",
    "ndarray.>i8", "flipped", "tensor", "int32", "uint8",
)  # fmt: skip
"""How indices are handed over; the last three are tensors."""

STEPS = (range(0, 10, 3), range(3, 12, 2), range(10, 0, -3), range(9, -1, -2), range(7, 8, 4))
"""Ranges with a step, most of which does not divide them."""

REPEATED = (
    (Values((7, 2, 2, 40)), 4000, None), (Values((3,) * 9 + (1,) * 9 + (2,) * 22), 300, 6),
    (Values((5, 5)), 20, None), (Values((*range(3000), *range(0, 3000, 2))), 4, 7),
)  # fmt: skip
"""Indices of which some are given several times, with passes and seeds."""

ENDS = (Values(range(2000)), 40, 8)
"""Passes long enough to be merged of parts, and enough of them for their ends to tell."""

SIGNS = (Values(range(109, 9, -1)), 48, None)
"""Enough passes to see that all their orders are of one sign."""

NEARLY = (*range(100, 900), 899, *range(901, 1500))
"""A range by its first, its last and how many there are, but one is missing and one comes twice."""

LEFT: list[Operation] = [Open("a"), Take("a", 2), Iterate(), Open("a"), Take("a"), Iterate()]
"""Passes are left, one still under way and one dropped; each further one is complete."""


def _indices(n: int) -> list[tuple[int, ...] | range]:
    """Plain ones, some with gaps and out of order, some doubled."""
    return [range(n), tuple((7 * i + 3) % 101 for i in range(n)), tuple(i // 2 for i in range(n))]


def _passes_small(setting: Setting) -> Iterator[Case]:
    def made() -> Iterator[tuple[dict[str, Any], list[Operation]]]:
        for n in (*range(setting.effort.n_max + 1), 33, 100, 2000):
            for items in _indices(n):
                for seed in (None, Generator(setting.seed)):
                    yield {"indices": Values(items), "generator": seed}, [*[Iterate()] * 4, *LEFT]
        for kind in ("list", "ndarray", "tensor"):
            yield {"indices": Values(BIG, kind)}, [Iterate()] * 2
        for items in STEPS:
            yield {"indices": Values(items, "range")}, [*[Iterate()] * 2, *LEFT]
        for count in (2, 3, 4):
            for items in itertools.product(range(4), repeat=count):
                yield {"indices": Values(items)}, [Iterate()]
        yield {"indices": Values(range(5, 20_005))}, [Iterate()] * 2
        yield {"indices": Values(range(5, 5 + LONG))}, [Iterate()] * 3
        yield {"indices": Values(range(0, 2 * LONG, 2), "range")}, [Iterate()]
        yield {"indices": Values(range(5, 5 + LONG))}, ACROSS
        for kind in ("list", "ndarray", "tensor"):
            yield {"indices": Values(NEARLY, kind)}, [Iterate()]

    return cases(setting, made())


def _kinds_small(setting: Setting) -> Iterator[Case]:
    runs = [Values(range(5, 5 + n), kind) for n in (1, 2, 5) for kind in KINDS]
    steps = [Values(items, kind) for items in STEPS for kind in KINDS if kind[0] in "rn"]
    gaps = ((0, 3, 5), (4, 4, 0), (0, 1, 1, 0), (255, 0, 254))
    others = [Values(items, kind) for items in gaps for kind in KINDS if kind != "range"]
    tensors = [Values((0, 3, 3, 9), kind) for kind in ("list.tensor", "tuple.tensor")]
    powers = (7, 8, 15, 16, 31, 32)  # where a type of so many bits ends, signed or not
    wide = [Values((3, (1 << power) - less)) for power in powers for less in (1, 0)]
    columns = [Values(items, "column") for items in (range(5, 10), (4, 4, 0))]
    for indices in (*runs, *steps, *others, *wide, *tensors, *columns):
        yield Case(setting.role, {"indices": indices}, [Iterate()] * 2)


@st.composite
def _passes_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    n, start = draw(lengths(most=131_072)), draw(st.integers(0, 1000))
    up = range(start, start + n * draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    found = up if draw(st.booleans()) else range(up.stop, up.start, -up.step)
    given = Values(found, draw(st.sampled_from(["list", "range", "range"])))
    listed = st.builds(Values, st.lists(st.integers(0, 9), max_size=40).map(tuple))
    arguments: dict[str, Any] = {"indices": draw(listed) if draw(st.booleans()) else given}
    if draw(st.booleans()):
        arguments["generator"] = Generator(draw(seeds()), by_rank=draw(st.booleans()))
    plan = [Iterate()] * (draw(st.integers(1, 4)) if n < 10_000 else 1)
    return grouped(draw, setting, arguments, plan)


def _seeded_small(setting: Setting) -> Iterator[Case]:
    first, other = setting.seed, setting.seed + 1
    made = (
        ({"indices": Values(items), "generator": Generator(first)}, reseeded(first, other, 4))
        for n in (1, 2, 5, 15, 16, 17, 40, 100, 2000)
        for items in _indices(n)
    )
    yield from cases(setting, made)
    for n in (20_000, LONG):
        long = {"indices": Values(range(n)), "generator": Generator(first)}
        yield from cases(setting, iter([(long, reseeded(first, other, 2))]))
    anew = {"indices": Values(range(40)), "generator": Generator(first)}
    yield from cases(setting, iter([(anew, seeded_anew(first))]))


@st.composite
def _seeded_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    n, start = draw(lengths(1, 30_000)), draw(st.integers(0, 1000))
    first, other = draw(st.lists(seeds(), min_size=2, max_size=2, unique=True))
    arguments = {"indices": Values(range(start, start + n)), "generator": Generator(first)}
    return grouped(draw, setting, arguments, reseeded(first, other, draw(st.integers(1, 3))))


def _many(setting: Setting) -> Iterator[Case]:
    """Enough passes to see a biased shuffle, short and long, with a generator and without."""

    def made() -> Iterator[tuple[dict[str, Any], list[Operation]]]:
        tiny = ((2, 2000, 1), (3, 4000, None), (4, 17_000, 2), (5, 4000, None))
        few = ((40, 300, None), *tiny, (16, 6000, 3))
        long = ((3001, 8, 4), (LONG, 3, None), (HUGE, 1, 5))
        plain = [(Values(range(n + 9, 9, -1)), *others) for n, *others in (*few, *long)]
        plain += [ENDS, SIGNS]
        for indices, passes, seed in (*plain[: len(few)], *REPEATED, *plain[len(few) :]):
            trials = passes if len(indices.items) > 64 else int(passes * setting.effort.trials)
            generator = None if seed is None else Generator(setting.seed + seed)
            yield {"indices": indices, "generator": generator}, [Passes(trials)]

    return cases(setting, made())


PASSES = Scenario("subset-passes", _passes_small, lambda s: _passes_drawn(s), 0.3)
KIND = Scenario("subset-kinds", _kinds_small)
SEEDED = Scenario("subset-seeded", _seeded_small, lambda s: _seeded_drawn(s), 0.2)
SHARED = Scenario("subset-shared", lambda s: sharing(s, {"indices": Values(range(40))}))
MANY = Scenario("subset-many", _many)
