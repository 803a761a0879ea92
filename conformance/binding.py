"""Classes that nobody prepared: how they are given the arguments of a role.

A case names arguments as torch does. A class may call them otherwise (`aliases.py`), take some of
them through `**kwargs` of a base class, want the opposite of a flag, the length for the dataset, or
something that no role knows; here the one is turned into the other.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.adapter import Adapter
from conformance.aliases import (
    ALIASES,
    ARGUMENTS,
    BATCHED,
    DEFAULTS,
    FILLS,
    FIRSTS,
    OFFERED,
    OPPOSITES,
    RANKS,
    TOTALS,
    among,
    epoch_setter,
    parameters,
)  # fmt: skip
from conformance.copying import Copied, copied

FLAGS = ("shuffle", "drop_last")
"""Arguments that are given where the class's own default is not the role's."""

UNASKED = (("DistributedSamplerWrapper", "shuffle"),)
"""Of these, the ones that are not: `wrapper.order` speaks of what a class does unasked."""


@dataclass(frozen=True)
class Binding:
    """How a class is given the arguments of its role.

    first: the parameter that takes the role's first argument, "" if it is taken by position.
    names: argument -> parameter, where the names differ. opposites: the same for flags that mean
    the opposite. stated: what is always given: flags whose default is not the role's, and what must
    be given though the role has a default for it. filled: parameters that no case has, and that get
    a plain value. needs: what torch asks of the process group and this class is to be told. epoch:
    the method that sets the epoch, "" if there is none. total, batched: it takes the length for the
    dataset, batches for the inner sampler. ambient: it is not told its rank, and finds it through
    the process group. unseeded: it has no seed where none is given. copied: an adapter's code.
    """

    first: str = ""
    names: dict[str, str] = field(default_factory=dict)
    opposites: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    epoch: str = ""
    stated: dict[str, Any] = field(default_factory=dict)
    filled: tuple[str, ...] = ()
    total: bool = False
    batched: bool = False
    ambient: bool = False
    unseeded: bool = False
    copied: Copied | None = None

    @property
    def plain(self) -> bool:
        """Whether the class takes everything as torch does."""
        odd = self.first or self.renamed or self.needs or self.other_epoch or self.stated
        return not (odd or self.filled or self.total or self.batched or self.ambient)

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

    def given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the class is given for the arguments of its role, by its own names."""
        own = self.stated | arguments
        return {self.called(name): self.turned(name, value) for name, value in own.items()}

    def told(self) -> str:
        """How each argument is bound, where it is not by its own name."""
        found = [f"{name} -> {theirs}" for name, theirs in self.names.items()]
        found += [f"{name} -> not {theirs}" for name, theirs in self.opposites.items()]
        found += [f"the first argument -> {self.first}{self.form}"] if self.first else []
        found += [f"{name}={value} given always" for name, value in self.stated.items()]
        found += [f"{name} -> made up" for name in self.filled]
        found += ["the rank -> what the process group says"] if self.ambient else []
        found += [f"set_epoch -> {self.other_epoch}"] if self.other_epoch else []
        return ", ".join(found)

    @property
    def form(self) -> str:
        """In which form the class takes the role's first argument, if it is another one."""
        return ", its length" if self.total else ", batches of one" if self.batched else ""


@dataclass(frozen=True)
class Bound:
    """A class behind the constructor of its role."""

    kind: Any
    binding: Binding
    adapter: Adapter | None = None

    def __call__(self, first: Any, **arguments: Any) -> Any:
        binding = self.binding
        arguments |= {n: _ambient(n) for n in binding.needs if n not in arguments and _grouped()}
        given = binding.given(arguments)
        given |= {name: FILLS[name](_length(first)) for name in binding.filled}
        made = self._made(self._formed(first), given)
        if self.adapter:
            made = self.adapter.presented(made)
        if binding.other_epoch:
            made.set_epoch = getattr(made, binding.other_epoch)
        return made

    def _formed(self, first: Any) -> Any:
        if self.binding.batched:
            from torch.utils.data import BatchSampler

            return BatchSampler(first, 1, False)
        return len(first) if self.binding.total else first

    def _made(self, first: Any, given: dict[str, Any]) -> Any:
        if self.binding.first:
            return self.kind(**{self.binding.first: first}, **given)
        return self.kind(first, **given)


def _length(first: Any) -> int:
    try:
        return len(first)
    except TypeError:
        return 0


def _grouped() -> bool:
    from torch import distributed

    return distributed.is_available() and distributed.is_initialized()


def _ambient(name: str) -> int:
    """What the process group says: the world size or the rank."""
    from torch import distributed

    return distributed.get_world_size() if name == "num_replicas" else distributed.get_rank()


def single(batch: Any) -> Any:
    """The only item of a batch."""
    (index,) = batch
    return index


class UnboundError(ValueError):
    """A class wants an argument of which nothing is known."""


def bound(kind: Any, first: str, lenient: bool = False, role: str = "") -> Any:
    """The class itself if it takes a role's arguments as they are, else what turns them over.

    first: the name of the role's first argument, which cases give by position. lenient: bind it in
    any case; a class that is bound is asked for nothing that it does not take. role: the role, if
    its flags and its rank matter. Raises UnboundError where an argument must be given and nothing
    is known of it.
    """
    adapter = kind if isinstance(kind, Adapter) else None
    made = adapter.build if adapter else kind
    try:
        own = parameters(made)
    except (TypeError, ValueError):
        return made
    names = {
        name: theirs for name, others in ALIASES.items()
        if name not in own and (theirs := among(own, others))
    }  # fmt: skip
    opposites = {
        name: theirs for name, others in OPPOSITES.items()
        if name not in (*own, *names) and (theirs := among(own, others))
    }  # fmt: skip
    needs = tuple(
        name for name in RANKS
        if (taken := own.get(names.get(name, name))) and taken.default is not None
    )  # fmt: skip
    found = Binding(_place(own, first), names, opposites, needs, epoch_setter(made))
    if lenient:
        found = _completed(made, found, own, role)
    if adapter or found.batched:
        adapter = adapter or Adapter(role, made, of=made)
        if found.batched and adapter.indices is None:
            adapter = replace(adapter, indices=single)
        found = replace(found, copied=copied(adapter), epoch=_sets_epoch(adapter))
    return made if found.plain and not lenient else Bound(made, found, adapter)


def _sets_epoch(adapter: Adapter) -> str:
    return "set_epoch" if adapter.set_epoch else epoch_setter(adapter.subject)


def _completed(kind: Any, found: Binding, own: dict[str, inspect.Parameter], role: str) -> Binding:
    """What a class that nobody prepared is given beside what a case says."""
    theirs = found.first or next(iter(own), "")
    ranked = set(RANKS) <= set(ARGUMENTS.get(role, ()))
    return replace(
        found,
        stated=_stated(found, own, role, UNASKED if inspect.isclass(kind) else ()),
        filled=_filled(kind, found, theirs, role),
        total=theirs in TOTALS,
        batched=theirs == BATCHED,
        ambient=ranked and not any(found.called(name) in own for name in RANKS),
        unseeded=(seed := own.get(found.called("seed"))) is not None and seed.default is None,
    )  # fmt: skip


def _stated(
    found: Binding, own: dict[str, inspect.Parameter], role: str, unasked: tuple[Any, ...]
) -> dict[str, Any]:
    """What is given always: flags whose default is not the role's, and what has no default."""
    told = {}
    for name, value in DEFAULTS.get(role, {}).items():
        taken = own.get(found.called(name))
        if taken is None:
            continue
        flag = name in FLAGS and (role, name) not in unasked
        other = flag and found.turned(name, taken.default) is not value
        if taken.default is taken.empty or other:
            told[name] = value
    return told


def _filled(kind: Any, found: Binding, theirs: str, role: str) -> tuple[str, ...]:
    """The parameters that no case gives and that must be given.

    What a base class wants through `**kwargs` may be what the class itself gives it.
    """
    given = {theirs, *map(found.called, (*ALIASES, *OPPOSITES, *ARGUMENTS.get(role, ())))}
    asked = [
        p.name for p in inspect.signature(kind).parameters.values()
        if (p.default is p.empty or p.name in OFFERED) and p.name not in given
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]  # fmt: skip
    unknown = [name for name in asked if name not in FILLS]
    if unknown:
        raise UnboundError(f"its argument {unknown[0]} must be given, and nothing is known of it")
    return tuple(asked)


def _place(own: dict[str, inspect.Parameter], first: str) -> str:
    """The parameter for the first argument, where it is not the first one of the class."""
    theirs = among(own, FIRSTS.get(first, (first,)))
    positional = [
        p.name for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return "" if not theirs or positional[:1] == [theirs] else theirs
