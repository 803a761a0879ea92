"""Whether the description of a batch is that of the items in it, whatever they are made of.

A description is read from its start, part by part; what the spec leaves free is read either way.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

from conformance.case import Case
from conformance.items import (
    ODD,
    PLAIN,
    UNKNOWN,
    WORDS,
    Leaf,
    Nest,
    bare,
    leaves,
    odd,
    values,
    words,
)
from conformance.laws.loader.due import mapped
from conformance.laws.loading import arguments, collation

FREE = r"\w+"
"""The pattern of a type that the spec leaves free."""

SHOWN = 200
"""A tensor of more elements is described by a checksum."""

OPENED = {
    "list": r"list\(", "tuple": r"(list|tuple)\(", "named": r"Point\(", "spot": r"Spot\(",
    "dict": r"dict\{",
    "ordered": r"OrderedDict\{", "default": r"defaultdict\{", "table": r"Table\{",
}  # fmt: skip
"""How the description of a container begins; a tuple may become a list."""


def agrees(text: str, case: Case, batch: Any) -> bool:
    """Whether this describes what has to be delivered for these indices."""
    reader = Reader(text)
    return reader.batch(case, batch) and not reader.left


def strange(case: Case) -> str:
    """The type in the items that the default collation must refuse, as an error may name it."""
    given = arguments(case)
    found = [leaf.kind for form in mapped(case).forms for leaf in leaves(form)]
    collates = "collate_fn" not in given and given.get("batch_size", 1)
    names = [_name(ODD[kind]).removesuffix("Type") for kind in found if kind in UNKNOWN]
    return names[0] if names and collates else ""


class Reader:
    """Reads a description; each method takes away what it has read, and says whether it could."""

    def __init__(self, text: str) -> None:
        self.left = text

    def take(self, pattern: str) -> bool:
        found = re.match(pattern, self.left)
        self.left = self.left[found.end() :] if found else self.left
        return found is not None

    def batch(self, case: Case, batch: Any) -> bool:
        """A batch as the case has it collated; with batching off, a single item."""
        how, data = collation(case), mapped(case)
        first = batch[0] if isinstance(batch, list) else batch
        if how == "odd":
            return self.take(re.escape(plain(odd(first))))
        if not isinstance(batch, list):
            return self.form(data.form(batch), [batch], False)
        if how == "list":
            return self._row("list", [(data.form(i), [i]) for i in batch], False)
        return self.form(data.form(first), batch, True)

    def form(self, form: Leaf | Nest, batch: list[int], stacked: bool) -> bool:
        """Items of one form, stacked, or one that is as it was."""
        if isinstance(form, Leaf):
            return self.take(_stacked(form, batch) if stacked else _alone(form, batch[0]))
        if not form.keys:
            return self._row(form.kind, [(part, batch) for part in form.parts], stacked)
        named = dict(zip(map(repr, form.keys), form.parts, strict=True))
        return self._mapping(form.kind, named, batch, stacked)

    def _row(self, kind: str, parts: list[tuple[Any, list[int]]], stacked: bool) -> bool:
        read = self.take(OPENED[kind])
        for place, (part, batch) in enumerate(parts):
            read = read and (not place or self.take(", ")) and self.form(part, batch, stacked)
        return read and self.take(r"\)|\}")

    def _mapping(self, kind: str, named: dict[str, Any], batch: list[int], stacked: bool) -> bool:
        """The order of the keys is free, but for that of an OrderedDict."""
        read = self.take(OPENED[kind])
        while read and named:
            choices = list(named)[:1] if kind == "ordered" else list(named)
            key = next((key for key in choices if self.take(re.escape(f"{key}: "))), None)
            read = key is not None and self.form(named.pop(key), batch, stacked)
            read = read and (not named or self.take(", "))
        return read and self.take(r"\}")


def _stacked(leaf: Leaf, batch: list[int]) -> str:
    """A leaf of several items; of Python's numbers the type is free, and a bool may be a number."""
    if leaf.kind in WORDS:
        return rf"(list|tuple)\({', '.join(_alone(leaf, i) for i in batch)}\)"
    found = np.stack([values(leaf, i) for i in batch])
    exact = leaf.kind in ("tensor", "array")
    pattern = _tensor("Tensor", found, leaf.dtype if exact else FREE)
    flags = [bare(leaf, i) for i in batch] if leaf.kind == "flagged" else [None]
    if all(isinstance(flag, bool) for flag in flags):
        return f"({pattern}|{_tensor('Tensor', np.asarray(flags), FREE)})"
    return pattern


def _alone(leaf: Leaf, i: int) -> str:
    """A leaf as it is; an array of numbers, or a number of numpy, may become a tensor."""
    if leaf.kind in ODD:
        return re.escape(plain(ODD[leaf.kind]))
    if leaf.kind in WORDS:
        return re.escape(plain(words(leaf, i)))
    if leaf.kind in PLAIN:
        return re.escape(plain(bare(leaf, i)))
    return _tensor("Tensor" if leaf.kind == "tensor" else r"\w+", values(leaf, i), leaf.dtype)


def _tensor(kind: str, found: Any, dtype: str) -> str:
    text = re.escape(_elements(found))
    if dtype == FREE:
        text = text.replace("True", "(True|1)").replace("False", "(False|0)")
        text = re.sub(r"\\\.0(?!\d)", r"(\\.0)?", text)
    return rf"{kind}\({dtype}, {re.escape(str(list(found.shape)))}, {text}\)"


def _elements(found: Any) -> str:
    if found.size <= SHOWN:
        return str(found.tolist())
    wide = {"f": np.float64, "c": np.complex128}.get(found.dtype.kind, np.int64)
    return f"crc {zlib.crc32(found.astype(wide).tobytes())}"


def plain(value: Any) -> str:
    """A value of Python as it is described."""
    if isinstance(value, (list, dict)):
        return _name(value) + ("()" if isinstance(value, list) else "{}")
    bare = (type(None), type(...), type(NotImplemented))
    return _name(value) if isinstance(value, bare) else f"{_name(value)} {value!r}"


def _name(value: Any) -> str:
    return type(value).__name__
