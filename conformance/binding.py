"""Classes that nobody prepared: parameters are found by name, and the role by what a class takes.

A case names arguments as torch does. A class may call them otherwise, take some of them through
`**kwargs` of a base class, or want the opposite of a flag; here the one is turned into the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

ALIASES: dict[str, tuple[str, ...]] = {
    "num_replicas": ("num_replicas", "world_size", "num_processes", "dp_size", "num_shards",
                     "shard_count", "data_parallel_size"),
    "rank": ("rank", "process_index", "global_rank", "dp_rank", "shard_id", "shard_index",
             "data_parallel_rank"),
    "shuffle": ("shuffle", "batch_shuffle"),
    "seed": ("seed", "shuffle_seed", "data_seed", "random_seed"),
    "drop_last": ("drop_last", "drop_remainder"),
}  # fmt: skip
"""What published classes call the arguments that torch's samplers take by name."""

FIRSTS = {
    "dataset": ("dataset", "data_source", "iterable", "data"),
    "data_source": ("data_source", "dataset", "data"),
    "sampler": ("sampler", "base_sampler", "inner_sampler", "batch_sampler"),
}
"""What they call the argument that a role takes first; cases give it by position."""

OPPOSITES = {"drop_last": ("round_up", "even_divisible", "even_batches")}
"""Flags that mean the opposite of an argument."""

EPOCH_SETTERS = ("set_epoch", "reshuffle")
"""Methods that take the number of an epoch."""

RANKS = ("num_replicas", "rank")
"""What tells a sampler which rank it serves."""


def parameters(kind: Any) -> dict[str, inspect.Parameter]:
    """What a class or function can be given by name, `**kwargs` resolved up the class hierarchy.

    Raises ValueError or TypeError for one without a signature.
    """
    if not inspect.isclass(kind):
        return dict(inspect.signature(kind).parameters)
    found: dict[str, inspect.Parameter] = {}
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        own = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        found = {p.name: p for p in own if p.kind is not p.VAR_KEYWORD} | found
        if not any(p.kind is p.VAR_KEYWORD for p in own):
            break
    else:
        found |= {} if found else dict(inspect.signature(kind).parameters)
    return found


@dataclass(frozen=True)
class Binding:
    """How a class is given the arguments of its role.

    first: the parameter that takes the role's first argument, "" if it is taken by position.
    names: argument -> parameter, where the names differ. opposites: the same for flags that mean
    the opposite. needs: what torch asks of the process group and this class wants to be given.
    epoch: the method that sets the epoch, "" if there is none.
    """

    first: str = ""
    names: dict[str, str] = field(default_factory=dict)
    opposites: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    epoch: str = ""

    @property
    def plain(self) -> bool:
        """Whether the class takes everything as torch does."""
        return not (self.first or self.renamed or self.needs or self.other_epoch)

    @property
    def renamed(self) -> dict[str, str]:
        """Argument -> parameter, where they differ in name or in sense."""
        return {**self.names, **self.opposites}

    @property
    def other_epoch(self) -> str:
        """The method that sets the epoch, if it is called otherwise."""
        return "" if self.epoch == "set_epoch" else self.epoch

    def called(self, name: str) -> str:
        """What the class calls an argument."""
        return self.renamed.get(name, name)

    def turned(self, name: str, value: Any) -> Any:
        """What the class is given for the value of an argument: the opposite, if it wants that."""
        return not value if name in self.opposites and isinstance(value, bool) else value

    def told(self) -> str:
        """How each argument is bound, where it is not by its own name."""
        found = [f"{name} -> {theirs}" for name, theirs in self.names.items()]
        found += [f"{name} -> not {theirs}" for name, theirs in self.opposites.items()]
        found += [f"the first argument -> {self.first}"] if self.first else []
        found += [f"set_epoch -> {self.other_epoch}"] if self.other_epoch else []
        return ", ".join(found)


@dataclass(frozen=True)
class Bound:
    """A class behind the constructor of its role."""

    kind: Any
    binding: Binding

    def __call__(self, first: Any, **arguments: Any) -> Any:
        binding = self.binding
        arguments |= {n: _ambient(n) for n in binding.needs if n not in arguments and _grouped()}
        given = {binding.called(n): binding.turned(n, value) for n, value in arguments.items()}
        made = self._made(first, given)
        if binding.other_epoch:
            made.set_epoch = getattr(made, binding.other_epoch)
        return made

    def _made(self, first: Any, given: dict[str, Any]) -> Any:
        if self.binding.first:
            return self.kind(**{self.binding.first: first}, **given)
        return self.kind(first, **given)


def _grouped() -> bool:
    from torch import distributed

    return distributed.is_available() and distributed.is_initialized()


def _ambient(name: str) -> int:
    """What the process group says: the world size or the rank."""
    from torch import distributed

    return distributed.get_world_size() if name == "num_replicas" else distributed.get_rank()


def canonical(kind: Any) -> set[str]:
    """The arguments that a class takes, by torch's names."""
    try:
        own = set(parameters(kind))
    except (TypeError, ValueError):
        return set()
    tables = (FIRSTS, ALIASES, OPPOSITES)
    return own | {name for table in tables for name, others in table.items() if own & set(others)}


def bound(kind: Any, first: str, lenient: bool = False) -> Any:
    """The class itself if it takes a role's arguments as they are, else what turns them over.

    first: the name of the role's first argument, which cases give by position. lenient: bind it in
    any case; a class that is bound is asked for nothing that it does not take.
    """
    try:
        own = parameters(kind)
    except (TypeError, ValueError):
        return kind
    names = {
        name: theirs for name, others in ALIASES.items()
        if name not in own and (theirs := _among(own, others))
    }  # fmt: skip
    opposites = {
        name: theirs for name, others in OPPOSITES.items()
        if name not in (*own, *names) and (theirs := _among(own, others))
    }  # fmt: skip
    needs = tuple(
        name for name in RANKS
        if (taken := own.get(names.get(name, name))) and taken.default is taken.empty
    )  # fmt: skip
    found = Binding(_place(own, first), names, opposites, needs, _among(dir(kind), EPOCH_SETTERS))
    return kind if found.plain and not lenient else Bound(kind, found)


def _among(own: Container[str], others: tuple[str, ...]) -> str:
    return next((name for name in others if name in own), "")


def _place(own: dict[str, inspect.Parameter], first: str) -> str:
    """The parameter for the first argument, where it is not the first one of the class."""
    theirs = _among(own, FIRSTS.get(first, (first,)))
    positional = [
        p.name for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return "" if not theirs or positional[:1] == [theirs] else theirs


def takes_rank(kind: Any) -> bool:
    """Whether a class is told which rank it serves."""
    return canonical(kind).issuperset(RANKS)


def inferred(kind: Any) -> str:
    """The role of a class that neither its name nor a base class tells, "" if nothing does."""
    takes = canonical(kind)
    ranked = takes.issuperset(RANKS)
    if "sampler" in takes and "batch_size" in takes and not ranked:
        return "BatchSampler"
    if "sampler" in takes and ranked and "batch_sampler" not in takes:
        return "DistributedSamplerWrapper"
    if "dataset" in takes and (ranked or hasattr(kind, "set_epoch")):
        return "DistributedSampler"
    if "weights" in takes:
        return "WeightedRandomSampler"
    if "indices" in takes:
        return "SubsetRandomSampler"
    return ""
