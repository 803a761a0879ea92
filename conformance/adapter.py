"""An adapter: what presents somebody's class in a role, in a few lines.

    from conformance.adapter import Adapter

    def shards(dataset, num_replicas, rank):
        return TheirShards(list(dataset), f"{rank}/{num_replicas}")

    Shards = Adapter("DistributedSampler", shards, of=TheirShards)

and `--impl mymodule:Shards`. `build` is called as the role is constructed, with those of the role's
arguments that it names, by torch's names or any that `binding.py` knows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Adapter:
    """A class in a role.

    build: makes it, called with the role's arguments. of: the class itself, for its version; build
    if not given. set_epoch: called with what was built and the epoch; its own method if not given.
    indices: what an item stands for, an index (for batches a list of them); the item itself if not
    given. policies: what it declares. documented: for each policy the sentence of the class's own
    documentation that says so, and where it stands.

    The functions stand at the top level of a module, which uses nothing else of this suite:
    stand-alone reproductions copy them.
    """

    role: str
    build: Callable[..., Any]
    of: Any = None
    set_epoch: Callable[[Any, Any], None] | None = None
    indices: Callable[[Any], Any] | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    documented: Mapping[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> Any:
        """The class that is examined."""
        return self.of if self.of is not None else self.build

    def presented(self, made: Any) -> Any:
        """What was built, as the role has it."""
        return Presented(made, self) if self.set_epoch or self.indices else made


HOOKS = ("role", "build", "set_epoch", "indices")
"""What the module of a class may say in its `CONFORMANCE` for want of an adapter."""


def adapted(holder: Any, declared: Mapping[str, Any]) -> Any:
    """The class as an adapter, if its module declares hooks for it; else itself.

    Raises ValueError if they do not say which role it plays.
    """
    hooks = {name: declared[name] for name in HOOKS if name in declared}
    if isinstance(holder, Adapter) or not hooks:
        return holder
    if "role" not in hooks:
        raise ValueError(f"CONFORMANCE has the hook {next(iter(hooks))} and no role")
    return Adapter(**{"build": holder, **hooks}, of=holder)


_USED: dict[int, Adapter] = {}
"""Adapters that cannot be pickled, by identity: whether a sampler can be is another question."""


class Presented:
    """What an adapter's hooks make of a sampler."""

    def __init__(self, made: Any, adapter: Adapter) -> None:
        self.made, self.adapter = made, adapter

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.dumps(self.adapter)
        except Exception:  # a hook is a lambda
            _USED[id(self.adapter)] = self.adapter
            return _again, (self.made, id(self.adapter))
        return Presented, (self.made, self.adapter)

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[Any]:
        indices = self.adapter.indices
        return map(indices, self.made) if indices else iter(self.made)

    def set_epoch(self, epoch: Any) -> None:
        """As the hook says, or as the sampler itself does."""
        (self.adapter.set_epoch or type(self.made).set_epoch)(self.made, epoch)

    @property
    def sets_epoch(self) -> bool:
        return self.adapter.set_epoch is not None or hasattr(self.made, "set_epoch")


def _again(made: Any, adapter: int) -> Presented:
    """A copy in the process in which it was made."""
    return Presented(made, _USED[adapter])
