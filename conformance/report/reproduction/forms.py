"""Items of `conformance/items.py` as the expressions that make them."""

from __future__ import annotations

from typing import Any

from conformance.datasets import Collate, Mapped
from conformance.items import FEW, ODD, PLAIN, WORDS, Leaf, Nest, bare, values, words
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.sources import sampled

NESTS = {
    "list": "[{parts}]", "tuple": "({parts})", "named": "Point({parts})", "spot": "Spot({parts})",
    "dict": "{{{named}}}", "ordered": "collections.OrderedDict({{{named}}})",
    "table": "Table({{{named}}})", "default": "collections.defaultdict(list, {{{named}}})",
}  # fmt: skip

LAYOUTS = {
    "": "{made}", "transposed": "{made}.mT.contiguous().mT",
    "sliced": "{made}.repeat_interleave(2, -1)[..., ::2]", "expanded": "{made}[:1].expand{shape}",
}  # fmt: skip

ARRAYS = {
    "": "{made}", "transposed": "numpy.asfortranarray({made})",
    "sliced": "{made}.repeat(2, -1)[..., ::2]",
}  # fmt: skip

POINT = "Point = collections.namedtuple('Point', ['x', 'label'])"


def items(draft: Draft, recipe: Mapped) -> str:
    """The expression for item `i`: one of a list of them all."""
    made = [f"{expression(draft, recipe.form(i), i)}," for i in range(recipe.n)]
    draft.define("ITEMS", ["ITEMS = [", *indented(made), "]"])
    return "ITEMS[i]"


def formless(draft: Draft) -> bool:
    """Whether the batches of the case are told by their description alone."""
    given = dict(draft.case.arguments)
    function, data = given.get("collate_fn"), given.get("dataset")
    odd = isinstance(function, Collate) and function.how == "odd"
    return odd or getattr(data, "gives", "") in ("formed", "odd")


def odd() -> list[str]:
    """A `collate_fn` that gives one of the odd values."""
    return [
        f"    odd = [{', '.join(ODD)}]",
        f"    return odd[(samples[0] if isinstance(samples, list) else samples) % {len(ODD)}]",
    ]


def expression(draft: Draft, form: Leaf | Nest, i: int) -> str:
    """Item i of a form."""
    if isinstance(form, Leaf):
        return _leaf(draft, form, i)
    if form.kind in ("named", "spot"):
        draft.need("collections")
        draft.define("Point", [POINT])
    if form.kind == "spot":
        draft.define("Spot", ["class Spot(Point):", "    pass"])
    if form.kind in ("ordered", "default"):
        draft.need("collections")
    if form.kind == "table":
        sampled(draft, "Table")
    made = [expression(draft, part, i) for part in form.parts]
    parts = ", ".join(made) + "," * (form.kind == "tuple" and len(made) == 1)
    named = ", ".join(f"{key!r}: {part}" for key, part in zip(form.keys, made, strict=False))
    return NESTS[form.kind].format(parts=parts, named=named)


def _leaf(draft: Draft, leaf: Leaf, i: int) -> str:
    if leaf.kind in ODD:
        return leaf.kind
    if leaf.kind in WORDS:
        return _words(draft, leaf, i)
    if leaf.kind in PLAIN:
        return repr(bare(leaf, i))
    module = "torch" if leaf.kind == "tensor" else "numpy"
    draft.need(module)
    if leaf.kind == "scalar":
        name = "bool_" if leaf.dtype == "bool" else leaf.dtype
        return f"numpy.{name}({values(leaf, i).item()!r})"
    made = _array(module, leaf, i)
    layouts = LAYOUTS if leaf.kind == "tensor" else ARRAYS
    return layouts[leaf.layout].format(made=made, shape=leaf.shape)


def _words(draft: Draft, leaf: Leaf, i: int) -> str:
    text = repr(words(leaf, i))
    if leaf.kind == "word":
        draft.define("Word", ["class Word(str):", "    pass"])
        return f"Word({text})"
    if leaf.kind == "label":
        draft.need("numpy")
    return text.replace("np.", "numpy.")


def _array(module: str, leaf: Leaf, i: int) -> str:
    maker, dtype = ("tensor", f"torch.{leaf.dtype}") if module == "torch" else ("array", "")
    dtype = dtype or repr(leaf.dtype)
    if leaf.count > FEW:
        counted = f"(({module}.arange({leaf.count}) + {i}) % 100).reshape({leaf.shape})"
        return f"{counted}.{'to' if module == 'torch' else 'astype'}({dtype})"
    found: Any = values(leaf, i)
    shaped = f".reshape({leaf.shape})" if not found.size else ""
    return f"{module}.{maker}({found.tolist()!r}, dtype={dtype}){shaped}"
