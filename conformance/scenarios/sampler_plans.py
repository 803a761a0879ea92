"""Plans of `spec/sampler.md`: what is done with any sampler that was built."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conformance.classes import size_of
from conformance.operations import (
    Arguments,
    Copy,
    Drain,
    Globals,
    Iterate,
    Len,
    Lengthen,
    Look,
    Open,
    Operation,
    Overwrite,
    Rebuild,
    Reseed,
    Resize,
    SetEpoch,
    Take,
)  # fmt: skip
from conformance.recipes import Probe, Runs, Values
from conformance.scenarios import Setting, subjects
from conformance.scenarios.besides import neighbour, sibling
from conformance.scenarios.subjects import DRAWN

Plan = list[Operation]
Made = dict[str, Any]


RAISED = (
    "RuntimeError", "KeyError", "ValueError", "AttributeError", "OSError", "StopAsyncIteration",
    "IndexError", "TypeError", "AssertionError", "NotImplementedError", "PlannedRuntime",
    "Leaked",
)  # fmt: skip
"""What an inner sampler may raise; each is taken for something else by somebody."""

TAKEN = ("TypeError", "AttributeError", "NotImplementedError", "RuntimeError")
"""Those that somebody takes for a lack of something: of a length, say."""


def at(setting: Setting, epoch: int) -> Plan:
    """set_epoch where the role has it by contract."""
    return [SetEpoch(epoch)] if subjects.has_epochs(setting) else []


def tour(setting: Setting, made: Made) -> Plan:
    """What every training script does: len, epochs, passes, a pass broken off."""
    if setting.role == "DatasetFromSampler":
        return [Len(), Look(), Look()]
    first = [*at(setting, 0), Len(), Iterate(), Open("a"), Take("a", 2)]
    beside: Plan = [neighbour(setting, made, 2), Len(), Iterate(), *at(setting, 3)]
    return [*first, Len(), *beside, Len(), Iterate(), Drain("a")]


def once(setting: Setting, made: Made) -> Plan:
    """A very long pass."""
    return [Len(), Iterate()]


def _twice(
    setting: Setting, between: Plan, after: Plan | None = None, both: Sequence[Operation] = ()
) -> Plan:
    """Two constructions that must give the same passes; `between` happens in the second only, what
    `both` says in both.

    Both see the same global states: a sampler may draw its seed when it is constructed.
    """
    settled: Plan = [Reseed(5), Rebuild(), *at(setting, 1), *both]
    passes: Plan = [Iterate(), Iterate()]
    second = [*settled, *between, *(after if after is not None else passes)]
    return [*settled, *passes, *second]


def len_between(setting: Setting, made: Made) -> Plan:
    after: Plan = [Iterate(), Globals(), Len(), Globals(), Iterate()]
    return _twice(setting, [Globals(), Len(), Globals()], after)


def idle_between(setting: Setting, made: Made) -> Plan:
    return _twice(setting, [Globals(), Open("idle"), Globals()])


def restart(setting: Setting, made: Made) -> Plan:
    plan: Plan = [Iterate(), Open("a"), Take("a"), Iterate(), Open("b"), Iterate(), Drain("a")]
    given_up: Plan = [Take("c"), Open("c"), Take("c", max(1, size_of(made))), Iterate()]
    beside: Plan = [Open("d"), Take("d"), neighbour(setting, made), Drain("d"), Iterate()]
    return [*at(setting, 1), *plan, Drain("b"), Iterate(), Open("c"), *given_up, *beside]


WOVEN: Plan = [
    Open("a"), Open("b"), Take("a"), Take("b", 2), Take("a"), Take("b"), Drain("a"), Drain("b"),
]  # fmt: skip


def interleaved(setting: Setting, made: Made) -> Plan:
    """Woven with another iterator; then beside another sampler, made before and under way; then
    beside one of the same data."""
    under_way: Plan = [Open("c"), Take("c"), neighbour(setting, made), Drain("c")]
    beside: Plan = [neighbour(setting, made, 1), Iterate(), *under_way]
    beside += [sibling(setting, made), Iterate()]
    return [*at(setting, 2), Iterate(), *WOVEN, Iterate(), *beside]


def woven_late(setting: Setting, made: Made) -> Plan:
    """Two very long passes, the second begun in the middle of the first; one is left after most.
    Then one that goes on while another is begun in another epoch."""
    part = max(1, size_of(made) // 3)
    woven: Plan = [Open("a"), Take("a", part), Open("b"), Take("b", 2 * part), Drain("a")]
    plan = [*at(setting, 2), Iterate(), *woven, Iterate()]
    other = at(setting, 3)
    later = [Open("c"), Take("c", part), *other, Open("d"), Take("d"), Drain("c")]
    return [*plan, *later] if other else plan


def interleaved_draws(setting: Setting, made: Made) -> Plan | None:
    return _twice(setting, [], WOVEN) if setting.role in DRAWN else None


def arguments_kept(setting: Setting, made: Made) -> Plan | None:
    held = any(isinstance(value, Values) for value in made.values())
    passes: Plan = [Arguments(), *at(setting, 1), Iterate(), Iterate(), Arguments()]
    again = [(Rebuild((found,)), *passes) for found in _in_place(made)]
    return [*passes, *itertools.chain.from_iterable(again)] if held else None


def _in_place(made: Made) -> Iterator[tuple[str, Values]]:
    """Sequences in containers that a sampler may shuffle, sort or scale where they lie."""
    for name, given in made.items():
        if not isinstance(given, Values) or isinstance(given.items, Runs) or not given.items:
            continue
        if name == "indices" or (name == "labels" and all(type(one) is int for one in given.items)):
            yield from ((name, Values(given.items, kind)) for kind in ("ndarray", "tensor"))
        elif name in ("weight", "weights"):
            for scale, kind in itertools.product((1e9, 1e-9), ("ndarray.float64", "float64")):
                yield name, Values(tuple(scale * float(one) for one in given.items), kind)


def aliased(setting: Setting, made: Made) -> Plan | None:
    roles = ("SubsetRandomSampler", "WeightedRandomSampler")
    copied = setting.role in roles or setting.role.endswith("ClassSampler")
    return _twice(setting, [Overwrite()]) if copied else None


def lengthened(setting: Setting, made: Made) -> Plan | None:
    """The caller goes on with the list that it has passed, and looks at the length meanwhile."""
    held = any(isinstance(value, Values) and value.kind == "list" for value in made.values())
    asked: Plan = [Len(), Iterate(), Len()]
    return [*asked, Lengthen(3), *asked, Lengthen(-4), *asked] if held else None


STEP_BY_STEP: Plan = [
    Globals(), Open("a"), Globals(), Take("a"), Globals(), Take("a", 2), Globals(), Open("a"),
    Globals(),
]  # fmt: skip
"""The states after `iter`, after each `next`, and once a pass was left."""


def elsewhere(setting: Setting, made: Made) -> Plan:
    """The same under other global states; nothing global may change on the way."""
    whole: Plan = [*at(setting, 1), Globals(), Iterate(), Globals(), Iterate()]
    second: Plan = [Reseed(77), Globals(), Rebuild(), Globals(), *whole]
    others: Plan = [Open("c"), Take("c"), Reseed(5), Globals(), Drain("c"), Globals()]
    return [Reseed(3), Globals(), Rebuild(), Globals(), *whole, *STEP_BY_STEP, *second, *others]


def manual(setting: Setting, made: Made) -> Plan:
    """torch.manual_seed alone fixes a pass, whatever numpy and random do."""
    pair: Plan = [Reseed(3, "torch"), Globals(), Iterate(), Globals()]
    others: Plan = [Reseed(8, "numpy"), Reseed(9, "random")]
    return [*pair, *others, *pair, Reseed(4, "torch"), Iterate(), *STEP_BY_STEP, *pair]


def often(setting: Setting, made: Made) -> Plan:
    """Two long passes alike, and no more: a slow sampler has to come to their end, too."""
    once: Plan = [Reseed(3, "torch"), Globals(), Rebuild(), *at(setting, 1), Globals()]
    return [*once, Iterate(), Globals(), Reseed(8, "numpy"), *once, Iterate(), Globals()]


def _other_size(made: Made) -> int:
    n = size_of(made)
    return n + 3 if n % 2 else max(0, n - 2)


def resized(setting: Setting, made: Made) -> Plan:
    return [Iterate(), Resize(_other_size(made)), Len(), Iterate()]


def resized_measured(setting: Setting, made: Made) -> Plan:
    """The length is asked before the change, and then, to another size, before and after it."""
    n = size_of(made)
    return [Len(), Resize(n + 5), Iterate(), Resize(_other_size(made)), Len(), Iterate(), Len()]


def resized_unmeasured(setting: Setting, made: Made) -> Plan:
    """Nobody ever asks for the length; an iterator is left behind, and one has ended already."""
    n, other = size_of(made), _other_size(made)
    left: Plan = [Open("a"), Take("a"), Resize(n + 1), Iterate()]
    ended: Plan = [Resize(n), Open("b"), Drain("b"), Resize(3 * n + 9), Take("b", 3)]
    half: Plan = [Resize(2 * n + 1), Iterate(), Resize((n + 1) // 2), Iterate()]
    return [Resize(other), Iterate(), Resize(n), Iterate(), *half, *left, *ended]


def resized_epochs(setting: Setting, made: Made) -> Plan | None:
    """The data change between a whole pass and the next epoch, before and after that is set."""
    if not subjects.has_epochs(setting):
        return None
    n, other = size_of(made), _other_size(made)
    before: Plan = [SetEpoch(0), Iterate(), Resize(other), SetEpoch(1), Len(), Iterate()]
    after: Plan = [SetEpoch(2), Resize(n + 1), Iterate()]
    return [*before, *after, Resize(2 * n + 1), SetEpoch(3), Iterate()]


def to_the_error(setting: Setting, made: Made) -> Plan:
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


def to_the_error_once(setting: Setting, made: Made) -> Plan:
    """To errors that would not come again, if somebody began anew."""
    once: Plan = [Look()] if setting.role == "DatasetFromSampler" else [Iterate()]
    count, at = made["sampler"].count, made["sampler"].at
    probes = [Probe("Faltering", count, at, what) for what in TAKEN]
    return [step for probe in probes for step in (Rebuild((("sampler", probe),)), *once)]


def globals_at_an_error(setting: Setting, made: Made) -> Plan:
    """The inner sampler raises, and what was borrowed meanwhile is put back nevertheless."""
    left: Plan = [Open("a"), Globals(), Take("a"), Globals()]
    return [Globals(), Iterate(), Globals(), Len(), Iterate(), Globals(), *left]


def globals_at_a_copy(setting: Setting, made: Made) -> Plan:
    """Copies are made and dropped, and the sampler that was copied goes on as before."""
    passes: Plan = [Globals(), Iterate(), Globals()]
    return [Iterate(), Copy("pickle", spare=True), *passes, Copy("deepcopy", spare=True), *passes]


def copied(how: str) -> Callable[[Setting, Made], Plan]:
    def plan(setting: Setting, made: Made) -> Plan:
        return _twice(setting, [Copy(how)], [Iterate(), Copy(how), Iterate()])

    return plan


def copied_midway(how: str) -> Callable[[Setting, Made], Plan]:
    """A pass is under way when the copy is made; the copy begins with a whole one, as it would."""

    def plan(setting: Setting, made: Made) -> Plan:
        return _twice(setting, [Copy(how)], both=[Open("a"), Take("a")])

    return plan


def resized_copied(how: str) -> Callable[[Setting, Made], Plan]:
    """The data change before the copy is made: it is one of the sampler as it is by then."""

    def plan(setting: Setting, made: Made) -> Plan:
        return _twice(setting, [Copy(how)], both=[Resize(_other_size(made))])

    return plan


def revisited(setting: Setting, made: Made) -> Plan:
    """Epochs out of order and again; one is set while an iterator, or two, are under way."""
    visits: Plan = [step for e in (2, 0, 2, 5) for step in (SetEpoch(e), Iterate())]
    middle: Plan = [Open("a"), Take("a"), SetEpoch(9), Drain("a"), SetEpoch(2), SetEpoch(2)]
    both: Plan = [Open("b"), Take("b"), SetEpoch(5), Open("c"), Take("c"), Drain("b"), Drain("c")]
    again: Plan = [SetEpoch(2), Iterate(), Rebuild(), SetEpoch(7), SetEpoch(2), Iterate()]
    beside: Plan = [neighbour(setting, made, 1), Iterate(), SetEpoch(5), Iterate()]
    return [*visits, *middle, Iterate(), *both, *again, SetEpoch(2), *beside]


def revisited_midway(setting: Setting, made: Made) -> Plan:
    """An epoch is set while a very long pass is under way, and after most of it."""
    early: Plan = [SetEpoch(2), Iterate(), Open("a"), Take("a"), SetEpoch(9), Drain("a")]
    late: Plan = [SetEpoch(2), Open("b"), Take("b", size_of(made) // 3), SetEpoch(5), Drain("b")]
    return [*early, *late]


def epochs_given_up(setting: Setting, made: Made) -> Plan:
    """A pass is left before an epoch is set: dropped, still under way, not begun, all but ended.

    Then the same epochs of samplers that were made afresh, and of one that was left before any.
    """
    dropped: Plan = [Open("a"), Take("a"), Open("a"), SetEpoch(3), Iterate()]
    under_way: Plan = [Open("b"), Take("b", 2), Open("c"), SetEpoch(5), Iterate()]
    almost: Plan = [Open("d"), Take("d", max(1, size_of(made))), Len(), SetEpoch(0), Iterate()]
    visits = [*dropped, *under_way, *almost, Take("b"), SetEpoch(3), Iterate()]
    afresh: Plan = [Rebuild(), SetEpoch(5), Iterate(), Rebuild(), SetEpoch(3), Iterate()]
    return [*visits, *afresh, Rebuild(), Open("e"), Take("e"), SetEpoch(0), Iterate()]
