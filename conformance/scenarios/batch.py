"""Cases of `spec/batch.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import (
    Drain,
    Inspect,
    Iterate,
    Len,
    Open,
    Operation,
    Overwrite,
    Passes,
    Resize,
    Scribble,
    SetEpoch,
    Take,
)  # fmt: skip
from conformance.recipes import Data, Generator, Probe, Role, Torch, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import BIG, ROUNDED, UNCOUNTABLE, lengths

ROLE = "BatchSampler"

KNOWN = (
    Probe("Posing", 7), Probe("Sourced", 7), Probe("Pairs", 5), Probe("Pairs", 4, 2),
    Values(((0, 1), (2,), "ab", 3, ())),
    Torch("BatchSampler", sampler=Probe("Descending", 7), batch_size=2, drop_last=False),
    Torch("BatchSampler", sampler=Probe("Descending", 9), batch_size=3, drop_last=True),
    Role("BatchSampler", sampler=Probe("Descending", 7), batch_size=2, drop_last=False),
    Torch("SequentialSampler", data_source=Data(7)),
    *(
        Torch("RandomSampler", data_source=Data(n), num_samples=count, generator=Generator(5))
        for n, count in ((10, 25), (10, 4), (6, None))
    ),
)  # fmt: skip
"""Inner samplers of well-known classes, one that looks like them, and items that are lists."""

KEPT = (
    Torch("SequentialSampler", data_source=Data(7)), Values(range(7), "range"),
    Role("SequentialSampler", data_source=Data(7)), Values((4, 0, 3, 1, 5, 2, 6)),
    Values((4, 0, 3, 1, 5, 2, 6), "tuple"),
)  # fmt: skip
"""Inner samplers whose passes are all alike, so that somebody may keep the batches of one."""

ODD = (4, -1, 0, None, "", (), False, 2)
"""Inner items; some of them are what a careless loop takes for nothing, or for an end."""


def _case(setting: Setting, inner: Any, size: int, drop: bool, plan: list[Operation]) -> Case:
    return Case(ROLE, _arguments(inner, size, drop), plan, ambient=setting.seed)


def _arguments(inner: Any, size: int, drop: bool) -> dict[str, Any]:
    return {"sampler": inner, "batch_size": size, "drop_last": drop}


def _grid(setting: Setting) -> Iterator[tuple[int, int, bool]]:
    """All (n, batch size, drop_last), smallest first."""
    top = setting.effort.n_max
    pairs = itertools.product(range(top + 1), range(1, 6))
    for n, size in sorted(pairs, key=lambda pair: (sum(pair), pair)):
        yield from ((n, size, drop) for drop in (False, True))


def _inners(n: int) -> list[Any]:
    names = ["Counting", "Descending", "Doubling", "Unsized", *["Turning"] * (n > 4)]
    return [*(Probe(name, n) for name in names), Values(tuple(7 * i % 10 for i in range(n)))]


def _passes_small(setting: Setting) -> Iterator[Case]:
    plan: list[Operation] = [Len(), Iterate(), Iterate(), Iterate(), Len()]
    for n, size, drop in _grid(setting):
        for inner in _inners(n):
            yield _case(setting, inner, size, drop, plan)
    for n, size, drop in itertools.product(
        (100, 40_000, 65_537), (100, 4096, 70_000), (False, True)
    ):
        yield _case(setting, Probe("Descending", n), size, drop, plan)
    yield _case(setting, Probe("Descending", 9001), 1, False, plan)
    for (n, size), drop in itertools.product(ROUNDED, (False, True)):
        yield _case(setting, Probe("Descending", n), size, drop, plan)
    for n, size, drop in itertools.product(UNCOUNTABLE, (1, 2, 3), (False, True)):
        yield _case(setting, Probe("Counting", n), size, drop, [Len()])
    yield from _handed_over(setting) if setting.hands_over else ()
    odd = (Values(ODD), Values(ODD[::-1])) if setting.hands_over else ()
    for inner, size, drop in itertools.product((Values(BIG), *odd), (1, 2, 3), (False, True)):
        yield _case(setting, inner, size, drop, plan)
    for n, size, drop in itertools.product((1, 4, 7, 130), (1, 3, 4), (False, True)):
        for name in ("Descending", "Unsized"):
            yield _case(setting, Probe(name, n), size, drop, _resized(n))


def _handed_over(setting: Setting) -> Iterator[Case]:
    """Inner samplers that look like something else, and items that are lists."""
    plan: list[Operation] = [Len(), Iterate(), Iterate(), Len()]
    for inner, size, drop in itertools.product((*KNOWN, *KEPT), (1, 2, 4), (False, True)):
        yield _case(setting, inner, size, drop, plan)
    changed: list[Operation] = [Len(), Iterate(), Overwrite(), Len(), Iterate()]
    for n, size, drop in itertools.product((2, 5, 300), (1, 2, 3), (False, True)):
        numbers = tuple(7 * i % 10 for i in range(n))
        for kind in ("list", "backwards"):
            yield _case(setting, Values(numbers, kind), size, drop, changed)
    for n, size, drop in itertools.product((1, 6), (1, 2, 4), (False, True)):
        yield _case(setting, Probe("Spent", n), size, drop, [Iterate(), Iterate()])
    left: list[Operation] = [Open("a"), Take("a", 2), Open("a"), Drain("a")]
    for n, size, drop in itertools.product((9, 10), (1, 2), (False, True)):
        yield _case(setting, Probe("Spent", n), size, drop, left)
    for n, size in ((0, 2), (7, 3)):
        yield _case(setting, Probe("Spent", n), size, False, [Len(), Iterate(), Len()])


def _resized(n: int) -> list[Operation]:
    """The inner sampler grows before its length is asked, and shrinks."""
    grown: list[Operation] = [Resize(n + 5), Len(), Iterate(), Len()]
    return [*grown, Resize(n // 2), Iterate(), Resize(2 * n), Len(), Iterate()]


@st.composite
def _passes_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    size = draw(st.one_of(st.integers(1, 8), st.integers(1, 5000)))
    n = draw(lengths(most=min(131_072, 3000 * size), around=size))
    inner = Probe(draw(st.sampled_from(["Counting", "Descending", "Doubling", "Unsized"])), n)
    plan: list[Operation] = [Len(), *[Iterate()] * (draw(st.integers(1, 3)) if n < 10_000 else 1)]
    return Case(
        ROLE, _arguments(inner, size, draw(st.booleans())), plan,
        draw(st.sampled_from(setting.world_sizes)), world="group", passed=draw(st.booleans()),
        ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


def _disturbed_small(setting: Setting) -> Iterator[Case]:
    """Batches let go one by one, kept, and overwritten while the pass goes on."""
    singly = [Open("a"), *[Take("a")] * 5, Drain("a")]
    overwritten = [Open("b"), Take("b", 2), Scribble(), Drain("b"), Scribble()]
    left = [Open("c"), Take("c"), Open("c"), Take("c", 2), Iterate()]
    plan: list[Operation] = [*singly, Iterate(), *overwritten, Iterate(), *left, Iterate()]
    for n, size, drop in (*_grid(setting), (23, 5, True), (131, 7, False), (2003, 70, True)):
        if (n <= 7 and size <= 4) or n > 20:
            yield _case(setting, Probe("Descending", n), size, drop, plan)
    if setting.hands_over:
        for inner, size, drop in itertools.product(KEPT, (1, 3, 7, 10), (False, True)):
            yield _case(setting, inner, size, drop, plan)


def _lazy_small(setting: Setting) -> Iterator[Case]:
    """A long inner sequence first: one that is read to its end shows that, and comes back."""
    plan: list[Operation] = [Open("a"), Take("a"), Inspect(), Take("a", 3), Inspect()]
    inners = (Probe("Counting", 9), Probe("Unsized", 5000), Probe("Endless"))
    for inner, size, drop in itertools.product(inners, (1, 2, 3, 64), (False, True)):
        yield _case(setting, inner, size, drop, plan)


def _lying_small(setting: Setting) -> Iterator[Case]:
    few = itertools.product((0, 1, 4, 5, 6, 9), (0, 1, 3, 5, 6, 9, 100))
    for count, claimed in (*few, (17, 12), (120, 90), (1500, 1600)):
        for size, drop in itertools.product((1, 2, 3, 7), (False, True)):
            if count != claimed:
                inner = Probe("Lying", count, claimed)
                yield _case(setting, inner, size, drop, [Iterate(), Iterate()])


def _polled_small(setting: Setting) -> Iterator[Case]:
    for n, size, drop in (*_grid(setting), (131, 7, False), (2003, 70, True)):
        plan: list[Operation] = [Passes(1), Inspect(), Passes(2), Inspect()]
        yield _case(setting, Probe("Counting", n), size, drop, plan)


def _epochs_small(setting: Setting) -> Iterator[Case]:
    for n, size, drop in itertools.product((0, 5, 22, 130, 1300), (1, 2, 7), (False, True)):
        for epochs in ((3, 0, 7), (0, 0, 2)):
            yield _case(setting, Probe("Epoched", n), size, drop, _announced(epochs))
    yield _case(setting, Probe("Epoched", 5, 1), 2, False, _announced((3, 0)))


def _announced(epochs: Sequence[int]) -> list[Operation]:
    return [step for epoch in epochs for step in (SetEpoch(epoch), Iterate(), Inspect())]


def _plain_small(setting: Setting) -> Iterator[Case]:
    for name in ("Counting", "Unsized"):
        yield _case(setting, Probe(name, 5), 2, False, [SetEpoch(3)])


PASSES = Scenario("batch-passes", _passes_small, lambda s: _passes_drawn(s), 0.3)
DISTURBED = Scenario("batch-disturbed", _disturbed_small)
LAZY = Scenario("batch-lazy", _lazy_small)
LYING = Scenario("batch-lying", _lying_small)
POLLED = Scenario("batch-polled", _polled_small)
EPOCHS = Scenario("batch-epochs", _epochs_small)
PLAIN = Scenario("batch-plain", _plain_small)
