"""Cases of `spec/sampler.md`: each scenario is a plan for every role, over its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.classes import size_of
from conformance.operations import (
    Arguments,
    Copy,
    Drain,
    Globals,
    Iterate,
    Len,
    Look,
    Open,
    Operation,
    Overwrite,
    Rebuild,
    Reseed,
    Resize,
    SetEpoch,
    Surround,
    Take,
)  # fmt: skip
from conformance.recipes import Data, Probe, Role, Values
from conformance.scenarios import Scenario, Setting, subjects
from conformance.scenarios.subjects import DRAWN, RANKED, SEEDED

Plan = list[Operation]
Made = dict[str, Any]

RAISED = (
    "RuntimeError", "KeyError", "ValueError", "AttributeError", "OSError", "StopAsyncIteration",
    "IndexError", "TypeError", "AssertionError", "NotImplementedError", "PlannedRuntime",
)  # fmt: skip
"""What an inner sampler may raise; each is taken for something else by somebody."""


def _widths(setting: Setting) -> tuple[int, ...]:
    """World sizes of small cases: ranks matter to some roles only."""
    return (1, 2, 3, 4, 5) if setting.role in RANKED else (1,)


def scenario(
    name: str, *plans: Callable[[Setting, Made], Plan | None], narrow: Any = None
) -> Scenario:
    """Plans for every role. `narrow` changes or drops (None) the arguments that they are for."""

    def adapt(setting: Setting, made: Made) -> list[tuple[Made, Plan]]:
        chosen = narrow(setting, made) if narrow else made
        found = [plan(setting, chosen) for plan in plans] if chosen is not None else []
        return [(chosen, steps) for steps in found if steps is not None]

    def small(setting: Setting) -> Iterator[Case]:
        for made in subjects.small(setting):
            for chosen, steps in adapt(setting, made):
                for width in _widths(setting):
                    yield Case(setting.role, chosen, steps, width, ambient=setting.seed)

    def drawn(setting: Setting) -> st.SearchStrategy[Case] | None:
        if not any(adapt(setting, made) for made in subjects.small(setting)):
            return None
        return _drawn(setting, adapt)

    return Scenario(name, small, drawn, share=0.3)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting, adapt: Any) -> Case:
    fit = subjects.drawn(setting).map(lambda made: adapt(setting, made)).filter(bool)
    found = draw(fit)
    arguments, plan = found[0] if len(found) == 1 else draw(st.sampled_from(found))
    return Case(
        setting.role, arguments, plan, draw(st.sampled_from(setting.world_sizes)), world="group",
        passed=draw(st.booleans()), ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


# Which arguments a plan is for.


def _private(setting: Setting, made: Made) -> Made | None:
    """Randomness fixed by the arguments."""
    made = subjects.with_generator(setting, made)
    return made if subjects.is_private(setting, made) else None


def _global(setting: Setting, made: Made) -> Made | None:
    return subjects.without_generator(made) if setting.role in DRAWN else None


def _moves(made: Made) -> bool:
    """Whether an inner sampler draws from a generator, which each pass moves on."""
    inner = made.get("sampler")
    return isinstance(inner, Role) and "generator" in dict(inner.arguments)


def _steady(setting: Setting, made: Made) -> Made | None:
    """Order a function of (arguments, seed, epoch): no generator that moves on."""
    moving = _moves(made)
    fixed = setting.role in (*SEEDED, "SequentialSampler", "BatchSampler")
    return made if fixed and not moving and subjects.is_private(setting, made) else None


# The plans.


def _at(setting: Setting, epoch: int) -> Plan:
    """set_epoch where the role has it by contract."""
    return [SetEpoch(epoch)] if subjects.has_epochs(setting) else []


def _tour(setting: Setting, made: Made) -> Plan:
    """What every training script does: len, epochs, passes, a pass broken off."""
    if setting.role == "DatasetFromSampler":
        return [Len(), Look(), Look()]
    first = [*_at(setting, 0), Len(), Iterate(), Open("a"), Take("a", 2)]
    return [*first, Len(), Iterate(), *_at(setting, 3), Len(), Iterate(), Drain("a")]


def _twice(setting: Setting, between: Plan, after: Plan | None = None) -> Plan:
    """Two constructions that must give the same passes; `between` happens in the second only.

    Both see the same global states: a sampler may draw its seed when it is constructed.
    """
    settled: Plan = [Reseed(5), Rebuild(), *_at(setting, 1)]
    passes: Plan = [Iterate(), Iterate()]
    second = [*settled, *between, *(after if after is not None else passes)]
    return [*settled, *passes, *second]


def _len_between(setting: Setting, made: Made) -> Plan:
    after: Plan = [Iterate(), Globals(), Len(), Globals(), Iterate()]
    return _twice(setting, [Globals(), Len(), Globals()], after)


def _idle_between(setting: Setting, made: Made) -> Plan:
    return _twice(setting, [Globals(), Open("idle"), Globals()])


def _restart(setting: Setting, made: Made) -> Plan:
    plan: Plan = [Iterate(), Open("a"), Take("a"), Iterate(), Open("b"), Iterate(), Drain("a")]
    given_up: Plan = [Take("c"), Open("c"), Take("c", max(1, size_of(made))), Iterate()]
    return [*_at(setting, 1), *plan, Drain("b"), Iterate(), Open("c"), *given_up]


WOVEN: Plan = [
    Open("a"), Open("b"), Take("a"), Take("b", 2), Take("a"), Take("b"), Drain("a"), Drain("b"),
]  # fmt: skip


def _interleaved(setting: Setting, made: Made) -> Plan:
    return [*_at(setting, 2), Iterate(), *WOVEN, Iterate()]


def _interleaved_draws(setting: Setting, made: Made) -> Plan | None:
    return _twice(setting, [], WOVEN) if setting.role in DRAWN else None


def _arguments_kept(setting: Setting, made: Made) -> Plan | None:
    held = any(isinstance(value, Values) for value in made.values())
    return [Arguments(), *_at(setting, 1), Iterate(), Iterate(), Arguments()] if held else None


def _listed(setting: Setting, made: Made) -> Made | None:
    """A plain list stands for the inner sampler or the dataset."""
    given = next((name for name in ("sampler", "dataset", "data_source") if name in made), "")
    return {**made, given: Values(range(size_of(made) - 1, -1, -1))} if given else made


def _aliased(setting: Setting, made: Made) -> Plan | None:
    roles = ("SubsetRandomSampler", "WeightedRandomSampler")
    copied = setting.role in roles or setting.role.endswith("ClassSampler")
    return _twice(setting, [Overwrite()]) if copied else None


def _owned(name: str, given: Values) -> Values:
    """The same in a container that can be overwritten; weights as torch would alias them."""
    kind = "list" if given.kind == "tuple" else given.kind
    return Values(given.items, "float64" if name == "weights" else kind)


def _mutable(setting: Setting, made: Made) -> Made | None:
    """Private randomness over sequences that their owner can and does change."""
    changed = {
        name: _owned(name, value) if isinstance(value, Values) else value
        for name, value in made.items()
    }
    differ = any(isinstance(v, Values) and len(set(v.items)) > 1 for v in changed.values())
    return _private(setting, changed) if differ else None


STEP_BY_STEP: Plan = [
    Globals(), Open("a"), Globals(), Take("a"), Globals(), Take("a", 2), Globals(), Open("a"),
    Globals(),
]  # fmt: skip
"""The states after `iter`, after each `next`, and once a pass was left."""


def _elsewhere(setting: Setting, made: Made) -> Plan:
    """The same under other global states; nothing global may change on the way."""
    whole: Plan = [*_at(setting, 1), Globals(), Iterate(), Globals(), Iterate()]
    second: Plan = [Reseed(77), Globals(), Rebuild(), Globals(), *whole]
    return [Reseed(3), Globals(), Rebuild(), Globals(), *whole, *STEP_BY_STEP, *second]


def _manual(setting: Setting, made: Made) -> Plan:
    """torch.manual_seed alone fixes a pass, whatever numpy and random do."""
    pair: Plan = [Reseed(3, "torch"), Globals(), Iterate(), Globals()]
    others: Plan = [Reseed(8, "numpy"), Reseed(9, "random")]
    return [*pair, *others, *pair, Reseed(4, "torch"), Iterate(), *STEP_BY_STEP]


def _anywhere(setting: Setting, made: Made) -> Plan:
    return [*_at(setting, 1), Iterate(), Rebuild(), Surround(), *_at(setting, 1), Iterate()]


def _same_shard(setting: Setting, made: Made) -> Made | None:
    """All ranks build one and the same shard."""
    found = _private(setting, made)
    if found is None or setting.role not in RANKED:
        return found
    return {**found, "num_replicas": 3, "rank": 1}


def _sizable(setting: Setting, made: Made) -> Made | None:
    """What the plan can resize: a dataset that is drawn whole, or what is behind a sampler."""
    if "num_samples" in made or made.get("replacement"):
        return None
    inner = made.get("sampler")
    if inner is not None:
        return made if isinstance(inner, Probe) or not _moves(made) else None
    sized = setting.role in ("SequentialSampler", "RandomSampler", "DistributedSampler")
    return made if sized and not made.get("drop_last") else None


def _other_size(made: Made) -> int:
    n = size_of(made)
    return n + 3 if n % 2 else max(0, n - 2)


def _resized(setting: Setting, made: Made) -> Plan:
    return [Iterate(), Resize(_other_size(made)), Len(), Iterate()]


def _resized_measured(setting: Setting, made: Made) -> Plan:
    """The length is asked before the change, and then, to another size, before and after it."""
    n = size_of(made)
    return [Len(), Resize(n + 5), Iterate(), Resize(_other_size(made)), Len(), Iterate(), Len()]


def _resized_unmeasured(setting: Setting, made: Made) -> Plan:
    """Nobody ever asks for the length; at last an iterator is under way and left behind."""
    n, other = size_of(made), _other_size(made)
    left: Plan = [Open("a"), Take("a"), Resize(n + 1), Iterate()]
    return [Resize(other), Iterate(), Resize(n), Iterate(), Resize(2 * n + 1), Iterate(), *left]


def _raising(setting: Setting, made: Made) -> Made | None:
    if "sampler" not in made or not isinstance(made["sampler"], Probe):
        return None
    count = made["sampler"].count
    return {**made, "sampler": Probe("Raising", count, count // 2)} if count else None


def _to_the_error(setting: Setting, made: Made) -> Plan:
    """To each error, and there again: nothing may be left of the first time.

    Only a batch sampler surely comes to the end of the inner pass, and to an error there.
    """
    again: Plan = [Look()] if setting.role == "DatasetFromSampler" else [Iterate()]
    count, at = made["sampler"].count, made["sampler"].at
    places = (at, 0, count) if setting.role == "BatchSampler" else (at, 0)
    plan = again * 2
    for number, what in enumerate(RAISED):
        probe = Probe("Raising", count, places[number % len(places)], what)
        plan += [Rebuild((("sampler", probe),)), *again * 2]
    return plan


def _copied(how: str) -> Callable[[Setting, Made], Plan]:
    def plan(setting: Setting, made: Made) -> Plan:
        return _twice(setting, [Copy(how)], [Iterate(), Copy(how), Iterate()])

    return plan


def _revisited(setting: Setting, made: Made) -> Plan:
    """Epochs out of order and again; one is set while an iterator is under way."""
    visits: Plan = [step for e in (2, 0, 2, 5) for step in (SetEpoch(e), Iterate())]
    middle: Plan = [Open("a"), Take("a"), SetEpoch(9), Drain("a"), SetEpoch(2), SetEpoch(2)]
    return [*visits, *middle, Iterate(), Rebuild(), SetEpoch(7), SetEpoch(2), Iterate()]


def _epochs_given_up(setting: Setting, made: Made) -> Plan:
    """A pass is left before an epoch is set: dropped, still under way, not begun, all but ended.

    Then the same epochs of samplers that were made afresh, and of one that was left before any.
    """
    dropped: Plan = [Open("a"), Take("a"), Open("a"), SetEpoch(3), Iterate()]
    under_way: Plan = [Open("b"), Take("b", 2), Open("c"), SetEpoch(5), Iterate()]
    almost: Plan = [Open("d"), Take("d", max(1, size_of(made))), Len(), SetEpoch(0), Iterate()]
    visits = [*dropped, *under_way, *almost, Take("b"), SetEpoch(3), Iterate()]
    afresh: Plan = [Rebuild(), SetEpoch(5), Iterate(), Rebuild(), SetEpoch(3), Iterate()]
    return [*visits, *afresh, Rebuild(), Open("e"), Take("e"), SetEpoch(0), Iterate()]


def _empty_small(setting: Setting) -> Iterator[Case]:
    made: dict[str, list[Made]] = {
        "SequentialSampler": [{"data_source": Data(0)}],
        "RandomSampler": [{"data_source": Data(0)}],
        "SubsetRandomSampler": [{"indices": Values(())}],
        "BatchSampler": [
            {"sampler": Probe("Counting", 0), "batch_size": 2, "drop_last": drop}
            for drop in (False, True)
        ],
        "DistributedSampler": [
            {"dataset": Data(0), "shuffle": s, "drop_last": d}
            for s in (False, True)
            for d in (False, True)
        ],
        "DistributedSamplerWrapper": [{"sampler": Probe("Counting", 0)}],
    }
    for arguments in made[setting.role]:
        for width in _widths(setting):
            yield Case(setting.role, arguments, [Len(), Iterate(), Iterate()], width)


TOUR = scenario("tour", _tour)
LEN_BETWEEN = scenario("len between", _len_between)
IDLE = scenario("idle iterator", _idle_between)
RESTART = scenario("restart", _restart)
INTERLEAVED = scenario("interleaved", _interleaved, narrow=_steady)
INTERLEAVED_DRAWS = scenario("interleaved draws", _interleaved_draws)
ARGUMENTS = scenario("arguments kept", _arguments_kept, narrow=_listed)
ALIASED = scenario("arguments overwritten", _aliased, narrow=_mutable)
ELSEWHERE = scenario("other global states", _elsewhere, narrow=_private)
MANUAL = scenario("manual seed", _manual, narrow=_global)
ANYWHERE = scenario("another process", _anywhere, narrow=_same_shard)
RESIZED = scenario("resized", _resized, _resized_measured, _resized_unmeasured, narrow=_sizable)
RAISING = scenario("raising", _to_the_error, narrow=_raising)
PICKLED = scenario("pickled", _copied("pickle"), narrow=_private)
DEEPCOPIED = scenario("deepcopied", _copied("deepcopy"), narrow=_private)
REVISITED = scenario(
    "epochs revisited", _revisited, _epochs_given_up,
    narrow=lambda s, m: _steady(s, m) if subjects.has_epochs(s) else None,
)  # fmt: skip
EMPTY = Scenario("empty", _empty_small)
