"""What a case builds its candidate from: small frozen values that print as valid Python.

A case travels between processes, is printed in a failure and typed back on a command line, so it
may not hold live objects. It holds recipes; a rank turns them into objects (`worlds/realise.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any


class Recipe:
    """Base of all recipes; its repr leaves out fields that have their default value."""

    def __repr__(self) -> str:
        shown = [
            repr(getattr(self, f.name)) if index == 0 else f"{f.name}={getattr(self, f.name)!r}"
            for index, f in enumerate(fields(self))  # type: ignore[arg-type]
            if index == 0 or getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, repr=False)
class Data(Recipe):
    """A map-style dataset of `n` items, item i being i; its length can be changed by the plan.

    `kind` says what it is instead, if anything: one of `SOURCES`, of a length that stays.
    """

    n: int
    kind: str = ""


SOURCES = ("ndarray", "tensor", "subset", "concat", "columns", "list", "sized", "endless", "closed")
"""Other datasets: n rows of an array or tensor, `torch.utils.data.Subset` of a longer one, a
`ConcatDataset` of two, a `TensorDataset`, a list, one that has a length and no items, one that
makes an item of any number, one that is false though it has items; the last three have attributes
that tell of other things."""


@dataclass(frozen=True, repr=False)
class Runs(Recipe, Sequence[Any]):
    """Many values in few words: each of `runs` is a value and how often it comes in a row.

    The whole comes `times` times over. Stands for the items of `Values`, as a `range` does.
    """

    runs: tuple[tuple[Any, int], ...]
    times: int = 1

    def __len__(self) -> int:
        return self.times * sum(count for _, count in self.runs)

    def __iter__(self) -> Iterator[Any]:
        once = [value for value, count in self.runs for _ in range(count)]
        return iter(once * self.times)

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]


@dataclass(frozen=True, repr=False)
class Values(Recipe):
    """A sequence given by the caller: weights, indices or labels.

    `items` may be a `range` or `Runs`: many values in few words. `kind` says how it is handed
    over: list, list.int64 (of numbers of numpy, any dtype), list.tensor and tuple.tensor (of
    tensors without dimensions), tuple, range, ndarray, ndarray.float32 (any dtype), flipped (an
    ndarray that is a view of another one from its end), tensor, float32 (a tensor of any dtype),
    learned (one of float64, of which gradients are wanted), column (a tensor that is the first
    column of a table of two), backwards (a list of a class of its own, whose passes begin at its
    end); as a dataset, concat and subset (torch's own, of two lists and of a longer one).
    """

    items: tuple[Any, ...] | range | Runs
    kind: str = "list"


@dataclass(frozen=True, repr=False)
class Sparse(Recipe):
    """`n` weights (float64 tensor) that are `rest` but for `ones`; large lengths in few words."""

    n: int
    ones: tuple[int, ...] = ()
    rest: float = 0.0


@dataclass(frozen=True, repr=False)
class Generator(Recipe):
    """A `torch.Generator` seeded with `seed`, or with `seed + rank` if `by_rank`.

    shared: of a second sampler, the very generator of the first, as it is.
    """

    seed: int
    by_rank: bool = False
    shared: bool = False


@dataclass(frozen=True, repr=False)
class Raw(Recipe):
    """A value handed over by name where its type is the point, e.g. `numpy.int64` of 3.

    kind: a type of numpy, "tensor", "unsized" (a generator of so many items), "context" (of
    `multiprocessing`, for the start method of that name).
    """

    value: Any
    kind: str = "int64"


EPOCHED = ("Epoched", "Delegating")
"""The probes that are told an epoch, and remember each."""

PARTS = {0: ((0,), (1, 2), (3, 4, 5)), 2: ((0, 1, 2), (3,), (4, 5))}
"""The first three batches of uneven ones, by how the sizes begin; the next hold the next six."""


def part(place: int, first: int = 0) -> list[int]:
    """Batch number `place` of uneven ones: of 1, 2, 3, 1, ... or, with 2, of 3, 1, 2, 3, ..."""
    return [6 * (place // 3) + index for index in PARTS[first][place % 3]]


@dataclass(frozen=True, repr=False)
class Probe(Recipe):
    """An inner sampler under the suite's control (`worlds/probes.py`).

    what: the name of the exception that `Raising` raises, of `Planned` if empty.
    """

    name: str
    count: int = 0
    at: int = 0
    what: str = ""


@dataclass(frozen=True, init=False)
class Role(Recipe):
    """A role of the candidate, built as an argument of another: `Role('BatchSampler', ...)`."""

    name: str
    arguments: tuple[tuple[str, Any], ...]

    def __init__(self, name: str, /, **arguments: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", tuple(arguments.items()))

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value!r}" for name, value in self.arguments)
        return f"{type(self).__name__}({self.name!r}{shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _role, (type(self), self.name, self.arguments)


@dataclass(frozen=True, init=False, repr=False)
class Torch(Role):
    """The class of `torch.utils.data` itself, whatever the candidate has under its name."""


def _role(kind: type[Role], name: str, arguments: tuple[tuple[str, Any], ...]) -> Role:
    return kind(name, **dict(arguments))


RECIPES: tuple[type[Recipe], ...] = (
    Data, Runs, Values, Sparse, Generator, Raw, Probe, Role, Torch,
)  # fmt: skip
