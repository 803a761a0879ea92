"""How a case of `spec/wrapper.md` is put together: the wrapper around an inner sampler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import Operation
from conformance.recipes import Recipe
from conformance.scenarios import Setting

ROLE = "DistributedSamplerWrapper"
Plan = list[Operation]


def flag_choices(setting: Setting) -> list[dict[str, Any]]:
    """The optional arguments that the wrapper takes, each alone and both."""
    names = [name for name in ("shuffle", "drop_last") if setting.accepts(name)]
    made: list[dict[str, Any]] = [{}]
    for name in names:
        made += [{name: False}, {name: True}]
    return [*made, dict.fromkeys(names, True)] if len(names) == 2 else made


def wrapped(inner: Recipe, plan: Plan, width: int, flags: dict[str, Any], ambient: int = 0) -> Case:
    return Case(ROLE, {"sampler": inner, **flags}, plan, width, ambient=ambient)


def unshuffled(setting: Setting) -> dict[str, Any]:
    return {"shuffle": False} if setting.accepts("shuffle") else {}


def in_group(draw: st.DrawFn, inner: Recipe, plan: Plan, width: int, flags: dict[str, Any]) -> Case:
    return Case(
        ROLE, {"sampler": inner, **flags}, plan, width, world="group",
        passed=draw(st.booleans()), ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


def in_groups(small: Callable[[Setting], Iterator[Case]]) -> Any:
    """The small cases once more, in real groups, as far as there are groups of their size."""

    def drawn(setting: Setting) -> st.SearchStrategy[Case] | None:
        known = [case for case in small(setting) if case.world_size in setting.world_sizes]
        return st.builds(_grouped, st.sampled_from(known), st.booleans()) if known else None

    return drawn


def _grouped(case: Case, passed: bool) -> Case:
    arguments, plan = dict(case.arguments), case.plan
    return Case(ROLE, arguments, plan, case.world_size, "group", passed, case.ambient)
