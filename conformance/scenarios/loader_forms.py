"""Cases of `spec/loader.md` about what items are made of: containers in containers, every type.

The small cases put many forms into one pass, as a start of workers costs more than their batches;
the drawn ones shrink to a single form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Mapped
from conformance.items import LINES, ODD, UNKNOWN, Leaf, Nest
from conformance.loading import Describe
from conformance.operations import Iterate, Operation
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import counted, loader, takes

PLAN: list[Operation] = [Iterate(), Describe()]
"""Batches are described when the pass is over: by then none of them may have changed."""

TYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64",
)  # fmt: skip
ARRAYS = ("bool", "uint16", "uint32", "uint64", "float16", "float64", "complex64")
SHAPES = ((1,), (3,), (2, 3), (0,), (0, 3), (3, 0), (3, 1, 2))
LAYOUTS = ("transposed", "sliced", "expanded")
KINDS = ("list", "dict", "tuple", "named", "spot", "ordered", "table", "default")
KINDS_OF_LEAVES = (
    "int", "float", "either", "flagged", "tensor", "array", "scalar", "text", "bool", "label",
)  # fmt: skip
KEYS: tuple[Any, ...] = ("b", "a", 1, (2, "x"), None, 0.5, b"k", -1, "")
MIXED = ("b", 1, (2, "x"), None)

LEAVES = (
    *(Leaf("tensor", dtype, shape) for dtype in TYPES for shape in ((2, 3), ())),
    *(Leaf("tensor", "float32", shape) for shape in SHAPES),
    *(Leaf("tensor", "int16", (2, 3), layout) for layout in LAYOUTS),
    *(Leaf("array", dtype, (3,)) for dtype in ARRAYS),
    *(Leaf("array", "int32", shape) for shape in ((), (0, 2))),
    *(Leaf("array", "int16", (2, 3), layout) for layout in ("transposed", "sliced")),
    *(Leaf("scalar", dtype) for dtype in ("bool", "int8", "float32", "float64")),
    *(Leaf(kind) for kind in (
        "float", "int", "bool", "either", "flagged", "text", "label", "word", "bytes",
    )),
)  # fmt: skip

POINT = Nest("named", (Leaf("tensor", "bool", (2,)), Leaf("text")))

NESTS = (
    *(Nest(kind) for kind in ("list", "tuple", "dict", "ordered", "table", "default")),
    POINT, Nest("spot", (Leaf("int"), POINT)),
    *(Nest(kind, (POINT, Nest("list"), Nest("dict"), Leaf("float")), MIXED)
      for kind in ("dict", "ordered", "table", "default")),
    *(Nest(kind, (Nest("tuple", (POINT, Leaf("int"))), Nest("table", (Leaf("int"),), ("a",))))
      for kind in ("list", "tuple", "named")),
    Nest("dict", (Nest("list", (Nest("ordered", (Leaf("text"), POINT), ("b", "a")),)),), (1,)),
)  # fmt: skip

KNOWN = (*LEAVES, *NESTS)

SINGLE = (
    Leaf("lines"), *(Nest(kind, (Leaf("lines"),)) for kind in ("tuple", "list")),
    Nest("dict", (Nest("tuple", (Leaf("tensor", "float32", (2,)),)),), ("a",)),
)  # fmt: skip
"""Texts alone, and containers of one part."""

SINGLES = 3 * len(LINES)
"""So many items of each: every text is the first of a batch of three, the next and the last."""

LARGE = (
    Leaf("tensor", "float32", (96, 100)), Leaf("tensor", "int64", (2, 2)),
    Nest("dict", (Leaf("array", "float64", (96, 100)), Leaf("int")), ("x", "y")),
    Leaf("tensor", "uint8", (1024, 600)),
    Nest("tuple", (Leaf("tensor", "int32", (3,)), Leaf("int"))),
    Nest("list", tuple(Leaf("tensor", "float32", (100, 96), how) for how in ("", "expanded"))),
)  # fmt: skip
"""Batches of two of them are from a few bytes to more than a MiB."""

ALIKE = 14
"""So many items of one size follow each other: a loader may have several buffers in turn."""

SAME = 140
"""So many of a small size: of small buffers a loader may have more."""

SIGNALS = tuple(map(Leaf, ODD))

STRANGE = (
    *(Leaf(kind) for kind in UNKNOWN),
    *(Nest(kind, (Leaf("int"), Leaf(odd)), ("a", "b") if kind == "dict" else ())
      for kind, odd in (("list", "None"), ("named", "{1}"), ("dict", "..."))),
    Nest("list", (Nest("dict", (Nest("tuple", (Leaf("None"),)),), ("a",)),)),
)  # fmt: skip


def of(forms: tuple[Any, ...], count: int, each: int = 2) -> Mapped:
    """A dataset of `count` items that gives each form so many times in turn."""
    return Mapped(count, gives="formed", forms=forms, each=each)


def _small(setting: Setting) -> Iterator[Case]:
    """Every form with batching on and off, with workers and without; then many that are alike."""
    ways: tuple[dict[str, Any], ...] = (
        {"batch_size": 2}, {"batch_size": 2, "drop_last": True}, {"batch_size": None},
    )  # fmt: skip
    for way, workers in itertools.product(ways, (0, 2)):
        options = {**way, **counted(workers)}
        if takes(setting, **options):
            each = way["batch_size"] or 1
            yield loader(of(KNOWN, each * len(KNOWN) + each - 1, each), PLAN, **options)
    listed: dict[str, Any] = {"batch_size": 2, "collate_fn": Collate("list"), **counted(2)}
    if takes(setting, **listed):  # as they are, with all that a tensor may be a part of
        yield loader(of(KNOWN, 2 * len(KNOWN) + 1), PLAN, **listed)
    for workers in (0, 1):
        if takes(setting, **counted(workers)):
            data = of(LARGE, ALIKE * len(LARGE), ALIKE)
            yield loader(data, PLAN, batch_size=2, **counted(workers))
            yield loader(of(LARGE[1:2], SAME, SAME), PLAN, batch_size=2, **counted(workers))
    for workers in (0, 2):
        if takes(setting, **counted(workers)):
            data = of(SINGLE, SINGLES * len(SINGLE), SINGLES)
            yield loader(data, PLAN, batch_size=3, **counted(workers))
    for form in STRANGE:
        yield loader(of((form,), 2), PLAN, batch_size=2)
    yield loader(
        of((Leaf("uneven"), Nest("dict", (Leaf("uneven"),), ("x",))), 8, 4), PLAN, batch_size=2
    )
    for workers in (0, 2):  # of a single item, too, a batch is made
        if takes(setting, **counted(workers)):
            yield loader(of(KNOWN, len(KNOWN), 1), PLAN, batch_size=1, **counted(workers))


def _signals(setting: Setting) -> Iterator[Case]:
    """Items and batches that a program might take for a signal of its own."""
    ways: tuple[dict[str, Any], ...] = (
        {"batch_size": None}, {"batch_size": 2, "collate_fn": Collate("list")},
    )  # fmt: skip
    made = Mapped(len(ODD))
    for workers in (0, 2):
        for way in ways:
            options = {**way, **counted(workers)}
            if takes(setting, **options):
                yield loader(of(SIGNALS, len(ODD), 1), PLAN, **options)
        for size in (1, None):
            options = {"batch_size": size, "collate_fn": Collate("odd"), **counted(workers)}
            if takes(setting, **options):
                yield loader(made, PLAN, **options)


@st.composite
def _leaves(draw: st.DrawFn) -> Leaf:
    kind = draw(st.sampled_from(KINDS_OF_LEAVES))
    dtype = draw(st.sampled_from(TYPES if kind == "tensor" else TYPES[:7] + TYPES[8:]))
    if kind not in ("tensor", "array"):
        return Leaf(kind, dtype) if kind == "scalar" else Leaf(kind)
    shape = draw(st.sampled_from(SHAPES))
    flat = kind == "array" or len(shape) < 2
    return Leaf(kind, dtype, shape, "" if flat else draw(st.sampled_from(("", *LAYOUTS))))


@st.composite
def _nests(draw: st.DrawFn, parts: st.SearchStrategy[Any]) -> Nest:
    kind = draw(st.sampled_from(KINDS))
    if kind in ("named", "spot"):
        return Nest(kind, (draw(parts), draw(parts)))
    found = tuple(draw(st.lists(parts, max_size=3)))
    if kind in ("list", "tuple"):
        return Nest(kind, found)
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=len(found), max_size=len(found),
                         unique=True))  # fmt: skip
    return Nest(kind, found, tuple(keys))


def forms() -> st.SearchStrategy[Any]:
    """Forms of items, nested up to three deep or a little more."""
    return st.recursive(_leaves(), _nests, max_leaves=6)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting) -> Case:
    workers = draw(st.sampled_from((0, 0, 0, 0, 0, 2)))
    size = draw(st.sampled_from((1, 2, 3, None)))
    found = tuple(draw(st.lists(forms(), min_size=1, max_size=4)))
    options: dict[str, Any] = {"batch_size": size, **counted(workers)}
    n = draw(st.integers(1, 3 * (size or 1) * len(found)))
    if size and draw(st.booleans()):
        options["drop_last"] = True
    options = options if takes(setting, **options) else {"batch_size": size}
    return loader(of(found, n, size or 1), PLAN, **options)


FORMS = Scenario("loader-forms", _small, lambda s: _drawn(s), share=0.2)
SIGNALLED = Scenario("loader-signals", _signals)
