"""Turn the recipes of a case into the objects that a candidate is given."""

from __future__ import annotations

import multiprocessing
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils.data

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
)
from conformance.roles import FIRST, RANKED
from conformance.worlds.probes import PROBES

NUMBERS = ("num_replicas", "rank")
"""What a process group tells; None stands for what is left out."""

READABLE = 1 << 24
"""Longer datasets have a length and no items: who reads them all would never end."""


class Dataset:
    """A map-style dataset whose item i is i, and whose length the plan can change."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        if self.n > READABLE:
            raise MemoryError(f"{self.n} items are too many to read one by one")
        if not 0 <= index < self.n:
            raise IndexError(index)
        return index


class Sized:
    """A dataset that has a length and no items, and what tells of other things by its names."""

    shape, size, n, num_samples = (2, 5), 10, 2, 2
    data = targets = labels = samples = (0, 1)

    def __init__(self, n: int) -> None:
        self.count = n

    def __len__(self) -> int:
        return self.count


class Endless(Sized):
    """A dataset that makes an item of any number: who iterates over it never comes to its end."""

    def __getitem__(self, index: int) -> int:
        return index


class Closed(Sized):
    """A dataset that is false, as a file that nobody has opened yet may be; its length is known."""

    def __bool__(self) -> bool:
        return False


def _items(n: int) -> Any:
    return Dataset(n)


SOURCE: dict[str, Callable[[int], Any]] = {
    "ndarray": lambda n: np.zeros((n, 3), dtype=np.uint8),
    "tensor": lambda n: torch.zeros(n, 3, dtype=torch.uint8),
    "subset": lambda n: torch.utils.data.Subset(_items(2 * n + 15), range(n + 5, 5, -1)),
    "concat": lambda n: torch.utils.data.ConcatDataset([_items(n // 2), _items(n - n // 2)]),
    "columns": lambda n: torch.utils.data.TensorDataset(torch.zeros(n, 3), torch.zeros(n)),
    "list": lambda n: list(range(n)),
    "sized": Sized,
    "endless": Endless,
    "closed": Closed,
}
"""What a dataset of n items may be, by the kind that `Data` names."""


class Backwards(list[Any]):
    """A list of the user's own, whose passes begin at its end."""

    def __iter__(self) -> Iterator[Any]:
        return reversed(self)


class Realiser:
    """Makes the objects of one rank and remembers those that the plan speaks of later."""

    def __init__(self, roles: dict[str, Any], rank: int, world_size: int, passed: bool) -> None:
        self.roles, self.rank, self.world_size, self.passed = roles, rank, world_size, passed
        self.datasets: list[Dataset] = []
        self.probes: list[Any] = []
        self.generators: list[torch.Generator] = []
        self.given: list[Any] = []
        self.first: Any = None
        self.held: dict[str, Any] = {}
        self.handed_over = 0

    def afresh(self) -> Realiser:
        """Another for the same rank, of whose objects the plan does not speak: it knows the
        generators of this one."""
        other = Realiser(self.roles, self.rank, self.world_size, self.passed)
        other.generators = [*self.generators]
        return other

    def role(self, name: str, arguments: dict[str, Any]) -> Any:
        """Construct a role of the candidate."""
        return self._built(self.roles[name], name, arguments)

    def _built(self, kind: Any, name: str, arguments: dict[str, Any]) -> Any:
        """Construct a class for a role: its first argument by position, the others by name."""
        left_out = {key for key in NUMBERS if arguments.get(key, 0) is None}
        values = {key: self.value(arguments[key]) for key in arguments if key not in left_out}
        if self.passed and name in RANKED:
            values = {**values, "num_replicas": self.world_size, "rank": self.rank} | {
                key: values[key] for key in NUMBERS if key in values
            }
        self.held = dict(values)
        self.first = values.pop(FIRST[name])
        self.handed_over = self.digest()
        return kind(self.first, **values)

    def value(self, recipe: Any) -> Any:
        """The object for a recipe; anything else stands for itself."""
        if isinstance(recipe, Recipe):
            return getattr(self, f"_{type(recipe).__name__.lower()}")(recipe)
        return recipe

    def _data(self, recipe: Data) -> Any:
        if recipe.kind:
            return SOURCE[recipe.kind](recipe.n)
        self.datasets.append(Dataset(recipe.n))
        return self.datasets[-1]

    def _values(self, recipe: Values) -> Any:
        made = _sequence(recipe.items, recipe.kind)
        self.given.append(made)
        return made

    def _sparse(self, recipe: Sparse) -> torch.Tensor:
        weights = torch.full((recipe.n,), recipe.rest, dtype=torch.float64)
        weights[list(recipe.ones)] = 1.0
        return weights

    def _generator(self, recipe: Generator) -> torch.Generator:
        if recipe.shared:
            return self.generators[0]
        seed = recipe.seed + self.rank * recipe.by_rank
        self.generators.append(torch.Generator().manual_seed(seed))
        return self.generators[-1]

    def _raw(self, recipe: Raw) -> Any:
        if recipe.kind == "tensor":
            return torch.tensor(recipe.value)
        if recipe.kind == "unsized":
            return (item for item in range(recipe.value))
        if recipe.kind == "context":
            return multiprocessing.get_context(recipe.value)
        return getattr(np, recipe.kind)(recipe.value)

    def _probe(self, recipe: Probe) -> Any:
        told = (recipe.what,) if recipe.what else ()
        self.probes.append(PROBES[recipe.name](recipe.count, recipe.at, *told))
        return self.probes[-1]

    def _role(self, recipe: Role) -> Any:
        return self.role(recipe.name, dict(recipe.arguments))

    def _torch(self, recipe: Torch) -> Any:
        kind = getattr(torch.utils.data, recipe.name)
        return self._built(kind, recipe.name, dict(recipe.arguments))

    def overwrite(self) -> None:
        """Overwrite, as their owner may, every mutable sequence that was handed over."""
        for given in self.given:
            if isinstance(given, list):
                given[:] = given[:1] * len(given)
            elif isinstance(given, (np.ndarray, torch.Tensor)) and len(given):
                given[:] = given[0]

    def lengthen(self, count: int) -> None:
        """Append to, or take away from, every list that was handed over."""
        for given in (one for one in self.given if isinstance(one, list)):
            given[len(given) + min(0, count) :] = given[:1] * count

    def digest(self) -> int:
        """A digest of every sequence that was handed over, its order and types included."""
        shown = [(type(g).__name__, g.tolist() if hasattr(g, "tolist") else g) for g in self.given]
        flags = [(g.flags.writeable, g.dtype) for g in self.given if isinstance(g, np.ndarray)]
        learned = [g.requires_grad for g in self.given if isinstance(g, torch.Tensor)]
        return zlib.crc32(repr((shown, flags, learned)).encode())


def refilled(held: Any, recipe: Any) -> Any:
    """The object that was handed over, overwritten in place; the recipe where it cannot be."""
    if isinstance(recipe, Data) and isinstance(held, Dataset):
        held.n = recipe.n
    elif isinstance(recipe, Probe) and hasattr(held, "count"):
        held.count = recipe.count
    elif isinstance(recipe, Values) and isinstance(held, (list, np.ndarray, torch.Tensor)):
        held[:] = _sequence(recipe.items, recipe.kind)
    else:
        return recipe
    return held


def _sequence(items: Sequence[Any], kind: str) -> Any:
    """`items` in the container that `kind` names."""
    items = list(items) if isinstance(items, Runs) else items
    if kind in ("list", "tuple"):
        return list(items) if kind == "list" else tuple(items)
    if kind == "backwards":
        return Backwards(items)
    if kind in ("concat", "subset"):
        return _composed([*items], kind)
    if kind.endswith(".tensor"):
        return (list if kind == "list.tensor" else tuple)(torch.tensor(items))
    if kind.startswith("list."):
        return list(np.array(items, dtype=kind.partition(".")[2]))
    if kind == "range":
        return items if isinstance(items, range) else range(len(items))
    if kind == "flipped":
        return np.array(items[::-1])[::-1]
    if kind.startswith("ndarray"):
        return np.array(items, dtype=kind.partition(".")[2] or None)
    if kind == "learned":
        return torch.tensor(items, dtype=torch.float64, requires_grad=True)
    if kind == "column":
        return (torch.tensor(items)[:, None] + torch.arange(2))[:, 0]
    return torch.tensor(items, dtype=None if kind == "tensor" else getattr(torch, kind))


def _composed(items: list[Any], kind: str) -> Any:
    """A dataset of torch's own that gives these items."""
    torchs: Any = torch.utils.data
    half, places = len(items) // 2, range(len(items), 0, -1)
    if kind == "subset":
        return torchs.Subset([None, *items[::-1]], places)
    return torchs.ConcatDataset([items[:half], items[half:]])
