"""What an item of a dataset is made of: containers in containers, and leaves of many types.

Here they are recipes, and the values that they hold; `worlds/forms.py` makes the objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.recipes import Recipe

FEW = 64
"""A leaf of more elements counts upwards, so that it can be written down in few words."""

ODD: dict[str, Any] = {
    "None": None, "False": False, "0": 0, "''": "", "b''": b"", "[]": [], "...": ...,
    "NotImplemented": NotImplemented, "ValueError('an item')": ValueError("an item"),
    "KeyError('an item')": KeyError("an item"), "StopIteration()": StopIteration(),
    "StopIteration": StopIteration, "ValueError": ValueError, "EOFError()": EOFError(),
    "KeyboardInterrupt()": KeyboardInterrupt(), "{1}": {1}, "{}": {},
}  # fmt: skip
"""Plain values by their expression: some that a program might take for a signal."""


def odd(i: int) -> Any:
    """The odd value that stands for i."""
    return [*ODD.values()][i % len(ODD)]


UNKNOWN = ("None", "...", "NotImplemented", "{1}", "ValueError('an item')", "StopIteration")
"""Those of them that no collation knows."""


@dataclass(frozen=True, repr=False)
class Leaf(Recipe):
    """A part of an item that holds no other.

    kind: tensor, array, scalar (of numpy), float, int, bool, either (an int for even items, a float
    for odd ones), uneven (an int that is small for even items, and far below 0 for odd ones),
    flagged (a bool for even items, a float for odd ones), text, label (a text of numpy's), word
    (one of a type of its own), bytes, lines (a text of `LINES`), or a key of `ODD`.
    dtype, shape: of the first three. layout: how a tensor or an array lies in memory: as it is
    read, or transposed, sliced (every second element of another), expanded (of a tensor: its rows
    are one row).
    """

    kind: str
    dtype: str = "int64"
    shape: tuple[int, ...] = ()
    layout: str = ""

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, repr=False)
class Nest(Recipe):
    """A container of parts, which are leaves or containers.

    kind: list, tuple, named (of two parts), spot (a subclass of that), dict, ordered, default,
    table (a subclass of dict).
    keys: of a mapping, one for each part.
    """

    kind: str
    parts: tuple[Any, ...] = ()
    keys: tuple[Any, ...] = ()

    @property
    def count(self) -> int:
        """How many elements its leaves have."""
        return sum(part.count for part in self.parts)


PLAIN = {"float": "float64", "int": "int64", "bool": "bool", "uneven": "int64"} | dict.fromkeys(
    ("either", "flagged"), "float64"
)
"""Python's own numbers, and the type that holds them."""

_VALUES: dict[str, Callable[[Any, int], Any]] = {
    "bool": lambda p, i: (p * p + i) % 5 < 2,
    "uint8": lambda p, i: (200 + 7 * p + i) % 256,
    "uint16": lambda p, i: 40_000 + 7 * p + i,
    "uint32": lambda p, i: 2**31 + 7 * p + i,
    "uint64": lambda p, i: 2**63 + 1 + np.asarray(2 * p + i, "uint64"),
    "int8": lambda p, i: (120 + 7 * p + i) % 256 - 128,
    "int16": lambda p, i: 300 + 7 * p + i,
    "int32": lambda p, i: 70_000 + 7 * p + i,
    "int64": lambda p, i: 2**53 + 1 + 2 * p + i,
    "float16": lambda p, i: p + i + 0.1,
    "bfloat16": lambda p, i: (128 + (7 * p + i) % 128) * 2.0**20,
    "float32": lambda p, i: p + i + 0.1,
    "float64": lambda p, i: np.where(p % 2, 16_777_217.0 + p + i, p + i + 0.1),
    "complex64": lambda p, i: p + 0.1 + 1j * (i - 0.5),
}
"""Element `p` of item `i`: values that, as far as there are any, no smaller type can hold."""


def values(leaf: Leaf, i: int) -> NDArray[Any]:
    """The elements of a leaf of item i; a type that numpy does not have as float64."""
    if leaf.kind == "either":
        return np.asarray(i + i % 2 / 2)
    if leaf.kind == "uneven":
        return np.asarray(-(2**40) - i if i % 2 else i)
    if leaf.kind == "flagged":
        return np.asarray(i + 0.5 if i % 2 else float(i % 4 == 0))
    dtype = PLAIN.get(leaf.kind, leaf.dtype)
    place = np.arange(leaf.count)
    flat = (place + i) % 100 if leaf.count > FEW else _VALUES[dtype](place, i)
    found = np.asarray(flat, np.float64 if dtype == "bfloat16" else dtype).reshape(leaf.shape)
    return np.broadcast_to(found[:1], leaf.shape).copy() if leaf.layout == "expanded" else found


def bare(leaf: Leaf, i: int) -> Any:
    """The number of Python's own that a leaf of item i is."""
    found: Any = values(leaf, i).item()
    whole = {"either": int, "flagged": bool}.get(leaf.kind)
    return whole(found) if whole and not i % 2 else found


class Word(str):
    """A text of a type of its own, as the members of many an enumeration are."""

    __slots__ = ()


LINES = ("", "\n", "a\r", "\x0cb", "c\u2028", "\x00", "d\n\n", " ", "\te", ",", "'\"")
"""Texts that do not survive being joined and split again."""

WORDS: dict[str, Callable[[int], str | bytes]] = {
    "text": lambda i: f"text {i}", "label": lambda i: np.str_(f"text {i}"),
    "word": lambda i: Word(f"text {i}"), "bytes": lambda i: bytes([i % 256, 0]),
    "lines": lambda i: LINES[i % len(LINES)],
}  # fmt: skip


def words(leaf: Leaf, i: int) -> str | bytes:
    """The text or the bytes that a leaf of item i is, whose kind is a key of `WORDS`."""
    return WORDS[leaf.kind](i)


def leaves(form: Any) -> list[Leaf]:
    """All leaves of a form, in order."""
    if isinstance(form, Leaf):
        return [form]
    return [leaf for part in form.parts for leaf in leaves(part)]
