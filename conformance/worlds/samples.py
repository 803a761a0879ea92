"""What an item of the suite's datasets is, by name: `make(gives, i, dataset)`."""

from __future__ import annotations

import collections.abc
import dataclasses
import gc
import operator
import random
import time
import zlib
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from conformance.datasets import SLOW_S
from conformance.items import odd

if TYPE_CHECKING:
    from conformance.worlds.gate import Gate

Point = namedtuple("Point", ["x", "label"])

DRAWS = 1 << 30


class Spot(Point):
    """A namedtuple of another name, with a method of its own."""

    __slots__ = ()

    def shown(self) -> str:
        return f"{self.x}: {self.label}"


class Foreign:
    """A class that no default collation knows."""


class Sealed(collections.abc.Mapping[str, Any]):
    """A mapping that is no dict, and that nobody can change."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = dict(content)

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


class Bag(dict[str, Any]):
    """A dict with an attribute, that cannot be made from a dict alone."""

    def __init__(self, label: str, **content: Any) -> None:
        super().__init__(**content)
        self.label = label

    def __reduce__(self) -> tuple[Any, ...]:
        return _bag, (self.label, dict(self))


def _bag(label: str, content: dict[str, Any]) -> Bag:
    return Bag(label, **content)


class Table(dict[Any, Any]):
    """A dict of another name."""


@dataclasses.dataclass
class Reading:
    """A record whose value is not the same if it is made anew from its fields."""

    value: float
    text: str

    def __post_init__(self) -> None:
        self.value /= 2


class Row(list[Any]):
    """A list with an attribute."""

    label = ""


def _row(i: int, data: Any) -> Row:
    row = Row([torch.tensor(i), "text", None, 0.5])
    row.label = f"row {i}"
    return row


class Pair(tuple[Any, ...]):
    """A tuple with an attribute."""

    label = ""


def _pair(i: int, data: Any) -> Pair:
    pair = Pair((torch.tensor(i), i))
    pair.label = f"pair {i}"
    return pair


class Pinnable:
    """Pins itself: what it gives instead says that it is pinned."""

    def __init__(self, index: int, pinned: bool = False) -> None:
        self.index, self.pinned = index, pinned

    def __repr__(self) -> str:
        return f"{self.index}, pinned" if self.pinned else f"{self.index}"

    def pin_memory(self) -> Pinnable:
        return Pinnable(self.index, True)


class Parcel:
    """Stands for an index; reports when it is pickled in a worker and unpickled elsewhere."""

    def __init__(self, index: int, gate: Gate, worker: int) -> None:
        self.index, self.gate, self.worker = index, gate, worker

    def __index__(self) -> int:
        return self.index

    def __reduce__(self) -> tuple[Any, ...]:
        self.gate.report("depart", self.index, self.worker)
        return _arrive, (self.index, self.gate, self.worker)


def _arrive(index: int, gate: Gate, worker: int) -> Parcel:
    gate.arrived(index, worker)
    return Parcel(index, gate, worker)


OWN: dict[str, Callable[[int], Any]] = {
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
    "Random": random.Random,
    "torch": lambda seed: torch.Generator().manual_seed(seed),
    "class": random.Random,
}
"""The generators that a dataset may hold, by their names in `datasets.GENERATORS`."""


def draw_from(own: Any) -> int:
    """A number from a generator of any of the kinds above."""
    if isinstance(own, np.random.Generator):
        return int(own.integers(DRAWS))
    if isinstance(own, np.random.RandomState):
        return int(own.randint(DRAWS))
    if isinstance(own, random.Random):
        return own.randrange(DRAWS)
    return int(torch.randint(DRAWS, (), generator=own))


def dice() -> tuple[int, int, int]:
    """A draw each from the global generators of torch, numpy and `random`."""
    return int(torch.randint(DRAWS, ())), np.random.randint(DRAWS), random.randrange(DRAWS)


def _dice(i: int, data: Any) -> Any:
    return (i, data.worker, *(data.early.pop() if data.early else dice()))


def _info(i: int, data: Any) -> Any:
    info = data.info()
    if info is None:
        return (i, -1, 0, 0, 0)
    apart = (operator.index(info.seed) - info.id) % (1 << 62)
    return (i, info.id, info.num_workers, apart, int(info.dataset is data))


def _inside(i: int, data: Any) -> Any:
    """The same of an item that is read through a loader without workers."""
    for _ in data.loader([i]):
        pass
    return _info(i, data)


def _device(i: int, data: Any) -> torch.Tensor:
    cuda: Any = torch.cuda
    return torch.tensor([i, data.worker, int(cuda.is_initialized())])


def _buffer(i: int, data: Any) -> torch.Tensor:
    data.buffer.fill_(i)
    held: torch.Tensor = data.buffer
    return held


def _slow(i: int, _: Any) -> int:
    time.sleep(SLOW_S)
    return i


def _views(i: int, data: Any) -> list[torch.Tensor]:
    x = torch.arange(9600).reshape(96, 100) + i
    return [x, x.t(), x[::2], x[1:]]


def _turned(i: int, _: Any) -> dict[str, int]:
    x, y = ("x", i), ("y", i + 10)
    return dict([y, x] if i % 2 else [x, y])


def _wide(i: int, _: Any) -> list[Any]:
    longs, floats = np.full(1 << 14, i), np.full((300, 100), i, dtype=np.float32)
    return [longs, floats, torch.full((1 << 14,), -i)]


def _lazy(i: int, _: Any) -> list[torch.Tensor]:
    turned = torch.complex(torch.tensor([0.5, 2.0]), torch.tensor([i + 1.0, 3.0])).conj()
    return [turned, turned.imag]


def _graded(i: int, _: Any) -> int:
    at = torch.tensor(float(i), requires_grad=True)
    (at * at / 2).backward()  # type: ignore[no-untyped-call]
    return int(at.grad)  # type: ignore[arg-type]


def _sparse(i: int, _: Any) -> torch.Tensor:
    return torch.tensor([0, i + 1, 0]).to_sparse()


SAMPLES: dict[str, Callable[[int, Any], Any]] = {
    "number": lambda i, _: i,
    "parcel": lambda i, data: Parcel(i, data.gate, data.worker),
    "tensor": lambda i, _: torch.tensor(i),
    "buffer": _buffer,
    "buffers": lambda i, data: [_buffer(i, data)],
    "dice": _dice,
    "marked": lambda i, data: 1000 * (data.mark + data.state.mark()) + i,
    "bulk": lambda i, _: bytes([i % 256]) * (1 << 20),
    "dict": lambda i, _: {"x": torch.tensor([i, i + 1]), "y": i},
    "ordered": lambda i, _: OrderedDict(b=i, a=torch.tensor(float(i))),
    "counter": lambda i, _: Counter({"a": i, "b": 2}),
    "blended": lambda i, _: {
        "t": torch.tensor(i + 0.5 if i % 2 else i),
        "a": np.array([i + 0.5 if i % 2 else i]),
    },
    "tuple": lambda i, _: (i, torch.tensor([float(i)])),
    "list": lambda i, _: [i, i + 0.5],
    "named": lambda i, _: Point(torch.tensor([[i]]), i),
    "nested": lambda i, _: {"a": [i, (torch.tensor(i), "s")], "b": {"c": np.float32(i)}},
    "text": lambda i, _: f"text {i}",
    "bytes": lambda i, _: bytes([i]),
    "float": lambda i, _: i + 0.5,
    "flag": lambda i, _: i % 2 == 0,
    "mingled": lambda i, _: i + i % 2 / 10 if i % 2 else i,
    "complex": lambda i, _: complex(i + 0.1, 0.2),
    "array": lambda i, _: np.array([i, i], dtype=np.int32),
    "disk": lambda i, _: np.array([i, i], dtype=np.int32).view(np.memmap),
    "span": lambda i, _: range(i, i + 2),
    "scalar": lambda i, _: np.int16(i),
    "mixed": lambda i, _: torch.zeros(i % 2 + 1),
    "foreign": lambda i, _: Foreign(),
    "none": lambda i, _: None,
    "odd": lambda i, _: odd(i),
    "held": lambda i, _: i,
    "called": lambda i, _: lambda: i,
    "bursting": lambda i, _: i,
    "interrupting": lambda i, _: i,
    "slow": _slow,
    "local": lambda i, data: i + data.here,
    "counted": lambda i, data: i * data.counter.value,
    "stored": lambda i, data: int(data.stored[i]),
    "epoched": lambda i, data: 1000 * data.mark + i,
    "held-marked": lambda i, data: 1000 * data.mark + i,
    "swept": lambda i, _: i + 0 * gc.collect(),
    "graded": _graded,
    "through": lambda i, data: sum(map(int, data.loader([i]))),
    "info": _info,
    "inside": _inside,
    "device": _device,
    "large": lambda i, _: torch.full((1 << 21,), i),
    "bag": lambda i, _: Bag(f"bag {i}", x=torch.tensor([i]), y=[b"b", torch.tensor(0.5)]),
    "row": _row,
    "record": lambda i, _: Reading(i + 1.0, f"text {i}"),
    "pair": _pair,
    "views": _views,
    "turned": _turned,
    "ragged": lambda i, _: [i] * (i + 1),
    "bulging": lambda i, _: [i] * (1 + i % 3 % 2),
    "stretched": lambda i, _: torch.full((1 if i % 2 else 3,), i),
    "struct": lambda i, _: torch.max(torch.tensor([i, i + 1]), dim=0),
    "lazy": _lazy,
    "many": lambda i, _: [torch.full((300,), i + k) for k in range(1100)],
    "mapping": lambda i, _: Sealed({"x": torch.tensor(i), "y": i + 0.5}),
    "sparse": _sparse,
    "wide": _wide,
    "range": lambda i, _: {"x": torch.tensor(i), "ids": range(i, i + 2)},
    "expanded": lambda i, _: torch.tensor([i]).expand(3),
    "pinnable": lambda i, _: Pinnable(i),
    "pinnables": lambda i, _: {"x": [Pinnable(i), torch.tensor(i)], "y": (Pinnable(-i), "s")},
}
"""Ways to make item `i` of a dataset `data`."""


def make(gives: str, i: int, data: Any) -> Any:
    """Item `i`."""
    if gives.startswith("own-"):
        return (i, data.worker, draw_from(data.own))
    return SAMPLES[gives](i, data)


def describe(item: Any) -> str:
    """Type, shape and values of a batch as one line of text."""
    if isinstance(item, torch.Tensor) and item.layout != torch.strided:
        return f"{item.layout} {describe(item.to_dense())}"
    if isinstance(item, torch.Tensor):
        kind = str(item.dtype).removeprefix("torch.")
        pinned = ", pinned" if item.is_pinned() else ""
        return f"Tensor({kind}, {list(item.shape)}, {_elements(item)}{pinned})"
    name = type(item).__name__
    if isinstance(item, (str, bytes)):
        return f"{name} {item!r}"
    if isinstance(item, (dict, list, tuple)) and getattr(item, "__dict__", None):
        name += f"<{', '.join(f'{key} {value!r}' for key, value in vars(item).items())}>"
    if hasattr(item, "keys"):
        return name + "{" + ", ".join(f"{key!r}: {describe(v)}" for key, v in item.items()) + "}"
    if isinstance(item, (list, tuple)):
        return name + "(" + ", ".join(describe(value) for value in item) + ")"
    if hasattr(item, "dtype") and hasattr(item, "tolist"):
        if isinstance(item, np.ndarray) and not item.flags.writeable:
            return f"read-only {describe(item.copy())}"
        if item.size > 200:
            return f"{name} of {describe(torch.as_tensor(item))}"
        return f"{name}({item.dtype}, {list(item.shape)}, {item.tolist()})"
    told = isinstance(item, (int, float, set, type, BaseException))
    return f"{name} {item!r}" if told or name in ("Pinnable", "Reading") else name


def _elements(item: torch.Tensor) -> Any:
    """The elements of a tensor; many of them as a checksum."""
    if item.numel() <= 200:
        return item.tolist()
    wide = torch.float64 if item.is_floating_point() else torch.int64
    wide = torch.complex128 if item.is_complex() else wide
    return f"crc {zlib.crc32(item.detach().cpu().to(wide).contiguous().numpy().tobytes())}"
