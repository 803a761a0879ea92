"""A case: everything that decides a run, in one frozen value whose repr is valid Python."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.datasets import DATASETS, Mapped, Order, Stream
from conformance.loading import LOADING
from conformance.operations import OPERATIONS, Neighbour, Operation, Rebuild, Resize
from conformance.recipes import RECIPES, Data, Generator, Probe, Raw, Role, Sparse, Values

VOCABULARY: dict[str, Any] = {
    word.__name__: word for word in (*RECIPES, *DATASETS, *OPERATIONS, *LOADING)
}


@dataclass(frozen=True, init=False, repr=False)
class Case:
    """A role, its arguments, the plan, and the world it runs in.

    world_size: number of ranks. ambient: the seed from which each rank's global torch, numpy and
    random states are made, unlike its neighbours' unless `alike`. world: "group" (real processes
    in a process group), "simulated" (one process, ranks one after another) or "alone" (a process
    that serves this case only; two of them are the same program twice). passed: rank and
    world size are arguments; otherwise the candidate finds them through torch.distributed.
    """

    role: str
    arguments: tuple[tuple[str, Any], ...]
    plan: tuple[Operation, ...]
    world_size: int = 1
    world: str = "simulated"
    passed: bool = True
    ambient: int = 0
    alike: bool = False

    def __init__(
        self,
        role: str,
        arguments: Mapping[str, Any],
        plan: Iterable[Operation],
        world_size: int = 1,
        world: str = "simulated",
        passed: bool = True,
        ambient: int = 0,
        alike: bool = False,
    ) -> None:
        values = (role, tuple(arguments.items()), tuple(plan), world_size, world, passed)
        for name, value in zip(self.__dataclass_fields__, (*values, ambient, alike), strict=True):
            object.__setattr__(self, name, value)

    @functools.cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__dataclass_fields__))

    def __hash__(self) -> int:
        return self._hash

    def rank_seed(self, rank: int) -> int:
        """The seed of one rank's global states: unlike its neighbours' unless they are `alike`."""
        return (self.ambient * 1_000_003 + (0 if self.alike else rank + 1) * 7919) % 2**31

    def __reduce__(self) -> tuple[Any, ...]:
        fields = tuple(getattr(self, name) for name in self.__dataclass_fields__)
        return Case, (fields[0], dict(fields[1]), *fields[2:])

    def __repr__(self) -> str:
        options = "".join(
            f", {name}={getattr(self, name)!r}"
            for name, field in list(self.__dataclass_fields__.items())[3:]
            if getattr(self, name) != field.default
        )
        return f"Case({self.role!r}, {dict(self.arguments)!r}, {list(self.plan)!r}{options})"

    def with_plan(self, plan: Iterable[Operation]) -> Case:
        return self.changed(plan=tuple(plan))

    def changed(self, **changes: Any) -> Case:
        """The same case but for these fields."""
        merged = {name: getattr(self, name) for name in self.__dataclass_fields__} | changes
        return Case(**(merged | {"arguments": dict(merged["arguments"])}))

    def in_world(self, world: str) -> Case:
        """The same case elsewhere; a rank that is simulated is told its rank."""
        return self.changed(world=world, passed=self.passed or world != "group")

    def argument(self, name: str, default: Any = None) -> Any:
        """The argument `name` as the recipe it is, a `Raw` one by its value."""
        value = dict(self.arguments).get(name, default)
        return value.value if isinstance(value, Raw) else value

    def beside(self, step: Neighbour) -> dict[str, Any]:
        """The arguments of a second sampler: where ranks are told, of the last of one rank more."""
        told = {"num_replicas": self.world_size + 1, "rank": self.world_size}
        ranked = self.passed and self.role in ("DistributedSampler", "DistributedSamplerWrapper")
        return dict(self.arguments) | dict(step.overrides) | (told if ranked else {})

    def shared(self, step: Neighbour) -> list[str]:
        """The arguments of which a second sampler gets the very objects of the first."""
        others = dict(step.overrides)
        given = (name for name, value in self.arguments if isinstance(value, (Data, Values)))
        return [name for name in given if step.shared and name not in others]

    @functools.cached_property
    def limit(self) -> int:
        """The number of items after which a pass counts as endless: far above any right one."""
        given = [value for _, value in self.arguments]
        for step in self.plan:
            given += [value for _, value in step.overrides] if isinstance(step, Rebuild) else []
            given += [step.n] if isinstance(step, Resize) else []
        return 1000 + 2 * (self.world_size + sum(_size(value) for value in given))


def _size(value: Any) -> int:
    """How many items an argument can account for; an upper bound."""
    if isinstance(value, bool) or value is None or isinstance(value, (str, float, Generator)):
        return 0
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, (Data, Sparse, Mapped, Stream, Order)):
        return value.n
    if isinstance(value, Values):
        return len(value.items) * 2
    if isinstance(value, Probe):
        return max(value.count, value.at)
    if isinstance(value, Raw):
        return _size(value.value) if isinstance(value.value, int) else 0
    if isinstance(value, Role):
        return sum(_size(inner) for _, inner in value.arguments)
    return 0


def parse(text: str) -> Case:
    """Read a case back from its repr. Nothing but the suite's own constructors is called.

    Raises ValueError for anything else.
    """
    try:
        case = _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, KeyError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a case: {text!r} ({error})") from error
    if not isinstance(case, Case):
        raise ValueError(f"not a case: {text!r} (it gives {type(case).__name__})")
    return case


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        make = (VOCABULARY | {"Case": Case, "float": float, "range": range})[node.func.id]
        keywords = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
        return make(*(_value(argument) for argument in node.args), **keywords)
    if isinstance(node, (ast.Tuple, ast.List)):
        return type(ast.literal_eval("()" if isinstance(node, ast.Tuple) else "[]"))(
            _value(item) for item in node.elts
        )
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise ValueError("** is no part of a case")
        return {_value(k): _value(v) for k, v in zip(node.keys, node.values, strict=True) if k}
    if isinstance(node, ast.Name) and node.id in ("nan", "inf"):
        return float(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    return ast.literal_eval(node)
