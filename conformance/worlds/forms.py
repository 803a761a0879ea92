"""The items that recipes of `items.py` stand for."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from conformance.items import ODD, WORDS, Leaf, Nest, bare, values, words
from conformance.worlds.samples import Point, Spot, Table

NESTS: dict[str, Callable[[list[Any], tuple[Any, ...]], Any]] = {
    "list": lambda parts, keys: parts,
    "tuple": lambda parts, keys: tuple(parts),
    "named": lambda parts, keys: Point(*parts),
    "spot": lambda parts, keys: Spot(*parts),
    "dict": lambda parts, keys: dict(zip(keys, parts, strict=True)),
    "ordered": lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
    "default": lambda parts, keys: defaultdict(list, zip(keys, parts, strict=True)),
    "table": lambda parts, keys: Table(zip(keys, parts, strict=True)),
}
"""Containers of parts, by their kinds."""

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "": lambda tensor: tensor,
    "transposed": lambda tensor: tensor.mT.contiguous().mT,
    "sliced": lambda tensor: tensor.repeat_interleave(2, -1)[..., ::2],
    "expanded": lambda tensor: tensor[:1].expand(tensor.shape),
}
"""The same tensor, otherwise laid out in memory."""

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "": lambda array: array,
    "transposed": np.asfortranarray,
    "sliced": lambda array: array.repeat(2, -1)[..., ::2],
}
"""The same of an array."""


def formed(form: Leaf | Nest, i: int) -> Any:
    """Item i of this form, made anew each time."""
    if isinstance(form, Nest):
        return NESTS[form.kind]([formed(part, i) for part in form.parts], form.keys)
    if form.kind in ODD:
        return ODD[form.kind]
    if form.kind in WORDS:
        return words(form, i)
    found = values(form, i)
    if form.kind == "tensor":
        made = torch.from_numpy(found.copy()).to(getattr(torch, form.dtype))
        return LAYOUTS[form.layout](made)
    if form.kind == "array":
        return ARRAYS[form.layout](found)
    return found[()] if form.kind == "scalar" else bare(form, i)
