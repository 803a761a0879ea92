"""Cases of `spec/wrapper.md`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import (
    Arguments,
    Drain,
    Inner,
    Inspect,
    Iterate,
    Len,
    Open,
    Resize,
    SetEpoch,
    Take,
)  # fmt: skip
from conformance.recipes import PARTS, Data, Generator, Probe, Recipe, Role, Torch, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.distributed import NEAR_AND_FAR
from conformance.scenarios.lengths import BIG, ROUNDED, lengths
from conformance.scenarios.wrapped import (
    ROLE,
    Plan,
    flag_choices,
    in_group,
    in_groups,
    unshuffled,
    wrapped,
)

ODD = (4, -1, 0, None, "", 0, False, -1, 2)
"""Items of an inner sampler; some of them are what a careless loop takes for nothing."""


def _globally_random(count: int) -> list[Recipe]:
    """Inner samplers that draw from a generator that all of a process share."""
    probes = (Probe(f"{owner}Random", count) for owner in ("Torch", "Numpy", "Python"))
    return [*probes, Role("RandomSampler", data_source=Data(count))]


def _passes_small(setting: Setting) -> Iterator[Case]:
    effort = setting.effort
    sizes = itertools.product(range(effort.n_max + 1), range(1, effort.world_max + 1))
    for count, width in sorted(sizes, key=lambda pair: (sum(pair), pair)):
        for flags in flag_choices(setting):
            yield wrapped(Probe("Descending", count), [Iterate()], width, flags)
    for flags, (count, width) in itertools.product(flag_choices(setting), ROUNDED):
        yield wrapped(Probe("Descending", count), [Len(), Iterate()], width, flags)
    for flags in flag_choices(setting):
        yield wrapped(Probe("Descending", 20_003), [SetEpoch(2), *[Iterate()] * 3], 5, flags)
        yield wrapped(Probe("Descending", 70_001), [SetEpoch(3), Iterate()], 3, flags)
    for count, width in itertools.product((5, 8), (2, 3)):
        yield wrapped(Probe("Doubling", count), [SetEpoch(0), Len(), Iterate()], width, {})
        yield wrapped(Values(tuple(range(count, 0, -1))), [Iterate(), Iterate()], width, {})
    for count, width in itertools.product((0, 1, 5, 8, 150), (1, 2, 3, 4)):
        for flags in flag_choices(setting):
            yield wrapped(Probe("Unsized", count), [Iterate(), Iterate()], width, flags)
    yield from _strange(setting)
    yield from _resized(setting)


def _strange(setting: Setting) -> Iterator[Case]:
    """Inner items that come often, are very large, or are no indices at all."""
    often = (Probe("Doubling", 21), Values((7, 7, 0, 7, 3) * 5))
    odd = (Values(ODD), Values(ODD[::-1])) if setting.hands_over else ()
    for inner, width in itertools.product((*often, Values(BIG), *odd), (1, 2, 3, 4)):
        for flags in flag_choices(setting) if inner in often else [{}]:
            yield wrapped(inner, [SetEpoch(1), Iterate(), Iterate()], width, flags)


def _resized(setting: Setting) -> Iterator[Case]:
    """The inner passes have another number of items each time."""
    for count, width in itertools.product((5, 8, 150), (1, 2, 3, 4)):
        grown: Plan = [SetEpoch(1), Iterate(), Resize(count + 4), SetEpoch(1), Len(), Iterate()]
        plan = [*grown, Resize(count - 3), SetEpoch(1), Iterate(), SetEpoch(1), Iterate()]
        untold = [step for step in plan if not isinstance(step, SetEpoch)]
        epochs: Plan = [step for e in (0, 3, 1) for step in (SetEpoch(e), Len(), Iterate())]
        for flags in flag_choices(setting):
            yield wrapped(Probe("Descending", count), plan, width, flags)
            yield wrapped(Probe("Descending", count), untold, width, flags)
            yield wrapped(Probe("Growing", count), epochs, width, flags)


@st.composite
def _passes_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    count = draw(lengths(0, 70_000, around=width))
    kinds = [
        Probe("Descending", count), Probe("Doubling", count), Probe("Counting", count),
        Role("SequentialSampler", data_source=Data(count)),
        Role("RandomSampler", data_source=Data(max(1, count)), generator=Generator(count)),
    ]  # fmt: skip
    flags = draw(st.sampled_from(flag_choices(setting)))
    epochs = draw(st.lists(st.integers(0, 9), max_size=4 if count < 10_000 else 1))
    plan: Plan = [step for epoch in epochs for step in (SetEpoch(epoch), Iterate())]
    plan = plan or [Iterate()]
    return in_group(draw, draw(st.sampled_from(kinds)), plan, width, flags)


def _tiny(setting: Setting) -> Iterator[Case]:
    for width in (1, 2, 3, 4, 5):
        for count in range(2 * width + 1):
            yield wrapped(Probe("Counting", count), [Len(), Iterate(), Iterate()], width, {})


def _told(numbers: tuple[int, ...]) -> Plan:
    return [*(step for e in numbers for step in (SetEpoch(e), Iterate())), Inspect()]


def _epochs_small(setting: Setting) -> Iterator[Case]:
    for count, width in itertools.product((1, 5, 8, 1203), (1, 2, 3, 4, 5)):
        yield wrapped(Probe("Epoched", count), _told((0,)), width, {})
        yield wrapped(Probe("Epoched", count), _told((1, 3, 3, 0)), width, {})
        plan = [SetEpoch(4), SetEpoch(2), Iterate(), Iterate(), Inspect()]
        yield wrapped(Probe("Epoched", count), plan, width, {})
        alone = {"num_replicas": 1, "rank": 0}
        yield wrapped(
            Role(ROLE, sampler=Probe("Epoched", count), **alone), _told((2, 0)), width, {}
        )
    yield wrapped(Probe("Epoched", 5, 1), _told((1, 0)), 2, {})
    for width in (1, 2):
        yield wrapped(Probe("Delegating", 5), _told((1, 3, 0)), width, {})


@st.composite
def _epochs_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    width = draw(st.sampled_from(setting.world_sizes))
    inner = Probe("Epoched", draw(lengths(1, 3000, around=width)))
    told = tuple(draw(st.lists(st.integers(0, 50), min_size=1, max_size=5)))
    return in_group(draw, inner, _told(told), width, {})


def _agree_small(setting: Setting) -> Iterator[Case]:
    plans: list[Plan] = [[Iterate()], [SetEpoch(1), Iterate(), SetEpoch(2), Iterate()]]
    for inner, plan, width in itertools.product(_globally_random(12), plans, (2, 3, 4, 5)):
        yield wrapped(inner, plan, width, {}, ambient=setting.seed)
    late: list[Plan] = [[Iterate(), Iterate(), Iterate()], plans[1]]
    for plan, width in itertools.product(late, (2, 3)):
        yield wrapped(Probe("LateRandom", 12), plan, width, {}, ambient=setting.seed)
    for plan, width in itertools.product(plans, (2, 3)):
        yield wrapped(Probe("StepRandom", 12), plan, width, {}, ambient=setting.seed)


def _global_epochs(setting: Setting) -> Iterator[Case]:
    """More epochs than five bits tell apart, and some that are far from each other."""

    def told(count: int, width: int, epochs: Iterable[int]) -> Iterator[Case]:
        plan: Plan = [step for e in epochs for step in (SetEpoch(e), Iterate())]
        for inner in _globally_random(count):
            yield wrapped(inner, plan, width, unshuffled(setting), ambient=setting.seed)

    for count, width in ((20, 1), (41, 2)):
        yield from told(count, width, range(40))
        yield from told(count, width, NEAR_AND_FAR)
    for count, width in ((63, 4), (66, 4), (70, 3), (150, 5), (1201, 2), (20_003, 3), (70_001, 2)):
        yield from told(count, width, (0, 1, 2, 7))


@st.composite
def _agree_drawn(draw: st.DrawFn, setting: Setting) -> Case:
    """Real ranks, each with global states of its own."""
    width = draw(st.sampled_from([w for w in setting.world_sizes if w > 1]))
    count = draw(lengths(12, 3000, around=width))
    plan = [SetEpoch(draw(st.integers(0, 9))), Iterate(), Iterate()]
    return in_group(draw, draw(st.sampled_from(_globally_random(count))), plan, width, {})


def _some_agree(setting: Setting) -> st.SearchStrategy[Case] | None:
    return _agree_drawn(setting) if max(setting.world_sizes) > 1 else None


def _turning(setting: Setting) -> Iterator[Case]:
    for count, width in itertools.product((4, 7, 12, 150), (1, 2, 3, 4, 5)):
        plan: Plan = [SetEpoch(0), Iterate(), SetEpoch(0), Iterate(), Inspect()]
        yield wrapped(Probe("Turning", count), plan, width, unshuffled(setting))
        measured: Plan = [Len(), Iterate(), Len(), Iterate(), Len(), Inspect()]
        for kind in ("Turning", "Unsized"):
            yield wrapped(Probe(kind, count), measured, width, unshuffled(setting))
    broken: Plan = [Open("a"), Take("a"), Open("a"), Take("a"), Open("a"), Drain("a"), Iterate()]
    for count, width in itertools.product((7, 12), (1, 2, 3)):
        yield wrapped(Probe("Turning", count), broken, width, unshuffled(setting))


def _cuts(setting: Setting) -> list[dict[str, Any]]:
    """In order, padded and, if the wrapper takes that, dropped."""
    plain = unshuffled(setting)
    return [plain, {**plain, "drop_last": True}] if setting.accepts("drop_last") else [plain]


def _lying(setting: Setting) -> Iterator[Case]:
    for count, declared in ((6, 8), (6, 4), (0, 3), (3, 0), (7, 6), (7, 8), (101, 90)):
        for width, cut in itertools.product((1, 2, 3, 4, 5), _cuts(setting)):
            yield wrapped(Probe("Lying", count, declared), [Iterate()], width, cut)
    for width in (1, 2, 3):
        yield wrapped(Probe("Unsized", 7), [Iterate()], width, unshuffled(setting))
        for inner in (Probe("Unsized", 7), Probe("Lying", 7, 9), Probe("Lying", 7, 5)):
            plan: Plan = [Iterate(), Resize(12), Iterate(), Resize(4), Iterate()]
            yield wrapped(inner, plan, width, unshuffled(setting))


def _untouched(setting: Setting) -> Iterator[Case]:
    inner = Values((4, 2, 0, 3, 1, 9, 7))
    woven: Plan = [Open("a"), Open("b"), Take("a"), Take("b"), Drain("a"), Drain("b")]
    for width in (1, 2, 3, 4, 5, 7, 8):
        for flags in flag_choices(setting):
            yield wrapped(inner, [Arguments(), Iterate(), Iterate(), Arguments()], width, flags)
            yield wrapped(inner, [SetEpoch(1), Iterate(), *woven, Iterate()], width, flags)
            yield wrapped(
                Probe("Descending", 7), [Iterate(), Inner(), Iterate(), Inner()], width, flags
            )


def _whole_batches(setting: Setting) -> Iterator[Case]:
    counts = (1, 2, 3, 6, 7, 101)
    for count, width, first in itertools.product(counts, (1, 2, 3, 4, 5), PARTS):
        yield wrapped(Probe("Pairs", count, first), [Iterate(), Iterate()], width, {})


def _ranks_batches(setting: Setting) -> Iterator[Case]:
    """In real groups, whose ranks hash texts each in its own way."""
    for width in (w for w in setting.world_sizes if w in (2, 3)):
        yield wrapped(Probe("Pairs", 7), [Iterate(), Iterate()], width, {}).in_world("group")


def _twice(setting: Setting) -> Iterator[Case]:
    """Over as many ranks as before, over more, over fewer and over one."""
    ranks = ((2, 0), (2, 1), (3, 0), (4, 3), (64, 1))
    for (parts, rank), width in itertools.product(ranks, (2, 1, 3, 4)):
        own = {"num_replicas": parts, "rank": rank}
        yield wrapped(Role("DistributedSampler", dataset=Data(8), **own), [], width, {})
        yield wrapped(Role(ROLE, sampler=Probe("Descending", 8), **own), [], width, {})
        yield wrapped(Torch("DistributedSampler", dataset=Data(8), **own), [], width, {})


PASSES = Scenario("wrapped passes", _passes_small, lambda s: _passes_drawn(s))
TINY = Scenario("tiny inner passes", _tiny, in_groups(_tiny), share=0.2)
EPOCHS = Scenario("wrapped epochs", _epochs_small, lambda s: _epochs_drawn(s), share=0.3)
GLOBAL_EPOCHS = Scenario(
    "globally random epochs", _global_epochs, in_groups(_global_epochs), share=0.1
)
AGREE = Scenario("globally random inner", _agree_small, _some_agree)
TURNING = Scenario("turning inner", _turning, in_groups(_turning), share=0.2)
LYING = Scenario("lying inner", _lying, in_groups(_lying), share=0.2)
UNTOUCHED = Scenario("inner list", _untouched, in_groups(_untouched), share=0.2)
BATCHES = Scenario("inner batches", _whole_batches, in_groups(_whole_batches), share=0.2)
RANKS_BATCHES = Scenario("inner batches of ranks", _ranks_batches)
TWICE = Scenario("inner already distributed", _twice)
