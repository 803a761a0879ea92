"""A recipe as the expression that a person would write for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from conformance.aliases import FILLED
from conformance.binding import Binding
from conformance.datasets import Collate, Init, Mapped, Order, Stream
from conformance.loading import Reload, Tell
from conformance.operations import (
    Arguments,
    Forget,
    Globals,
    Inner,
    Inspect,
    Lengthen,
    Neighbour,
    Overwrite,
    Refill,
    Reseed,
    Resize,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import (
    Data,
    Generator,
    Probe,
    Raw,
    Recipe,
    Role,
    Runs,
    Sparse,
    Torch,
    Values,
)  # fmt: skip
from conformance.report.reproduction.datasets import mapped
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.functions import collate, init, order
from conformance.report.reproduction.kinds import of_kind
from conformance.report.reproduction.origin import stand_in
from conformance.report.reproduction.presenting import built, first_formed
from conformance.report.reproduction.probes import probe
from conformance.report.reproduction.streams import stream
from conformance.roles import FIRST, RANKED

LISTS = ("list", "backwards")

LONG = 1_000_000
"""A dataset that is resized to more items than this is no list."""


def expression(draft: Draft, recipe: Any, lines: list[str]) -> str:
    """The expression for a value; `lines` take what must stand before it.

    What the plan speaks of again is held in a variable.
    """
    if isinstance(recipe, Held):
        return str(recipe)
    make = _MAKERS.get(type(recipe))
    if make is None:
        return literal(recipe)
    text, kind = make(draft, recipe, lines), _KINDS.get(type(recipe), "")
    if isinstance(recipe, Role) and recipe.name in RANKED and draft.subject == "loader":
        kind = "order"
    shares = kind in SHARED and _shares(draft)
    if not shares and (not _again(draft, kind) or text.startswith("range(")):
        return text
    if text in draft.kept[kind]:
        return text
    name = hold(draft, kind, text, lines)
    if isinstance(recipe, Values) and recipe.kind not in ("tuple", "range"):
        draft.kept["lists" if recipe.kind in LISTS else "arrays"].append(name)
    return name


class Held(str):
    """The name of a variable that holds what is handed over again."""

    __slots__ = ()


def the_same(draft: Draft, name: str, recipe: Any) -> Any:
    """The variable that holds an argument; the recipe where there is none."""
    alike = [key for key, value in draft.case.arguments if type(value) is type(recipe)]
    held = draft.kept[_KINDS.get(type(recipe), "")]
    found = len(held) == len(alike) and name in alike
    return Held(held[alike.index(name)]) if found else recipe


def overwritten(draft: Draft, name: str, recipe: Any, lines: list[str]) -> Any:
    """The variable of an argument, which `lines` overwrite; the recipe where it cannot be."""
    variable = the_same(draft, name, recipe)
    if not isinstance(variable, Held):
        return recipe
    if isinstance(recipe, Probe):
        lines.append(f"{variable}.count = {recipe.count}")
    else:
        text = f"range({recipe.n})" if isinstance(recipe, Data) else _values(draft, recipe, lines)
        lines.append(f"{variable}[:] = {text}")
    return variable


def hold(draft: Draft, kind: str, text: str, lines: list[str]) -> str:
    """Put the value of an expression into a variable; returns its name."""
    number = len(draft.kept[kind])
    name = kind if not number else f"{kind}_{number + 1}"
    draft.kept[kind].append(name)
    lines.append(f"{name} = {text}")
    return name


def literal(value: Any) -> str:
    """The repr of a plain value, in which NaN and infinity are expressions too."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, (list, tuple)) and not isinstance(value, Recipe):
        inner = ", ".join(map(literal, value))
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{comma})"
    return repr(value)


def call(draft: Draft, role: str, arguments: dict[str, Any], lines: list[str]) -> str:
    """The construction of a role: its first argument by position, the others by name."""
    binding = draft.candidate.binding(role)
    arguments = {**binding.stated, **arguments}
    given = {name: binding.turned(name, recipe) for name, recipe in arguments.items()}
    values = {name: expression(draft, recipe, lines) for name, recipe in given.items()}
    if draft.case.passed and role in RANKED:
        told = {"num_replicas": repr(draft.case.world_size), "rank": draft.rank}
        values = {**values, **{name: text for name, text in told.items() if name not in values}}
    elif role in RANKED:
        values = {**_asked(draft, binding), **values}
    if role == "DataLoader" and "self.rank" in str(draft.classes.get("Data")):
        lines.append(f"Data.rank = {draft.rank}")
    first = values.pop(FIRST[role])
    formed = first_formed(draft, binding, first)
    words = [f"{binding.first}={formed}" if binding.first else formed]
    words += [f"{binding.called(name)}={text}" for name, text in values.items()]
    words += [f"{name}={FILLED[name].format(n=f'len({first})')}" for name in binding.filled]
    return built(draft, role, ", ".join(words))


def _asked(draft: Draft, binding: Binding) -> dict[str, str]:
    """What the class must be given and the process group says."""
    if binding.needs:
        draft.names["torch"].add("distributed")
    said = {"num_replicas": "distributed.get_world_size()", "rank": "distributed.get_rank()"}
    return {name: said[name] for name in binding.needs if draft.grouped}


def _data(draft: Draft, recipe: Data, lines: list[str]) -> str:
    if recipe.kind:
        return of_kind(draft, recipe)
    if not draft.has(Resize, Refill, Forget):
        return f"range({recipe.n})"
    sizes = [recipe.n, *(step.n for step in draft.case.plan if isinstance(step, Resize))]
    if max(sizes) <= LONG and not draft.has(Forget):  # of a list there are no weak references
        return f"list(range({recipe.n}))"
    body = ["class Data:", "    def __init__(self, n):", "        self.n = n"]
    body += ["    def __len__(self):", "        return self.n"]
    return f"{draft.define('Data', body)}({recipe.n})"


BACKWARDS = ["class Backwards(list):", "    def __iter__(self):", "        return reversed(self)"]


def _values(draft: Draft, recipe: Values, lines: list[str]) -> str:
    items, kind = recipe.items, recipe.kind
    whole = isinstance(items, range)
    if kind == "range":
        return repr(items if whole else range(len(items)))
    plain = _spelled(items)
    if kind.endswith(".tensor"):
        draft.need("torch")
        return f"{kind.partition('.')[0]}(torch.tensor({plain}))"
    if kind.startswith("list."):
        draft.need("numpy")
        return f"list(numpy.array({plain}, dtype={kind.partition('.')[2]!r}))"
    if kind in ("list", "tuple"):
        short = literal(tuple(items)) if isinstance(items, tuple) else f"tuple({plain})"
        return plain if kind == "list" else short
    if kind == "backwards":
        return f"{draft.define('Backwards', BACKWARDS)}({plain})"
    if kind in ("concat", "subset"):
        draft.need("torch.utils.data")
        half, torchs = len(items) // 2, "torch.utils.data"
        parts = f"[{_spelled(items[:half])}, {_spelled(items[half:])}]"
        longer = f"[None, *{plain}[::-1]], range({len(items)}, 0, -1)"
        made = f"ConcatDataset({parts})" if kind == "concat" else f"Subset({longer})"
        return f"{torchs}.{made}"
    if kind == "flipped":
        draft.need("numpy")
        return f"numpy.array({plain}[::-1])[::-1]"
    if kind.startswith("ndarray"):
        draft.need("numpy")
        dtype = kind.partition(".")[2]
        return f"numpy.array({plain}{f', dtype={dtype!r}' if dtype else ''})"
    draft.need("torch")
    if kind == "learned":
        return f"torch.tensor({plain}, dtype=torch.float64, requires_grad=True)"
    if kind == "column":
        return f"(torch.tensor({plain})[:, None] + torch.arange(2))[:, 0]"
    return f"torch.tensor({plain}{f', dtype=torch.{kind}' if kind != 'tensor' else ''})"


def _spelled(items: Any) -> str:
    """The list of some items."""
    if isinstance(items, range):
        return f"list({items!r})"
    if not isinstance(items, Runs):
        return literal(list(items))
    once = f"[value for value, count in {literal(items.runs)} for _ in range(count)]"
    return f"{once} * {items.times}" if items.times > 1 else once


def _sparse(draft: Draft, recipe: Sparse, lines: list[str]) -> str:
    draft.need("torch")
    rest = f"torch.full(({recipe.n},), {recipe.rest}, dtype=torch.float64)"
    return f"{rest}.index_fill(0, torch.tensor({list(recipe.ones)}, dtype=torch.int64), 1.0)"


def _generator(draft: Draft, recipe: Generator, lines: list[str]) -> str:
    draft.need("torch")
    if recipe.shared:
        return str(draft.kept["generator"][0])
    seed = f"{recipe.seed} + rank" if recipe.by_rank and draft.several else f"{recipe.seed}"
    return f"torch.Generator().manual_seed({seed})"


def _raw(draft: Draft, recipe: Raw, lines: list[str]) -> str:
    if recipe.kind == "unsized":
        return f"(item for item in range({recipe.value}))"
    if recipe.kind == "context":
        draft.need("multiprocessing")
        return f"multiprocessing.get_context({literal(recipe.value)})"
    module = "torch" if recipe.kind == "tensor" else "numpy"
    draft.need(module)
    return f"{module}.{recipe.kind}({literal(recipe.value)})"


def _probe(draft: Draft, recipe: Probe, lines: list[str]) -> str:
    return probe(draft, recipe)


def _role(draft: Draft, recipe: Role, lines: list[str]) -> str:
    return call(draft, recipe.name, dict(recipe.arguments), lines)


def _torch(draft: Draft, recipe: Torch, lines: list[str]) -> str:
    values = {name: expression(draft, value, lines) for name, value in recipe.arguments}
    first = values.pop(FIRST[recipe.name])
    words = [first, *(f"{name}={text}" for name, text in values.items())]
    return f"{stand_in(draft, recipe.name)}({', '.join(words)})"


_KINDS = {
    Data: "data", Values: "given", Generator: "generator", Probe: "probe", Mapped: "data",
    Stream: "data", Order: "order", Torch: "inner",
}  # fmt: skip

_WATCHED: dict[str, tuple[type, ...]] = {
    "data": (Resize, Tell, Refill, Forget, Reload), "order": (SetEpoch,),
    "given": (Overwrite, Lengthen, Arguments, Refill),
    "generator": (Globals, Neighbour, Reseed),
    "probe": (Inspect, Inner, Resize, Refill), "inner": (Inner,),
}  # fmt: skip


SHARED = ("data", "given")
"""What two samplers may have in common."""


def _shares(draft: Draft) -> bool:
    return any(isinstance(step, Neighbour) and step.shared for step in draft.case.plan)


def _again(draft: Draft, kind: str) -> bool:
    return kind in _WATCHED and draft.has(*_WATCHED[kind])


def _of(make: Callable[[Draft, Any], str]) -> Callable[[Draft, Any, list[str]], str]:
    return lambda draft, recipe, lines: make(draft, recipe)


_MAKERS: dict[type, Callable[[Draft, Any, list[str]], str]] = {
    Data: _data, Values: _values, Sparse: _sparse, Generator: _generator, Raw: _raw,
    Probe: _probe, Role: _role, Torch: _torch, Mapped: _of(mapped), Stream: _of(stream),
    Order: _of(order), Collate: _of(collate), Init: _of(init),
}  # fmt: skip
