"""Cases of `spec/loader.md`: the four modes, what a dataset lacks or does wrong, and options."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import Describe, Drop, Journal, Leave, Reload
from conformance.operations import (
    Drain,
    Iterate,
    Len,
    Open,
    Operation,
    SetEpoch,
    Take,
    Validate,
    Within,
)  # fmt: skip
from conformance.recipes import Generator, Probe, Role, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lengths import ROUNDED
from conformance.scenarios.loading import counted, loader, takes
from conformance.scenarios.refusals import HALF

PASS: list[Operation] = [Len(), Iterate(), Len(), Journal()]

PICKED = Values((4, 0, 4, 3))
"""A sampler that gives an index twice."""

WAYS: tuple[dict[str, Any], ...] = (
    {"batch_size": 2, "sampler": PICKED},
    {"batch_size": 3, "sampler": Order(5, "descending"), "drop_last": True},
    {"batch_size": None},
    {"batch_size": None, "sampler": PICKED},
    {"batch_sampler": Values(((5, 1), (2,), (0, 3, 4)))},
    {"batch_sampler": Order(3, "batches")},
    {"batch_sampler": Role("BatchSampler", sampler=PICKED, batch_size=3, drop_last=True)},
    {"batch_size": 4, "shuffle": True},
    {"batch_size": None, "shuffle": True},
    {"batch_size": 2, "collate_fn": Collate("sum")},
    {"batch_size": 4, "collate_fn": Collate("double")},
    {"batch_size": 2, "collate_fn": Collate("thin")},
    {"batch_size": 3, "collate_fn": Collate("thin tensor"), "drop_last": True},
    {"batch_size": None, "collate_fn": Collate("double")},
    {"batch_size": 3, "collate_fn": Collate("held")},
    {"batch_size": 2, "sampler": Probe("Sourced", 5)},
)
"""Ways to say which batches there are to be, over a dataset of six items."""


MORE: tuple[dict[str, Any], ...] = (
    {"num_workers": 2, "prefetch_factor": 1}, {"pin_memory": True},
    {"pin_memory": True, "num_workers": 1}, {"generator": Generator(3)}, {"shuffle": False},
    {"worker_init_fn": Init(), "num_workers": 1}, {"timeout": 30, "num_workers": 1},
)  # fmt: skip
"""Options that say nothing of the batches: nobody has a reason to look at an item for them."""

MANY = 5000
"""More indices in one batch than somebody may ask for at a time."""


def options_of(setting: Setting, ways: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those options that the candidate's constructor takes."""
    return (options for options in ways if takes(setting, **options))


def _modes(setting: Setting) -> Iterator[Case]:
    """Every small length and batch size; then the other ways; then both with workers."""
    sizes = range(min(setting.effort.n_max, 9))
    for n, size, drop in itertools.product(sizes, sizes, (False, True)):
        if 0 < size <= n + 1:
            yield loader(Mapped(n), PASS, batch_size=size, drop_last=drop)
    for (n, size), drop in itertools.product(ROUNDED, (False, True)):
        yield loader(Mapped(n), PASS, batch_size=size, drop_last=drop)
    for workers in range(4):
        for options in options_of(setting, ({**way, **counted(workers)} for way in WAYS)):
            yield loader(Mapped(6), PASS, **options)
    for n, size, drop in itertools.product((0, 1, 3, 4), (1, 2, 3), (False, True)):
        if takes(setting, num_workers=2):
            yield loader(Mapped(n), PASS, batch_size=size, drop_last=drop, num_workers=2)
    for options in options_of(setting, MORE):
        yield loader(Mapped(7), PASS, batch_size=2, **options)
    # What is asked for and what is answered are each more than a pipe holds.
    for options in options_of(setting, [{"num_workers": 1, "prefetch_factor": 4}]):
        yield loader(Mapped(8, gives="bulk"), PASS, sampler=Order(8, "long"), **options)
    yield loader(Mapped(5, gives="graded"), PASS, batch_size=2)
    yield loader(Stream(5, gives="graded"), PASS, batch_size=2)
    for options in options_of(setting, (counted(0), counted(2))):
        yield loader(Mapped(6, gives="through"), PASS, batch_size=2, **options)


def _again(setting: Setting) -> Iterator[Case]:
    """Passes that differ by the epoch, and a pass beside one that was broken off."""
    plan = [SetEpoch(1), Iterate(), SetEpoch(3), Iterate(), Iterate()]
    ways: tuple[dict[str, Any], ...] = (
        {}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True},
    )  # fmt: skip
    for options, size in itertools.product(options_of(setting, ways), (None, 2)):
        yield loader(Mapped(5), plan, sampler=Order(5, "epochs"), batch_size=size, **options)
    for options in options_of(setting, ways):
        broken = [Open("a"), Take("a"), Drop("a"), Iterate(), Iterate()]
        yield loader(Mapped(5), broken, batch_size=2, **options)
    for options in options_of(setting, ways):
        left: list[Operation] = [Open("a"), Take("a"), Leave(), Take("a"), Drain("a")]
        yield loader(Mapped(24), left, batch_size=2, **options)
    amid = Order(6, faults=(Fault("sampler", 3, "OSError"),))
    for options in options_of(setting, ({}, {"drop_last": True})):
        yield loader(Mapped(6), [Iterate(), Iterate()], sampler=amid, batch_size=2, **options)
    for options in options_of(setting, ways):
        validated: list[Operation] = [Validate(), Iterate(), Validate(), Iterate()]
        yield loader(Mapped(5), validated, batch_size=2, shuffle=True, **options)
    for options in options_of(setting, ways):
        within: list[Operation] = [Within("loop"), Iterate(), Within("autocast"), Within("loop")]
        yield loader(Mapped(5), within, batch_size=2, **options)
    yield from map(_over_one_dataset, options_of(setting, ways))


def _over_one_dataset(options: dict[str, Any]) -> Case:
    """Loaders of other options over one dataset: one after the other, and one beside the other."""
    others: tuple[dict[str, Any], ...] = (
        {"collate_fn": Collate("double")}, {"sampler": Order(5, "descending")}, {"batch_size": 3},
    )  # fmt: skip
    plan: list[Operation] = [Iterate()]
    for beside, other in itertools.product((False, True), others):
        plan += [Reload(tuple(other.items()), beside=beside), Iterate()]
    return loader(Mapped(5), [*plan, Iterate()], batch_size=2, **options)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting) -> Case:
    n, workers = draw(st.integers(0, 40)), draw(st.integers(0, 3))
    options = counted(workers)
    if workers and draw(st.booleans()):
        options["prefetch_factor"] = draw(st.integers(1, 4))
    places = st.lists(st.integers(0, max(0, n - 1)), max_size=12 if n else 0)
    kind = draw(st.sampled_from(("size", "size", "off", "sampler", "batches")))
    if kind == "batches":
        drawn = draw(st.lists(st.lists(st.integers(0, max(0, n - 1)), min_size=1, max_size=5)))
        options["batch_sampler"] = Values(tuple(map(tuple, drawn if n else ())))
        return loader(Mapped(n), PASS, **options)
    if kind == "sampler":
        options["sampler"] = Values(tuple(draw(places)))
    options["batch_size"] = None if kind == "off" else draw(st.integers(1, n + 2))
    if kind != "off" and draw(st.booleans()):
        options["drop_last"] = True
    return loader(Mapped(n), PASS, **options)


def _collations(setting: Setting) -> Iterator[Case]:
    """One case for each kind of item; those with structure with a worker as well."""
    kinds = (
        "number", "tensor", "float", "flag", "mingled", "blended", "array", "scalar", "text",
        "bytes", "dict", "ordered", "counter", "tuple", "list", "named", "nested", "foreign",
        "none",
    )  # fmt: skip
    for gives in kinds:
        yield loader(Mapped(3, gives=gives), [Iterate(), Describe()], batch_size=2)
    for gives, size in itertools.product(
        ("ordered", "counter", "nested", "list", "tensor"), (1, 2)
    ):
        plan = [Iterate(), Describe(), Iterate(), Describe()]
        yield loader(Mapped(2, gives=gives, kept=True), plan, batch_size=size)
    for gives in ("ordered", "named", "nested"):
        if takes(setting, num_workers=2):
            data = Mapped(3, gives=gives)
            yield loader(data, [Iterate(), Describe()], batch_size=2, num_workers=2)
    for gives in ("turned", "ragged", "mapping", "disk", "span", "struct", "record"):
        yield loader(Mapped(3, gives=gives), [Iterate(), Describe()], batch_size=2)
    yield loader(Mapped(3, gives="bulging"), [Iterate(), Describe()], batch_size=3)
    yield loader(Mapped(3, gives="complex"), [Iterate(), Describe()], batch_size=2)
    yield loader(Mapped(2, gives="stretched"), [Iterate(), Describe()], batch_size=2)


def _posing(setting: Setting) -> Iterator[Case]:
    """Datasets that derive from what a loader may know, and have a `__getitem__` of their own."""
    ways: tuple[dict[str, Any], ...] = ({"batch_size": 2}, {"batch_size": None})
    for poses, way in itertools.product(("tensors", "list"), ways):
        for workers in options_of(setting, ({}, {"num_workers": 2})):
            yield loader(Mapped(5, poses=poses), [Len(), Iterate()], **way, **workers)
    for way in ways:
        yield loader(Mapped(5, poses="subset"), [Len(), Iterate()], **way)


def _unsized(setting: Setting) -> Iterator[Case]:
    """A dataset without a length: with a sampler of its own, and without."""
    data = Mapped(5, sized=False)
    own = (way for way in WAYS if "sampler" in way or way.get("batch_sampler") == Order(3))
    kept: dict[str, Any] = {"num_workers": 1, "persistent_workers": True}
    for way in options_of(setting, (*own, {"batch_sampler": Values(((4, 1), (2,)))})):
        for workers in options_of(setting, ({}, {"num_workers": 2}, kept)):
            yield loader(data, [Iterate()], **way, **workers)
    for options in ({}, {"batch_size": 2}, {"batch_size": None}, {"shuffle": True}):
        yield loader(data, [Len(), Iterate()], **options)
        yield loader(data, [Iterate()], **options)


def _empty(setting: Setting) -> Iterator[Case]:
    plan = [Len(), Iterate(), Iterate()]
    ways: tuple[dict[str, Any], ...] = (
        {}, {"batch_size": 3}, {"batch_size": None}, {"batch_size": 2, "drop_last": True},
        {"num_workers": 2}, {"shuffle": True}, {"shuffle": True, "num_workers": 2},
    )  # fmt: skip
    for options in options_of(setting, ways):
        yield loader(Mapped(0), plan, **options)


def _getitems(setting: Setting) -> Iterator[Case]:
    """A dataset that gives several items at once: as many as asked, fewer, more, or declines."""
    ways: tuple[dict[str, Any], ...] = (
        {"batch_size": 3}, {"batch_size": 2, "sampler": Order(5, "descending")}, {},
        {"batch_sampler": Order(3, "batches")}, {"batch_size": 2, "num_workers": 2},
        {"batch_size": 2, "drop_last": True}, {"batch_sampler": Values(((5, 1), (2,), (0, 3, 4)))},
    )  # fmt: skip
    given = ("all", "fewer", "more", "none")
    for options, many in itertools.product(options_of(setting, ways), given):
        if many == "all" or options:
            yield loader(Mapped(6, many=many), [Iterate(), Journal()], **options)
    for n in (300, MANY):
        yield loader(Mapped(n, many="all"), [Iterate(), Journal()], batch_size=n)
    turned = {"sampler": Values((4, 0, 2, 5, 1, 3)), "batch_size": 3}
    for options in options_of(setting, (turned, {**turned, "num_workers": 1})):
        yield loader(Mapped(6, many="all"), [Iterate(), Journal()], **options)
    for many in ("held", "delegated", "lazy"):
        yield loader(Mapped(5, many=many), [Iterate(), Journal()], batch_size=2)
    doubled = {"sampler": Values((4, 4, 0, 4, 1, 1)), "batch_size": 3}
    for options in options_of(setting, (doubled, {**doubled, "num_workers": 1})):
        yield loader(Mapped(6, many="all"), [Iterate(), Journal()], **options)
    for options in options_of(setting, (doubled, {**doubled, "num_workers": 1})):
        listed = {**options, "collate_fn": Collate("list")}
        yield loader(Mapped(6, gives="dice", many="all"), [Iterate(), Describe()], **listed)
    apart = {"sampler": Order(4, "lists"), "batch_size": None}
    for options in options_of(setting, (apart, {**apart, "num_workers": 1})):
        yield loader(Mapped(4, many="all"), [Iterate(), Journal()], **options)


def _long(setting: Setting) -> Iterator[Case]:
    """More batches in a pass than twelve bits can count."""
    options: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
    if takes(setting, **options):
        yield loader(Mapped(4500), [Iterate(), Iterate()], **options)


def _refused() -> Iterator[dict[str, Any]]:
    """Options that contradict each other, or are out of range."""
    order, batches, nothing = Values((0, 1)), Values(((0, 1), (2,))), Values(())
    yield from ({"sampler": given, "shuffle": True} for given in (order, nothing))
    yield from ({"sampler": one, "batch_sampler": nothing} for one in (order, nothing))
    yield {"batch_sampler": nothing, "shuffle": True}
    beside: tuple[dict[str, Any], ...] = (
        {"sampler": order}, {"sampler": nothing}, {"shuffle": True}, {"drop_last": True},
        {"batch_size": 2}, {"batch_size": None},
    )  # fmt: skip
    yield from ({"batch_sampler": batches, **other} for other in beside)
    yield {"batch_size": None, "drop_last": True}
    yield from ({"batch_size": size} for size in (0, -1, 2.0, "2", True, False, HALF))
    yield from ({"num_workers": count} for count in (-1, 2.0, "2", True, HALF))
    yield from ({"num_workers": 1, "prefetch_factor": factor} for factor in (0, -1))
    alone: dict[str, Any] = {
        "prefetch_factor": 2, "persistent_workers": True, "timeout": 1,
        "multiprocessing_context": "spawn",
    }  # fmt: skip
    yield from ({name: value} for name, value in alone.items())
    yield {"timeout": 0.5}
    yield from ({"num_workers": count, "timeout": -1} for count in (0, 1))
    yield {"num_workers": 1, "timeout": -0.5}
    yield {"num_workers": 1, "multiprocessing_context": "no-such-method"}
    yield {"sampler": Role("BatchSampler", sampler=order, batch_size=2, drop_last=False)}
    yield {"sampler": Probe("Bucketed", 2)}
    yield {"num_workers": 1, "multiprocessing_context": 5}


def _refusals(setting: Setting) -> Iterator[Case]:
    for options in _refused():
        yield loader(Mapped(4), [], **options)
    sampling: tuple[dict[str, Any], ...] = (
        {"shuffle": True}, {"sampler": Values((0, 1))}, {"batch_sampler": Values(((0, 1), (2,)))},
        {"sampler": Values(())}, {"batch_sampler": Values(())},
        {"batch_size": None, "drop_last": True},
    )  # fmt: skip
    for options in sampling:
        yield loader(Stream(4), [], **options)


def _in_groups(setting: Setting) -> Iterator[Case]:
    """A loader divides nothing among ranks, and evens nothing out: that is a sampler's business."""
    for workers in (0, 2) if 2 in setting.world_sizes else ():
        options = {"batch_size": 3, **counted(workers)}
        if takes(setting, **options):
            arguments = {"dataset": Mapped(7), **options}
            yield Case("DataLoader", arguments, [Iterate()] * 2, 2, world="group")


MODES = Scenario("loader-modes", _modes, lambda s: _drawn(s), share=0.4)
AGAIN = Scenario("loader-again", _again)
COLLATIONS = Scenario("loader-collations", _collations)
POSING = Scenario("loader-posing", _posing)
UNSIZED = Scenario("loader-unsized", _unsized)
EMPTY = Scenario("loader-empty", _empty)
GETITEMS = Scenario("loader-getitems", _getitems)
LONG = Scenario("loader-long", _long)
REFUSALS = Scenario("loader-refusals", _refusals)
GROUPED = Scenario("loader-groups", _in_groups)
