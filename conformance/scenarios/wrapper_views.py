"""Cases of `wrapper.view`: a dataset made of a pass, read at any place and in any order."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import PLACES, Len, Look, Rebuild, Resize
from conformance.recipes import Probe, Recipe, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import BIG, lengths
from conformance.scenarios.wrapped import Plan
from conformance.scenarios.wrapper import ODD


def _views(setting: Setting) -> Iterator[Case]:
    for count in (0, 1, 2, 7, 150, 1500):
        for kind in ("Descending", "Doubling", "Turning"):
            yield _view(Probe(kind, count), [Len(), Look(), Look()])
    for count in (1, 2, 7, 150):
        plan: Plan = [Look("descending", past=7), Look("twice", past=-1)]
        for how in ("strided", "shuffled", "twice"):
            plan += [Rebuild(), Look(how, past=-1), Look("descending")]
        yield _view(Probe("Doubling", count), plan)
        yield _view(Probe("Descending", count), [*plan, Rebuild(), Len(), Look(past=-9)])
        yield _view(Probe("Descending", count), [Len(), Resize(count + 3), Len(), Look()])
        yield _view(Probe("Descending", count), [Resize(count - 1), Look("descending"), Look()])
    for inner in (Values(BIG), Values(ODD)) if setting.hands_over else ():
        yield _view(inner, [Look(), Look("descending")])


def _view(inner: Recipe, plan: Plan) -> Case:
    return Case("DatasetFromSampler", {"sampler": inner}, plan)


@st.composite
def _views_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    inner = Probe("Descending", draw(lengths(0, 3000)))
    width = draw(st.sampled_from(setting.world_sizes))
    plan = [Look(draw(st.sampled_from([*PLACES])), draw(st.integers(-9, 9))), Look()]
    return Case("DatasetFromSampler", {"sampler": inner}, plan, width, world="group")


VIEWS = Scenario("views", _views, lambda s: _views_drawn(s), share=0.3)
