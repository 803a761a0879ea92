"""Indices that are no numbers: what an `Order` makes of them, and which item each stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

ODD = (None, "", (), ..., b"", frozenset[Any]())
"""Indices that a program might take for none, or for an end."""

FAR = -(1 << 40)
"""Where numbers begin that identify items, and count nothing: they take more than 32 bits."""

BELOW = -(1 << 20)
"""Where numbers below 0 begin that take no more than 32 bits."""

NAMED = "named"


class Named(NamedTuple):
    """An index with names for its parts."""

    place: int
    kind: str = NAMED


class Label(int):
    """An index of a kind of its own; what it is as a plain integer is no index."""

    def __new__(cls, place: int) -> Label:
        made = super().__new__(cls, -1 - place)
        made.place = place
        return made

    place: int

    def __reduce__(self) -> tuple[Any, ...]:
        return Label, (self.place,)


def _tensor(value: int) -> Any:
    import torch  # only where torch is: who writes a script reads this module, too

    return torch.tensor(value)


KEYS: dict[str, Callable[[int], Any]] = {
    "texts": lambda i: f"item {i}",
    "tuples": lambda i: (i, "item"),
    "named": Named,
    "lists": lambda i: [i],
    "pairs": lambda i: (i, -1),
    "lambdas": lambda i: lambda: i,
    "arrays": lambda i: np.array([i, -1]),
    "odd": lambda i: ODD[i],
    "flags": lambda i: i == 0,
    "long": lambda i: f"item {i}".ljust(1 << 18),
    "labels": Label,
    "far": lambda i: FAR - i,
    "below": lambda i: BELOW - i,
    "scalars": lambda i: np.int64(-1 - i),
    "tensors": lambda i: _tensor(-1 - i),
}
"""Index i, by the orders that give it so."""


def number(key: Any) -> Any:
    """The number of the item that an index stands for."""
    if isinstance(key, np.ndarray):
        return int(key[0])
    if isinstance(key, Label):
        return key.place
    if hasattr(key, "item") and key < 0:
        return -1 - key.item()
    if isinstance(key, bool):
        return int(not key)
    if isinstance(key, int) and key <= FAR:
        return FAR - key
    if isinstance(key, int) and key <= BELOW:
        return BELOW - key
    if (not key and key != 0) or key is ...:
        return ODD.index(key)
    if isinstance(key, tuple) and NAMED in key and not isinstance(key, Named):
        raise TypeError(f"the sampler gave a named tuple, and the dataset is asked for {key}")
    if isinstance(key, list) and len(key) > 1:
        raise TypeError(f"the sampler gave no list, and the dataset is asked for {key}")
    if isinstance(key, (tuple, list)):
        return key[0]
    return int(key.removeprefix("item ")) if isinstance(key, str) else key
