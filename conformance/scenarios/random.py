"""Cases of `spec/random.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import (
    Drain,
    Forget,
    Iterate,
    Len,
    Neighbour,
    Open,
    Operation,
    Passes,
    Rebuild,
    Reseed,
    Take,
)
from conformance.recipes import SOURCES, Data, Generator
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import lengths, seeds

ROLE = "RandomSampler"
LONG = 70_001

ACROSS: list[Operation] = [
    Open("a"), Take("a", LONG // 3), Open("b"), Take("b", LONG // 2), Drain("a"), Drain("b"),
]  # fmt: skip
"""Two very long passes, the second begun in the middle of the first."""
"""Beyond 2^16, and prime to nothing that a buffer may hold."""

HUGE = (1 << 20) + 7
"""Long enough to see what is left in order by equal keys of single precision."""

VAST = (((1 << 25) + 1, 30_000, 1, None), ((1 << 31) + 1, 20_000, 1, 4), (3 << 39, 20_000, 1, None))
"""Throws from more indices than a single-precision number, 32 bits or a list can hold: lengths,
draws, passes and seeds. Those just below 2^28 are left out: there torch 2.13 is 3 % off."""


def taken(setting: Setting, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments without those that say nothing; None if the role does not take the others."""
    given = {name: value for name, value in arguments.items() if value is not None}
    _, *others = given
    return given if all(setting.accepts(name) for name in others) else None


def cases(
    setting: Setting, made: Iterator[tuple[dict[str, Any], Sequence[Operation]]]
) -> Iterator[Case]:
    """Small cases from arguments and plans, as far as the role takes the arguments."""
    for arguments, plan in made:
        given = taken(setting, arguments)
        if given is not None:
            yield Case(setting.role, given, plan, ambient=setting.seed)


def grouped(
    draw: st.DrawFn, setting: Setting, arguments: dict[str, Any], plan: Sequence[Operation]
) -> Case:
    """A drawn case in a real group; what the role does not take is left out."""
    first, *others = arguments
    given = {first: arguments[first]}
    given |= {name: arguments[name] for name in others if setting.accepts(name)}
    return Case(
        setting.role, given, plan, draw(st.sampled_from(setting.world_sizes)), world="group",
        passed=draw(st.booleans()), ambient=draw(st.integers(0, 99)), alike=draw(st.booleans()),
    )  # fmt: skip


def reseeded(first: int, other: int, count: int) -> list[Operation]:
    """The same passes twice from generators of one seed, then from one of another."""
    passes: list[Operation] = [Iterate()] * count
    again = Rebuild((("generator", Generator(first)),))
    return [*passes, again, *passes, Rebuild((("generator", Generator(other)),)), *passes]


def seeded_anew(seed: int) -> list[Operation]:
    """The caller seeds the generator that was handed over, from the same seed, between passes."""
    return [Iterate(), Iterate(), Reseed(seed, "generator"), Iterate(), Iterate()]


def sharing(setting: Setting, given: dict[str, Any]) -> Iterator[Case]:
    """Between passes a second sampler is made, and read, with the very same generator."""
    changed = (("generator", Generator(setting.seed, shared=True)),)
    beside = [Neighbour(changed, count=count) for count in (0, 3)]
    plan = [*[Iterate()] * 2, beside[0], *[Iterate()] * 2, beside[1], *[Iterate()] * 2]
    return cases(setting, iter([({**given, "generator": Generator(setting.seed)}, plan)]))


def _counts(n: int) -> list[int | None]:
    """Values of `num_samples` about the multiples of n and of a chunk of 32."""
    return [None, *sorted({1, max(1, n - 1), n, n + 1, 2 * n, 2 * n + 1, 3 * n + 2, 33})]


def _made(setting: Setting, replacement: bool) -> Iterator[tuple[dict[str, Any], list[Operation]]]:
    for n in (*range(1, setting.effort.n_max + 1), 31, 33, 100, 2000):
        for count, seed in itertools.product(_counts(n), (None, setting.seed)):
            given = {"data_source": Data(n), "num_samples": count, "generator": _generator(seed)}
            yield {**given, "replacement": replacement or None}, [Iterate()] * 4
    for n, kind in enumerate(SOURCES, 3):
        for count in (None, 1, 2 * n + 1):
            given = {"data_source": Data(n, kind), "num_samples": count}
            yield {**given, "replacement": replacement or None}, [Iterate()] * 3
    long = ((LONG, None, 1), (LONG, None, None), (LONG, 2 * LONG + 7, 2), (LONG, 40_000, None))
    for n, count, seed in ((20_000, None, 1 << 31), *long):
        given = {"data_source": Data(n), "num_samples": count, "generator": _generator(seed)}
        plan: list[Operation] = [Iterate()] * (3 if count is None else 1)
        yield {**given, "replacement": replacement or None}, plan
    for count in (200, 500, 900):  # some of many
        given = {"data_source": Data(2000), "num_samples": count, "generator": _generator(3)}
        yield {**given, "replacement": replacement or None}, [Iterate()] * 3


def _generator(seed: int | None) -> Generator | None:
    return None if seed is None else Generator(seed)


def _shuffles_small(setting: Setting) -> Iterator[Case]:
    forgotten = {"data_source": Data(20)}, [Forget(), Len(), Iterate()]
    across: dict[str, Any] = {"data_source": Data(LONG)}
    made = itertools.chain([forgotten], _made(setting, False), [(across, ACROSS)])
    return cases(setting, made)


def _throws_small(setting: Setting) -> Iterator[Case]:
    return cases(setting, _made(setting, True))


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting, replacement: bool) -> Case:
    n = draw(lengths(1))
    kind = draw(st.sampled_from(["", "", *SOURCES]))
    arguments: dict[str, Any] = {"data_source": Data(n, kind)}
    if replacement:
        arguments["replacement"] = True
    if draw(st.booleans()):
        arguments["num_samples"] = draw(st.integers(1, max(64, min(3 * n, 200_000))))
    if draw(st.booleans()):
        arguments["generator"] = Generator(draw(seeds()), by_rank=draw(st.booleans()))
    count = arguments.get("num_samples", n)
    plan = [Iterate()] * (draw(st.integers(1, 4)) if count < 10_000 else 1)
    return grouped(draw, setting, arguments, plan)


def _seeded_small(setting: Setting) -> Iterator[Case]:
    made: list[tuple[dict[str, Any], int]]
    made = [({"data_source": Data(n)}, 4) for n in (1, 2, 5, 15, 16, 17, 40, 100, 2000)]
    made += [
        ({"data_source": Data(n), "num_samples": k}, 3)
        for n, k in ((3, 9), (16, 5), (16, 16), (40, 83))
    ]
    made += [({"data_source": Data(n), "replacement": True}, 3) for n in (5, 40)]
    made += [({"data_source": Data(n)}, 2) for n in (20_000, LONG)]
    made += [({"data_source": Data(LONG), "num_samples": k}, 3) for k in (16, 1000)]
    first, other = setting.seed, setting.seed + 1
    given = (
        ({**arguments, "generator": Generator(first)}, reseeded(first, other, count))
        for arguments, count in made
    )
    anew = {"data_source": Data(40), "generator": Generator(first)}, seeded_anew(first)
    return cases(setting, itertools.chain(given, [anew]))


def _left_small(setting: Setting) -> Iterator[Case]:
    """Passes that are left unfinished, each before one that is not."""
    plan = [Open("a"), Take("a", 20), Iterate(), Open("a"), Take("a", 30), Iterate()]
    given = {"data_source": Data(100), "generator": Generator(setting.seed)}
    return cases(setting, iter([(given, plan)]))


@st.composite
def _seeded_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    n = draw(lengths(1, 200_000))
    first, other = draw(st.lists(seeds(), min_size=2, max_size=2, unique=True))
    arguments: dict[str, Any] = {"data_source": Data(n), "generator": Generator(first)}
    if n < 1000 and draw(st.booleans()):
        arguments["num_samples"] = draw(st.integers(1, 3 * n))
    plan = reseeded(first, other, draw(st.integers(1, 3 if n < 10_000 else 2)))
    return grouped(draw, setting, arguments, plan)


def manual(first: int, other: int) -> list[Operation]:
    """Seeded passes, among others that nobody seeded."""
    a, b, one = Reseed(first, "torch"), Reseed(other, "torch"), Iterate()
    return [a, one, a, one, b, one, one, one, a, one, b, one, Rebuild(), a, one]


def _manual_small(setting: Setting) -> Iterator[Case]:
    sizes = (1, 2, 5, 16, 17, 100, 2000, 20_000, LONG)
    made: list[dict[str, Any]] = [{"data_source": Data(n)} for n in sizes]
    made += [{"data_source": Data(n), "num_samples": 2 * n + 3} for n in (3, 16)]
    made += [{"data_source": Data(n), "replacement": True, "num_samples": 70} for n in (5, 40)]
    return cases(setting, ((given, manual(setting.seed, setting.seed + 1)) for given in made))


@st.composite
def _manual_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    first, other = draw(st.lists(seeds(), min_size=2, max_size=2, unique=True))
    arguments: dict[str, Any] = {"data_source": Data(draw(lengths(1, 30_000)))}
    if draw(st.booleans()):
        arguments |= {"replacement": True, "num_samples": draw(st.integers(1, 300))}
    return grouped(draw, setting, arguments, manual(first, other))


def _many(setting: Setting) -> Iterator[Case]:
    """Enough passes to see a biased shuffle, short and long, with a generator and without."""

    many = (
        (40, None, 1500, None), (2, None, 2000, 1), (3, None, 4000, None), (4, None, 17_000, 2),
        (5, None, 4000, None), (8, 3, 3000, 3), (5, 13, 4000, None), (16, None, 6000, 4),
        (100, None, 8, None), (3001, None, 8, 5), (LONG, None, 5, None), (LONG, 50_000, 1, 6),
        (HUGE, None, 1, 7), (100, 1, 2000, 8), (3001, 7, 2000, None), (LONG, 20, 200, 9),
        (40, 9, 3000, None), (1000, 3, 2000, 10), (64, 4, 3000, None), (100, None, 48, None),
    )  # fmt: skip

    def made() -> Iterator[tuple[dict[str, Any], list[Operation]]]:
        for n, count, passes, seed in many:
            trials = passes if n > 64 else int(passes * setting.effort.trials)
            generator = None if seed is None else Generator(setting.seed + seed)
            given = {"data_source": Data(n), "num_samples": count, "generator": generator}
            yield given, [Passes(trials)]

    return cases(setting, made())


def _many_throws(setting: Setting) -> Iterator[Case]:
    """Enough throws to see one that is a number of 8, 15 or 16 bits modulo n."""

    def made() -> Iterator[tuple[dict[str, Any], list[Operation]]]:
        few = ((1, 3, 10, 0), (2, 40, 500, 1), (7, 40, 1000, None), (16, None, 1000, 2))
        some = ((100, 1000, 40, None), (1000, 2000, 100, None))
        folded = ((61, 1000, 80, 4), (200, 1000, 40, None), (20_000, 40_000, 1, 5))
        long = ((LONG, LONG, 2, 3), (LONG, 10, 4000, None), (50_000, 100_000, 1, 10))
        for n, count, passes, seed in (*few, *some, *folded, *long, *VAST):
            generator = None if seed is None else Generator(setting.seed + seed)
            given = {"data_source": Data(n), "replacement": True, "num_samples": count}
            trials = passes if n > 64 else int(passes * setting.effort.trials)
            yield {**given, "generator": generator}, [Passes(trials)]

    return cases(setting, made())


SHUFFLES = Scenario("random-shuffles", _shuffles_small, lambda s: _drawn(s, False), 0.3)
THROWS = Scenario("random-throws", _throws_small, lambda s: _drawn(s, True), 0.4)
SEEDED = Scenario("random-seeded", _seeded_small, lambda s: _seeded_drawn(s), 0.2)
SHARED = Scenario("random-shared", lambda s: sharing(s, {"data_source": Data(40)}))
LEFT = Scenario("random-left", _left_small)
MANUAL = Scenario("random-manual", _manual_small, lambda s: _manual_drawn(s), 0.2)
MANY = Scenario("random-many", _many)
MANY_THROWS = Scenario("random-many-throws", _many_throws)
