"""Cases of `spec/balanced.md`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import (
    Epochs,
    Iterate,
    Len,
    Operation,
    Passes,
    Rebuild,
    Reseed,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import Role, Runs, Values
from conformance.scenarios import Scenario, Setting, subjects_drawn
from conformance.scenarios.distributed import NEAR_AND_FAR
from conformance.scenarios.refusals import refused

Plan = list[Operation]
MODES = ("downsampling", "upsampling", 1, 4)

UNUSUAL = (
    Values((-1, 0, 0, -1, 0)), Values((1, 0, -1, 1)),
    Values((3, 7, 3, 3, 7)), Values((-2, 5, -2, 100, 5, 5)), Values((1, 2, 2, 1)),
    Values(("cat", "dog", "cat", "eel", "dog")), Values(("b", "a", "b"), "ndarray"),
    Values((10, 20, 10), "tensor"), Values((5, 1, 5, 9), "ndarray"), Values((0.5, 2.5, 0.5)),
    Values((3, 3, 1, 8), "flipped"),
    *(Values((n + 1, n, n + 1, n - 1, -n)) for n in (1 << 24, 1 << 31, 1 << 53, 1 << 63)),
    *(Values(((1 << 53) + 1, 1 << 53, 1 << 53), kind) for kind in ("tensor", "ndarray")),
    Values((0.2, 0.7, 0.2, -0.7, 0.7)), Values((1e-9, 3e-9, 3e-9)),
    Values((16777217.0, 16777216.0)), Values((1.5, 1, 2, 1.5, 2)), Values((True, False, True)),
    Values((False, True), "ndarray"), Values(("n01440765", "n01440764", "n01440765")),
    Values(("ab", "", "a", "B", "ab", "aB")),
    Values(("x" * 70 + "b", "x" * 70 + "a"), "ndarray"), Values((b"b", b"a", b"b")),
    Values(("x" * 300 + "b", "x" * 300 + "a", "x" * 300 + "b")),
    Values((1, 1.0, 2, True, 2.0, 3)),
    Values(((0, 2), (0, 1), (0, 2), (1, 0))), Values((("a", 2), ("a", 1), ("B", 1), ("a", 2))),
    Values(("9", "10", "9", "a2", "a10", "10")),
    Values(("a", "a\0", "a", "b")), Values((b"\1", b"\1\0", b"\2", b"\1\0")),
    *(Values((-100, 100, -100, 100, 3, 100), kind) for kind in ("ndarray.int8", "int8")),
)  # fmt: skip
"""Labels that are not 0..K-1, and some that differ only in their last digit or letter."""

LARGE = Runs(((0, 7), (1, 2), (0, 3), (2, 1), (3, 1)), times=3000)
"""A class of 30,000, one of 6,000 and two of 3,000: some are wanted whole, or all but a part."""


EVEN = Runs(((0, 20_000), (1, 20_000), (2, 20_000), (3, 20_000)))
"""Four equal classes, so long that it shows where they are mixed within windows only."""

WIDE = Runs(((0, 600), (1, 40), (2, 40_000)))
"""Classes of which few of many members are wanted; indices past 2^15."""

NARROW = (
    ((100, 50, 100), 250, "ndarray.uint8"), ((100, 27), 127, "int8"),
    ((30_000, 10_000), 60, "ndarray.int16"), ((50_000, 30_000, 20_000), 100_000, "ndarray.int32"),
    ((60_000.0, 20_000.0), 12, "ndarray.float16"),
    ((3 * 2.0**126, 2.0**126), 8, "float32"),
)  # fmt: skip
"""Weights of small types that hold neither their sum nor their product with `length`; lengths."""

SEEDS = (-1, -2, 2, 256, 65_537, 1 << 31, (1 << 31) + 1)
"""Seeds that a careless sampler takes for one another, or for 0 or 1."""


def _stated(role: str, labels: Values) -> Iterator[dict[str, Any]]:
    """The other arguments for given labels."""
    if role == "BalanceClassSampler":
        for mode in MODES:
            yield {"labels": labels, "mode": mode}
        return
    classes = len(set(labels.items))
    ramp = tuple(float(place + 1) for place in range(classes))
    for weight, length in itertools.product((ramp, ramp[::-1], (1.0,) * classes), (1, 6, 10)):
        yield {"labels": labels, "weight": Values(weight), "length": length}
    if classes > 1:
        zero = (0.0, *ramp[1:])
        yield {"labels": labels, "weight": Values(zero), "length": 5}


def _plan(setting: Setting) -> Plan:
    """Two epochs, or two passes where the role has no epochs."""
    if setting.has_epochs:
        return [SetEpoch(0), Len(), Iterate(), SetEpoch(1), Iterate()]
    return [Len(), Iterate(), Iterate()]


def _small(setting: Setting) -> Iterator[Case]:
    every = [
        Values(items) for size in range(1, 6)
        for items in itertools.product(range(3), repeat=size)
        if set(items) == set(range(max(items) + 1))
    ]  # fmt: skip
    for labels in every[:: 1 if setting.effort.name == "nightly" else 3]:
        for arguments in _stated(setting.role, labels):
            yield Case(setting.role, arguments, _plan(setting), ambient=setting.seed)
    yield from _few_of_many(setting)
    if setting.role == "WeightedBalanceClassSampler":
        yield from _shared_out(setting)


def _few_of_many(setting: Setting) -> Iterator[Case]:
    """So many passes that one of them shows a member twice, were they drawn with replacement."""
    for count in (10, 40):
        each: dict[str, Any] = {"mode": count}
        if setting.role == "WeightedBalanceClassSampler":
            each = {"weight": Values((1.0, 1.0, 1.0)), "length": 3 * count}
        plan: Plan = [Iterate()] * (600 // count)
        if setting.has_epochs:
            plan = [step for epoch in range(600 // count) for step in (SetEpoch(epoch), Iterate())]
        yield Case(setting.role, {"labels": Values(WIDE), **each}, plan, ambient=setting.seed)
    if setting.role == "WeightedBalanceClassSampler":  # shares of 4.3 come down to all there are
        labels, weight = Values(Runs(((0, 6), (1, 4), (2, 4)))), Values((44.0, 43.0, 43.0))
        arguments = {"labels": labels, "weight": weight, "length": 13}
        yield Case(setting.role, arguments, [Iterate()] * 8, ambient=setting.seed)


def _shared_out(setting: Setting) -> Iterator[Case]:
    """All small weights and lengths; then shares that are whole but for the arithmetic's error."""
    few = (w for k in range(1, 5) for w in itertools.product(range(4), repeat=k))
    made: list[tuple[tuple[float, ...], int]]
    made = [(w, n) for w in few if math.gcd(*w) == 1 for n in range(1, 9)]
    made += [((29, 71), 100), ((1, 2, 3, 4), 10), ((1,) * 49, 49), ((3, 3, 4, 145), 31)]
    made += [((0.1, 0.2, 0.3), n) for n in (2, 4, 6)] + [((0.7, 0.1, 0.2), n) for n in (10, 30)]
    for weight, length in made:
        labels, floats = Values(tuple(range(len(weight))) * 3), Values(tuple(map(float, weight)))
        arguments = {"labels": labels, "weight": floats, "length": length}
        yield Case(setting.role, arguments, [Iterate()], ambient=setting.seed)


def _narrow(setting: Setting) -> Iterator[Case]:
    """Weights of every small type."""
    for weight, length, kind in NARROW if setting.role == "WeightedBalanceClassSampler" else ():
        labels = Values(tuple(range(len(weight))) * 3)
        arguments = {"labels": labels, "weight": Values(weight, kind), "length": length}
        yield Case(setting.role, arguments, [Iterate()], ambient=setting.seed)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting) -> Case:
    arguments = draw(subjects_drawn.drawn(setting))
    width = draw(st.sampled_from(setting.world_sizes))
    plan, ambient = _plan(setting), draw(st.integers(0, 99))
    return Case(setting.role, arguments, plan, width, world="group", ambient=ambient)


def _unusual(setting: Setting) -> Iterator[Case]:
    for labels in UNUSUAL:
        for arguments in _stated(setting.role, labels):
            yield Case(setting.role, arguments, [Iterate()], ambient=setting.seed)


def _many(setting: Setting) -> Iterator[Case]:
    """Many short passes, and two long ones: by epochs where the role has them, else in a row."""
    trials = int(3000 * setting.effort.trials)
    labels = Values((0, 0, 0, 0, 0, 1, 1, 2, 2, 2))
    made: list[tuple[Values, int, dict[str, Any]]]
    if setting.role == "BalanceClassSampler":
        made = [(labels, trials, {"mode": mode}) for mode in ("downsampling", "upsampling", 3)]
        made += [(Values(LARGE), 2, {"mode": mode}) for mode in ("downsampling", 500, 4500, 7000)]
        made += [(Values(EVEN), 1, {"mode": "downsampling"})]
    else:
        shares = (((1.0, 1.0, 2.0), 8), ((3.0, 2.0, 1.0), 6))
        large = (
            ((4.0, 3.0, 2.0, 1.0), 30_000), ((1.0, 2.0, 3.0, 4.0), 2000),
            ((10.0, 2.0, 1.0, 1.0), 28_000),
        )  # fmt: skip
        made = [(labels, trials, {"weight": Values(w), "length": n}) for w, n in shares]
        made += [(Values(LARGE), 2, {"weight": Values(w), "length": n}) for w, n in large]
        made += [(Values(EVEN), 1, {"weight": Values((1.0,) * 4), "length": 80_000})]
    for given, count, others in made:
        many: Operation = Epochs(count) if setting.has_epochs else Passes(count)
        yield Case(setting.role, {"labels": given, **others}, [many], ambient=setting.seed)


def _refusals(setting: Setting) -> Iterator[Case]:
    for arguments in refused(setting.role):
        yield Case(setting.role, arguments, [], passed=False)


def _long(role: str, labels: Values) -> Iterator[dict[str, Any]]:
    """Arguments for passes that are not equal by chance, and for a short one."""
    if role == "BalanceClassSampler":
        return ({"labels": labels, "mode": mode} for mode in ("downsampling", "upsampling", 30, 4))
    made = itertools.product(((1.0, 1.0), (1.0, 2.0), (0.0, 1.0)), (20, 60, 6))
    return ({"labels": labels, "weight": Values(w), "length": length} for w, length in made)


def _again(setting: Setting) -> Iterator[Case]:
    """Equal circumstances twice, under other states of numpy and random each time."""
    labels = Values((0, 1) * 12)
    takes_seed = setting.has_epochs and setting.accepts("seed")
    steps: Plan = []
    for number, epoch in enumerate((0, 1, 0, 2, 1)):
        steps += [Reseed(20 + number, "numpy"), Reseed(40 + number, "random")]
        if setting.has_epochs:
            steps.append(SetEpoch(epoch))
        if not takes_seed:
            steps.append(Reseed(3 + epoch, "torch"))
        steps.append(Iterate())
    for arguments in _long(setting.role, labels):
        others = SEEDS if takes_seed else ()
        other = [step for seed in others for step in (Rebuild((("seed", seed),)), *steps[:4])]
        again = [Rebuild((("seed", 1),)), *steps] if takes_seed else []
        plan = [*steps, Rebuild(), *steps, *again, *other]
        yield Case(setting.role, arguments, plan, ambient=setting.seed)
    far = [step for epoch in NEAR_AND_FAR for step in (SetEpoch(epoch), Iterate())]
    for arguments in _long(setting.role, labels) if takes_seed else ():
        yield Case(setting.role, {**arguments, "seed": 1}, far, ambient=setting.seed)


def _sharded(labels: Values, role: str) -> Iterator[dict[str, Any]]:
    for arguments in _stated(role, labels):
        yield {"sampler": Role(role, **arguments)}


def _sharded_small(setting: Setting) -> Iterator[Case]:
    labels = Values((0, 1, 1, 0, 2, 0, 0, 1, 2, 2, 0))
    for arguments in _sharded(labels, setting.role):
        for width in (2, 3):
            yield _wrapped(arguments, [SetEpoch(1), Iterate()], width, "simulated", setting.seed)


@st.composite
def _sharded_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    inner = Role(setting.role, **draw(subjects_drawn.drawn(setting)))
    width = draw(st.sampled_from(setting.world_sizes))
    plan = [SetEpoch(draw(st.integers(0, 9))), Iterate(), Iterate()]
    return _wrapped({"sampler": inner}, plan, width, "group", draw(st.integers(0, 99)))


def _wrapped(arguments: dict[str, Any], plan: Plan, width: int, world: str, ambient: int) -> Case:
    role = "DistributedSamplerWrapper"
    return Case(role, arguments, plan, width, world, world == "simulated", ambient)


COUNTED = Scenario("counted", _small, lambda s: _drawn(s))
NARROW_WEIGHTS = Scenario("weights of small types", _narrow)
UNUSUAL_LABELS = Scenario("unusual labels", _unusual)
MANY = Scenario("many balanced passes", _many)
REFUSALS = Scenario("balanced refusals", _refusals)
AGAIN = Scenario("balanced again", _again)
SHARDED = Scenario("balanced and sharded", _sharded_small, lambda s: _sharded_drawn(s), share=0.5)
