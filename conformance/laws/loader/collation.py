"""Laws of `spec/loader.md`: what the default collation makes, and of what it makes it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from itertools import permutations
from typing import Any

from conformance import loading as lo
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import mapped
from conformance.laws.loader.forms import agrees, strange
from conformance.laws.loading import arguments, built, expected, got, of, reads, rows, runs, tells
from conformance.trace import Trace

EITHER = "(list|tuple)"
"""Where the one may become the other."""

Pattern = Callable[[list[int]], str]
"""A regular expression for the description of the batch of some indices."""

NAMES = {"foreign": "Foreign", "none": "None", "record": "Reading"}
"""Items that no collation knows, and how their type is named."""

REFUSED = ("blended", "mapping", "span", "complex")
"""Items that may be refused."""

QUIET = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
"""Warnings that say nothing about data."""


def _tensor(values: Any, kind: str = r"\w+") -> str:
    """A tensor of these values; of Python numbers the type is free, and a bool may be a number."""
    text = re.escape(str(values)).replace("True", "(True|1)").replace("False", "(False|0)")
    return rf"Tensor\({kind}, \[[\d, ]+\], {text}\)"


def _whole(values: Any) -> str:
    """The same, where a whole number may have become a float."""
    return _tensor(values).replace(r"\.0", r"(\.0)?")


def _inside(kind: str, *parts: str) -> str:
    return rf"{kind}\({', '.join(parts)}\)"


def _keyed(kind: str, *parts: tuple[str, str]) -> str:
    texts = [f"{key!r}: {value}" for key, value in parts]
    return rf"{kind}\{{{', '.join(texts)}\}}"


def _plain(*parts: tuple[str, str], kind: str = "dict") -> str:
    """A dict: the order of its keys is free."""
    return f"({'|'.join(_keyed(kind, *order) for order in permutations(parts))})"


def _texts(what: str, batch: list[int]) -> str:
    """Strings are listed as they are."""
    made: dict[str, list[Any]] = {
        "text": [f"text {i}" for i in batch], "bytes": [bytes([i]) for i in batch],
        "s": ["s"] * len(batch),
    }  # fmt: skip
    values = made[what]
    return _inside(EITHER, *(re.escape(f"{type(v).__name__} {v!r}") for v in values))


PATTERNS: dict[str, Pattern] = {
    "number": lambda b: _tensor(b),
    "tensor": lambda b: _tensor(b, "int64"),
    "float": lambda b: _tensor([i + 0.5 for i in b]),
    "flag": lambda b: _tensor([i % 2 == 0 for i in b]),
    "mingled": lambda b: _whole([i + i % 2 / 10 for i in b]),
    "complex": lambda b: _tensor([complex(i + 0.1, 0.2) for i in b]),
    "blended": lambda b: _plain(
        ("t", _whole([i + i % 2 / 2 for i in b])), ("a", _whole([[i + i % 2 / 2] for i in b]))
    ),
    "array": lambda b: _tensor([[i, i] for i in b], "int32"),
    "disk": lambda b: _tensor([[i, i] for i in b], "int32"),
    "span": lambda b: _inside(EITHER, _tensor(b), _tensor([i + 1 for i in b])),
    "scalar": lambda b: _tensor(b),
    "text": lambda b: _texts("text", b),
    "bytes": lambda b: _texts("bytes", b),
    "dict": lambda b: _plain(("x", _tensor([[i, i + 1] for i in b], "int64")), ("y", _tensor(b))),
    "ordered": lambda b: _keyed(
        "OrderedDict", ("b", _tensor(b)), ("a", _tensor([float(i) for i in b], "float32"))
    ),
    "counter": lambda b: _plain(
        ("a", _tensor(b)), ("b", _tensor([2] * len(b))), kind="Counter"
    ),
    "mapping": lambda b: _plain(
        ("x", _tensor(b, "int64")), ("y", _tensor([i + 0.5 for i in b])), kind=r"\w+"
    ),
    "turned": lambda b: _plain(("x", _tensor(b)), ("y", _tensor([i + 10 for i in b]))),
    "tuple": lambda b: _inside(EITHER, _tensor(b), _tensor([[float(i)] for i in b], "float32")),
    "list": lambda b: _inside("list", _tensor(b), _tensor([i + 0.5 for i in b])),
    "struct": lambda b: _inside(
        r"\w+", _tensor([i + 1 for i in b], "int64"), _tensor([1] * len(b), "int64")
    ),
    "named": lambda b: _inside("Point", _tensor([[[i]] for i in b], "int64"), _tensor(b)),
    "nested": lambda b: _plain(
        ("a", _inside("list", _tensor(b), _inside(EITHER, _tensor(b, "int64"), _texts("s", b)))),
        ("b", _plain(("c", _tensor([float(i) for i in b])))),
    ),
}  # fmt: skip


@law("loader.collate")
def collate(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    gives, due = mapped(case).gives, expected(case)
    require("collate_fn" not in arguments(case) and arguments(case).get("batch_size", 1))
    require(due is not None)
    if gives in NAMES:
        return _unrefused(trace, gives, NAMES[gives])
    if strange(case):
        return _unrefused(trace, gives, strange(case))
    if gives in ("ragged", "bulging", "stretched"):
        return _cut(trace, gives)
    require(gives in PATTERNS or gives == "formed")
    for run in runs(rank):
        if run.errors:
            require(gives not in REFUSED)
            saw = f"the pass raised {run.errors[0]}"
            return Violation("refused", saw, events=rows(rank, run), about=gives)
    described = [text for event in of(rank, lo.Describe) for text in event.value]
    require(described)
    for text, batch in zip(described, itertools.cycle(due or []), strict=False):
        formed = gives == "formed"
        if not (agrees(text, case, batch) if formed else _fits(gives, text, batch)):
            what = mapped(case).form(batch[0]) if formed else f"a {gives}"
            saw = f"of the items {batch}, each {what}, was made {text}"
            return Violation("made-otherwise", saw, about=gives)
    return None


def _cut(trace: Trace, gives: str) -> Violation | None:
    """Sequences of different lengths are refused: who takes the shortest loses what is beyond."""
    rank = trace.ranks[0]
    require(reads(rank))
    for number, event in reads(rank):
        if event.error is None:
            described = [text for e in of(rank, lo.Describe) for text in e.value]
            saw = f"items of different lengths were collated: {described[:1]}"
            return Violation("items-cut", saw, events=((rank.rank, number),), about=gives)
    return None


def _fits(gives: str, text: str, batch: list[int]) -> bool:
    return re.fullmatch(PATTERNS[gives](batch), text) is not None


def _unrefused(trace: Trace, gives: str, name: str) -> Violation | None:
    rank = trace.ranks[0]
    require(reads(rank))
    for number, event in reads(rank):
        row = ((rank.rank, number),)
        if event.error is None:
            saw = f"items of the type {name} were collated: {event.value}"
            return Violation("foreign-accepted", saw, events=row, about=gives)
        if not tells(event.error, name):
            saw = f"the error does not name the type {name}: {event.error}"
            return Violation("type-not-named", saw, events=row, about=gives)
    return None


@law("loader.reused-buffer")
def reused_buffer(trace: Trace) -> Violation | None:
    case, rank = trace.case, built(trace)
    require(mapped(case).gives in ("buffer", "buffers") and "collate_fn" not in arguments(case))
    due, again = expected(case), of(rank, lo.Reread)
    due = [[i] for i in due or ()] if mapped(case).gives == "buffers" else due
    require(due and again and any(run.finished or run.errors for run in runs(rank)))
    told = [w for event in rank.events for w in event.warnings if not w.startswith(QUIET)]
    if told or any(event.error for event in rank.events):
        return None
    size, workers = arguments(case).get("batch_size", 1), arguments(case).get("num_workers", 0)
    about = f"batch_size={size}, num_workers={workers}"
    for run, event in zip(runs(rank)[1:], again[1:], strict=False):
        require(run.items == due)
        if got(event) != due:
            saw = f"{got(event)} instead of {due}, though each item was a new tensor: "
            saw += "the loader itself writes into what it has delivered"
            return Violation("overwritten-by-loader", saw, about=about)
    if got(again[0]) != due:
        saw = f"read again at the end, the batches are {got(again[0])} instead of {due}"
        return Violation("overwritten", saw, about=about)
    return None
