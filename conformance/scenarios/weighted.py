"""Cases of `spec/weighted.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import Iterate, Operation, Passes
from conformance.recipes import Generator, Raw, Runs, Sparse, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import lengths, seeds
from conformance.scenarios.random import (
    ACROSS,
    LONG,
    cases,
    grouped,
    reseeded,
    seeded_anew,
    sharing,
)

ROLE = "WeightedRandomSampler"
BIG = Generator(1 << 31)
NAN, INF = float("nan"), float("inf")
FOUR = (2.0, 3.0, 3.0, 4.0)
"""Four classes, none of them rare: 2 % in one of them is seen in 1.5 million draws."""

STEEP = tuple(10.0 ** (-(i * 4 % 9) / 2) for i in range(9))
"""The heaviest 10^4 times the lightest, in no order; the lightest come 68 times of a million."""

MINUTE, IMMENSE = (tuple(scale * weight for weight in FOUR) for scale in (1e-9, 1e20))
"""The same proportions, where a power of one over a weight comes to 0 or to 1."""

EVEN = (1.0,) * 8

UNEVEN = Runs(((1.0, 6), (1000.0, 1), (1.0, 1)), times=1 << 14)
"""Many light ones among heavy ones, and together 0.7 % of the draws; 2^17 of all, so that of one
number of 24 bits few are left to decide between two."""

TAIL = Runs(((3.0, 1), (1e-7, 60_000), (5.0, 1), (1e-7, 9)))
"""Two heavy ones, and 60,000 beside which each is nothing in single precision."""

ONE_HEAVY = Runs(((1.0, 1500), (1500.0, 1), (1.0, 499)))

ONE_OF_MANY = Runs(((1.0, 199), (2700.0, 1), (1.0, 101)))
"""Nine draws of ten are of one item: who draws with replacement finds few others among many."""

FULL = (
    ("ndarray.uint8", 60), ("int8", 30), ("ndarray.int32", 5 * 10**8), ("int64", 10**18),
    ("ndarray.float16", 15_000), ("float16", 15_000), ("list.float32", 1.0), ("list.int64", 1),
    ("bfloat16", 1.0),
)  # fmt: skip
"""Kinds of weights and scales: of most, the sum is too large for their own type."""

MASK = (True, False, True, True)

DOUBLE = ("list", "ndarray", "float64", "tuple", "list.float64")
"""How weights are handed over without being rounded."""

FORTY: dict[str, Any] = {"weights": Values((1.0,) * 40), "num_samples": 40}

TO_ZERO = (Generator(1423), 6000)
"""A seed with which so many numbers of single precision from [0, 1) hold one that is exactly 0."""

Made = Iterator[tuple[dict[str, Any], list[Operation]]]


def _weights(n: int) -> list[tuple[float, ...]]:
    """Even ones, uneven ones, some with zeros at either end and within, some far apart.

    The last are far apart and zero: in single precision the least of them would be zero as well.
    """
    zeros = (0.0, *(float(i % 3) for i in range(1, n - 1)), 0.0) if n > 3 else ()
    far = tuple(10.0 ** (-17 * (i % 3)) for i in range(n))
    wide = tuple((1.0, 1e-50, 0.0, 1e30)[i % 4] for i in range(n)) if n > 2 else ()
    found = [(1.0,) * n, tuple(float(i + 1) for i in range(n)), far, zeros, wide]
    return [weights for weights in found if any(weights)]


def _passes_small(setting: Setting) -> Iterator[Case]:
    def made() -> Made:
        for n in (*range(1, setting.effort.n_max + 1, 1 + setting.effort.n_max // 10), 40):
            for weights, seed in itertools.product(_weights(n), (None, Generator(setting.seed))):
                positive = sum(weight > 0 for weight in weights)
                for count, kind in zip(sorted({1, 2, positive, n + 1, 33}), DOUBLE, strict=False):
                    held = Values(weights, kind)
                    given = {"weights": held, "num_samples": count, "generator": seed}
                    yield given, [Iterate()] * 3
                counts = sorted({1, (positive + 1) // 2, positive})
                for count, kind in zip(counts, DOUBLE, strict=False):
                    held = Values(weights, kind)
                    given = {"weights": held, "num_samples": count, "generator": seed}
                    yield {**given, "replacement": False}, [Iterate()] * 3
        yield from _long()
        column = Values((0.5, 0.0, 2.0, 1.0), "column")
        yield {"weights": column, "num_samples": 40}, [Iterate()] * 2
        long = {"weights": Values(range(LONG + 1)), "num_samples": LONG, "replacement": False}
        yield long, ACROSS

    return cases(setting, made())


def _long() -> Made:
    """Many weights, and beyond 2^16 of them; the first is 0."""
    seed, enough = TO_ZERO
    given: dict[str, Any] = {"weights": Values((0.0, 1.0, 1.0)), "num_samples": enough}
    yield {**given, "generator": seed}, [Iterate()]
    many = ((300, True, 300), (2000, False, 1999), (20_000, True, 2000), (20_000, False, 2000))
    most = ((LONG, True, 100_000), (LONG, False, 30_000), (LONG, False, LONG - 1))
    for n, replacement, count in (*many, *most):
        given = {"weights": Values(range(n)), "num_samples": count}
        yield {**given, "replacement": replacement, "generator": BIG}, [Iterate()] * 3


def _starved_small(setting: Setting) -> Iterator[Case]:
    """Without replacement, more draws than there are weights to draw from."""
    for weights, count in (((1.0, 0.0), 2), ((0.0, 1.0, 0.0), 2), ((0.0, 2.0, 1.0, 0.0, 3.0), 5)):
        given = {"weights": Values(weights), "num_samples": count, "replacement": False}
        yield Case(ROLE, given, [Iterate()], ambient=setting.seed)


@st.composite
def _passes_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    kinds = st.sampled_from([0.0, 1e-30, 0.1, 1.0, 3.0, 1e9])
    few, more = (st.lists(kinds, min_size=least, max_size=60) for least in (1, 12))
    many = lengths(1, 100_000).map(lambda n: range(n + 1))
    weights = draw(st.one_of(few, more, many).filter(any))
    items = weights if isinstance(weights, range) else tuple(weights)
    positive = sum(weight > 0 for weight in items)
    replacement = draw(st.booleans())
    most = 3000 if replacement else positive
    arguments: dict[str, Any] = {
        "weights": Values(items, draw(st.sampled_from(["list", "tensor", "ndarray"]))),
        "num_samples": draw(st.integers(1, most)), "replacement": replacement,
    }  # fmt: skip
    if draw(st.booleans()):
        arguments["generator"] = Generator(draw(seeds()), by_rank=draw(st.booleans()))
    return grouped(draw, setting, arguments, [Iterate()] * draw(st.integers(1, 3)))


def _many(setting: Setting) -> Iterator[Case]:
    """Enough draws to see a class that is 2 % off: in long passes, short ones, and single draws."""

    def made() -> Made:
        many = (
            (FOUR, 2, 5000, None, "list"), (FOUR, 1, 10_000, 1, "float16"),
            ((1.0, 0.0, 3.0), 5, 2000, 2, "ndarray.uint8"), (range(200), 20_000, 5, 6, "uint8"),
            (FOUR, 50, 2000, 5, "list"), ((1.0, 9.0), 2, 2000, None, "list.float32"),
            (tuple(float(i) for i in range(1, 41)), 20_000, 5, None, "tuple"),
            (range(LONG), 100_000, 3, 3, "ndarray.int32"), (FOUR, 100_000, 15, 4, "list"),
            (STEEP, 1_000_000, 1, None, "float16"), (UNEVEN, 100_000, 1, 7, "float32"),
            (TAIL, 200_000, 1, None, "ndarray.float32"), (EVEN, 100, 3000, 8, "list"),
            (range(1, 5001), 3, 400, None, "float64"),
        )  # fmt: skip
        for weights, count, passes, seed, kind in many:
            trials = max(1, int(passes * setting.effort.trials))
            generator = None if seed is None else Generator(setting.seed + seed)
            given = {"weights": Values(weights, kind), "num_samples": count}
            yield {**given, "generator": generator}, [Passes(trials)]
        uneven = 3 << 20  # numbers of 24 bits come five or six times for each of so many
        equal = {"weights": Sparse(uneven, rest=1.0), "num_samples": 30_000}
        yield {**equal, "generator": Generator(setting.seed)}, [Passes(1)]

    return cases(setting, made())


def _many_first(setting: Setting) -> Iterator[Case]:
    def made() -> Made:
        many = (
            (FOUR, 1, 10_000, None, "list"), (FOUR, 4, 10_000, 1, "ndarray.float16"),
            ((1.0, 0.0, 3.0), 2, 4000, None, "int32"), (range(LONG), 5, 200, 3, "float32"),
            (tuple(float(i) for i in range(1, 41)), 7, 10_000, 2, "list"),
            (ONE_HEAVY, 30, 400, None, "ndarray.float32"), (ONE_HEAVY, 1000, 100, 4, "list"),
            (STEEP, 3, 4000, None, "float64"), (MINUTE, 2, 3000, 5, "list"),
            (IMMENSE, 2, 3000, None, "float64"),
            (range(1, 51), 5, 2000, 6, "float64"), (ONE_OF_MANY, 4, 2000, None, "list"),
        )  # fmt: skip
        for weights, count, passes, seed, kind in many:
            generator = None if seed is None else Generator(setting.seed + seed)
            held = Values(weights, kind)
            given = {"weights": held, "num_samples": count, "replacement": False}
            yield {**given, "generator": generator}, [Passes(int(passes * setting.effort.trials))]

    return cases(setting, made())


def _scaled(setting: Setting) -> Iterator[Case]:
    def made() -> Made:
        kinds = ("list", "tuple", "ndarray.float32", "ndarray.float64", "float32", "float64")
        scales = [(kind, scale) for scale in (1.0, 1e-30, 1e30) for kind in kinds]
        whole = [("ndarray.int64", 1), ("int64", 1), ("ndarray.int64", 10**15), ("list", 10**15)]
        for kind, scale in (*whole, *scales):
            weights = Values(tuple(scale * weight for weight in (1, 2, 3, 4)), kind)
            trials = int(3 * setting.effort.trials) or 1
            yield {"weights": weights, "num_samples": 20_000}, [Passes(trials)]
        for kind, scale in FULL:
            weights = Values(tuple(scale * weight for weight in (1, 2, 3, 4)), kind)
            yield {"weights": weights, "num_samples": 20_000}, [Passes(1)]
        for kind in ("list", "ndarray.bool", "bool"):
            yield {"weights": Values(MASK, kind), "num_samples": 5000}, [Passes(1)]
        for scale in (1e-30, 1e30):
            weights = Values(tuple(scale * weight for weight in (1, 2, 3, 4)))
            yield {"weights": weights, "num_samples": 2, "replacement": False}, [Passes(3000)]

    return cases(setting, made())


def _refused(setting: Setting) -> Iterator[Case]:
    """The last argument is the invalid one."""
    wrong: tuple[Any, ...] = (
        Values((NAN, 1.0)), Values((1.0, NAN), "tensor"), Values((1.0, INF)), Values((INF,)),
        Values((1.0, -INF)), Values((1.0, -1.0)), Values((-1.0, -2.0)), Values((1.0, -1e-30)),
        Values(()), Values((), "tensor"), Values((0.0,)), Values((0.0, 0.0, 0.0), "ndarray"),
        Values(((1.0,), (2.0,))), Values(((1.0,), (2.0,)), "tensor"),
        Values(((1.0, 2.0),), "ndarray"), Raw(3.0, "tensor"),
        Values((False, False), "bool"), Values((0, 0), "ndarray.int64"),
    )  # fmt: skip
    for weights in wrong:
        yield Case(ROLE, {"num_samples": 1, "weights": weights}, [], ambient=setting.seed)
    for items, count in (((1.0,), 2), ((1.0, 0.0), 2), ((0.0, 1.0, 1.0), 3), ((1.0, 2.0), 100)):
        given = {"weights": Values(items), "replacement": False, "num_samples": count}
        yield Case(ROLE, given, [], ambient=setting.seed)


def _seeded_small(setting: Setting) -> Iterator[Case]:
    first, other = setting.seed, setting.seed + 1

    def made() -> Made:
        for n, count, replacement in itertools.product((1, 2, 16, 40), (1, 16, 100), (None, False)):
            if replacement is None or count <= n:
                given = {"weights": Values(_weights(n)[0]), "num_samples": count}
                yield {**given, "replacement": replacement}, reseeded(first, other, 4)
        for n in (300, 2000, 20_000, LONG):
            given = {"weights": Values(range(n)), "num_samples": 1000}
            yield given, reseeded(first, other, 2)
        yield FORTY, seeded_anew(first)

    seeded = (({**given, "generator": Generator(first)}, plan) for given, plan in made())
    return cases(setting, seeded)


@st.composite
def _seeded_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    few = st.lists(st.integers(1, 3).map(float), min_size=1, max_size=60)
    many = lengths(1, 30_000).map(lambda n: range(1, n + 1))
    found = draw(st.one_of(few, many))
    weights = found if isinstance(found, range) else tuple(found)
    replacement = draw(st.booleans())
    count = draw(st.integers(1, 300 if replacement else len(weights)))
    first, other = draw(st.lists(seeds(), min_size=2, max_size=2, unique=True))
    arguments: dict[str, Any] = {"weights": Values(weights), "num_samples": count}
    arguments["replacement"] = replacement
    plan = reseeded(first, other, draw(st.integers(1, 3)))
    return grouped(draw, setting, {**arguments, "generator": Generator(first)}, plan)


def _beyond(setting: Setting) -> Iterator[Case]:
    limit = 1 << 24
    yield _sparse(setting, limit + 6, (3, limit + 1, limit + 4))
    if setting.effort.name == "nightly":  # a gigabyte, as soon as somebody copies it
        yield _sparse(setting, 3 * limit + 6, (3, limit + 1, 2 * limit + 4, 3 * limit + 5))


def _sparse(setting: Setting, n: int, ones: tuple[int, ...]) -> Case:
    arguments = {"weights": Sparse(n, ones), "num_samples": 80}
    return Case(ROLE, arguments, [Iterate()], ambient=setting.seed)


PASSES = Scenario("weighted-passes", _passes_small, lambda s: _passes_drawn(s), 0.3)
STARVED = Scenario("weighted-starved", _starved_small)
MANY = Scenario("weighted-many", _many)
MANY_FIRST = Scenario("weighted-many-first", _many_first)
SCALED = Scenario("weighted-scaled", _scaled)
REFUSED = Scenario("weighted-refused", _refused)
SEEDED = Scenario("weighted-seeded", _seeded_small, lambda s: _seeded_drawn(s), 0.2)
SHARED = Scenario("weighted-shared", lambda s: sharing(s, FORTY))
BEYOND = Scenario("weighted-beyond", _beyond)
