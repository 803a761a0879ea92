"""Cases of `spec/sequential.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import Forget, Iterate, Len, Open, Operation, Resize, Take
from conformance.recipes import SOURCES, Data
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import lengths

ROLE = "SequentialSampler"


def _passes_small(setting: Setting) -> Iterator[Case]:
    for n in (*range(setting.effort.n_max + 1), 100, 2000, 20_000, 65_537):
        left = [Open("a"), Take("a"), Iterate()] if n <= 100 else []
        plan = [*[Iterate()] * 4, *left]
        yield Case(ROLE, {"data_source": Data(n)}, plan, ambient=setting.seed)


def _forgotten(setting: Setting) -> Iterator[Case]:
    yield Case(ROLE, {"data_source": Data(20)}, [Forget(), Len(), Iterate()], ambient=setting.seed)


def _sources_small(setting: Setting) -> Iterator[Case]:
    for n in (0, 1, 7, 100):
        for kind in SOURCES:
            yield Case(ROLE, {"data_source": Data(n, kind)}, [Iterate()] * 2, ambient=setting.seed)


def _resized_small(setting: Setting) -> Iterator[Case]:
    for n in range(setting.effort.n_max + 1):
        plan = [Iterate(), Resize(n + 3), Iterate(), Resize(n // 2), Iterate(), Iterate()]
        yield Case(ROLE, {"data_source": Data(n)}, plan, ambient=setting.seed)
        asked = [Len(), Resize(n + 3), Iterate(), Open("a"), Take("a"), Resize(n + 5), Iterate()]
        yield Case(ROLE, {"data_source": Data(n)}, asked, ambient=setting.seed)


def _all_small(setting: Setting) -> Iterator[Case]:
    return itertools.chain(_passes_small(setting), _forgotten(setting), _sources_small(setting))


@st.composite
def _passes_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    n = draw(lengths(around=width))
    plan: list[Operation] = [Iterate()] * (draw(st.integers(1, 4)) if n < 10_000 else 1)
    kind = draw(st.sampled_from(["", "", *SOURCES]))
    if not kind and draw(st.booleans()):
        plan += [Resize(draw(st.integers(0, n + 900))), Iterate()]
    return Case(
        ROLE, {"data_source": Data(n, kind)}, plan, width, world="group",
        passed=draw(st.booleans()), ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


PASSES = Scenario("sequential-passes", _all_small, lambda s: _passes_drawn(s), 0.3)
RESIZED = Scenario("sequential-resized", _resized_small)
