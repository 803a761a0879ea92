"""Cases of loaders in which every two of their options meet, and each of them each plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import Drop, Journal, Settle
from conformance.operations import Drain, Iterate, Len, Open, Operation, SetEpoch, Take
from conformance.recipes import Generator
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.covering import Combination, covering
from conformance.scenarios.loading import ROLE, takes

PLANS: tuple[list[Operation], ...] = (
    [Len(), Iterate(), Iterate(), Journal()],
    [Open("a"), Take("a"), Drop("a"), Iterate(), Iterate(), Journal()],
    [Open("a"), Take("a"), Open("b"), Drain("b"), Drain("a"), Iterate(), Journal()],
    [SetEpoch(1), Iterate(), SetEpoch(3), Open("a"), Take("a"), SetEpoch(4), Drain("a"), Journal()],
)  # fmt: skip
"""Two passes; one that was left; one beside another; epochs that are set, one of them late."""

BESIDE, EPOCHS = 2, 3

SHARED: dict[str, Sequence[dict[str, Any]]] = {
    "workers": (
        {}, {"num_workers": 1}, {"num_workers": 2}, {"num_workers": 3, "prefetch_factor": 1},
        {"num_workers": 2, "prefetch_factor": 4},
    ),
    "kept": ({}, {"persistent_workers": True}),
    "timeout": ({}, {"timeout": 60}),
    "in_order": ({}, {"in_order": False}),
    "pin": ({}, {"pin_memory": True}),
    "init": ({}, {"worker_init_fn": Init()}),
    "generator": ({}, {"generator": Generator(3)}),
    "collate": ({}, {"collate_fn": Collate("list")}),
}  # fmt: skip
"""Options of every loader."""

MAPPED: dict[str, Sequence[dict[str, Any]]] = {
    "data": ({"dataset": Mapped(7)}, {"dataset": Mapped(8, gives="tensor")},
             {"dataset": Mapped(9, many="all")}),
    "cut": ({"batch_size": 2}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}, {}),
    "order": ({}, {"sampler": Order(7, "descending")}, {"sampler": Order(7, "epochs")},
              {"shuffle": True}, {"batch_sampler": Order(4, "batches")}),
    **SHARED,
}  # fmt: skip
"""Of the map-style ones; an order of batches has no cut."""

STREAMED: dict[str, Sequence[dict[str, Any]]] = {
    "data": ({"dataset": Stream(7)}, {"dataset": Stream(8, sized=True)},
             {"dataset": Stream(9, shard="skewed")}),
    "cut": ({"batch_size": 2}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}, {}),
    **SHARED,
}  # fmt: skip

WORKED: dict[str, Sequence[dict[str, Any]]] = {
    **SHARED,
    "workers": ({"num_workers": 2}, {"num_workers": 1, "prefetch_factor": 3}),
}
"""Options of a loader that has workers in any case."""

AHEAD: dict[str, Sequence[dict[str, Any]]] = {
    "data": ({"dataset": Mapped(24, gated=1), "sampler": Order(24)},), **WORKED,
}  # fmt: skip
"""Of loaders whose workers work ahead: the caller lets batches lie."""

BROKEN = Mapped(6, faults=tuple(Fault("item", at, "Same") for at in (1, 4)))

FAILING: dict[str, Sequence[dict[str, Any]]] = {
    "data": ({"dataset": BROKEN, "batch_size": None}, {"dataset": BROKEN}),
    **SHARED,
}
"""Of loaders over data of which two items cannot be had."""

LYING: list[Operation] = [
    Open("a"), Settle(), Take("a"), Settle(), Take("a", 2), Settle(), Drain("a"), Journal(),
]  # fmt: skip

WALK: list[Operation] = [Open("a"), *[Take("a")] * 6, Drain("a")]
"""Each `next` apart."""

NEED_WORKERS = ("kept", "timeout", "in_order")
"""What there is with workers only, or tells them apart."""


PLAIN, ROTATED, BATCHES = 3, 2, 4
"""The choices of no cut, of an order that the epoch rotates, and of batches."""


def _fits(chosen: Combination) -> bool:
    """Whether the choices go together; the first of each factor is to leave its option out."""
    ordered = chosen.get("order", 0) < BATCHES or chosen.get("cut", PLAIN) == PLAIN
    manned = chosen.get("workers", 1) > 0 or not any(chosen.get(name) for name in NEED_WORKERS)
    rotated = chosen.get("plan") != EPOCHS or chosen.get("order", ROTATED) == ROTATED
    single = chosen.get("plan") != BESIDE or not chosen.get("kept")
    return ordered and manned and rotated and single


def _cases(
    setting: Setting,
    factors: Mapping[str, Sequence[dict[str, Any]]],
    plans: Sequence[list[Operation]],
    most: int = 1,
) -> Iterator[Case]:
    """As far as the candidate takes the options; in groups of up to `most` ranks."""
    widths = [width for width in sorted({1, *setting.world_sizes}) if width <= most]

    def given(chosen: Combination) -> dict[str, Any]:
        ways = (factors[name][choice] for name, choice in chosen.items() if name in factors)
        return {name: value for way in ways for name, value in way.items()}

    def fits(chosen: Combination) -> bool:
        return _fits(chosen) and takes(setting, **given(chosen))

    for chosen in covering({**factors, "plan": plans, "width": widths}, fits):
        width = widths[chosen["width"]]
        world = "group" if width > 1 else "simulated"
        yield Case(ROLE, given(chosen), plans[chosen["plan"]], width, world=world)


MAPPED_PAIRS = Scenario("loader-pairs", lambda setting: _cases(setting, MAPPED, PLANS, 2))
STREAMED_PAIRS = Scenario(
    "stream-pairs", lambda setting: _cases(setting, STREAMED, PLANS[:EPOCHS], 2)
)
AHEAD_PAIRS = Scenario("ahead-pairs", lambda setting: _cases(setting, AHEAD, [LYING]))
FAILING_PAIRS = Scenario(
    "failing-pairs", lambda setting: _cases(setting, FAILING, [WALK, WALK * 2])
)
