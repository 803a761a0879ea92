"""What an expression may be changed into."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from mutants.sites import Site, called, text


class Edit(NamedTuple):
    """Another node for a site: a short name of the rule, what is changed in words, the node."""

    rule: str
    said: str
    new: ast.AST


COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip

ARITHMETIC: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.FloorDiv, ast.Add),
    ast.FloorDiv: (ast.Mult, ast.Mod), ast.Mod: (ast.FloorDiv,), ast.Div: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,), ast.BitXor: (ast.BitAnd,),
}  # fmt: skip

SIGNS = {
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "is",
    "IsNot": "is not", "In": "in", "NotIn": "not in", "Add": "+", "Sub": "-", "Mult": "*",
    "FloorDiv": "//", "Mod": "%", "Div": "/", "Pow": "**", "LShift": "<<", "RShift": ">>",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "And": "and", "Or": "or",
}  # fmt: skip

SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}

UNWRAPPED = frozenset({"int", "list", "tuple", "bool", "sorted", "reversed", "set", "abs"})
"""Calls with one argument that may be left out."""

HOLDS_NONE = (ast.Assign, ast.AnnAssign, ast.keyword, ast.Call, ast.arguments)


def expression_edits(site: Site) -> Iterator[Edit]:
    """Every edit of the expression at a site."""
    rules: dict[type, Any] = {
        ast.Compare: _comparisons, ast.BinOp: _arithmetic, ast.BoolOp: _logic, ast.Call: _calls,
        ast.UnaryOp: _unary, ast.Slice: _slices, ast.Yield: _yields, ast.YieldFrom: _yields,
    }  # fmt: skip
    if type(site.node) in rules:
        yield from rules[type(site.node)](site.node)
    if isinstance(site.node, ast.Constant):
        yield from _constants(site.node, site)
    if site.field in ("test", "ifs") and not isinstance(site.node, (ast.Compare, ast.UnaryOp)):
        new = ast.UnaryOp(ast.Not(), site.node)  # type: ignore[arg-type]
        yield Edit("negated", f"condition `{_shown(site.node)}` negated", new)


def changed(node: Any, **fields: Any) -> Any:
    """A copy of a node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def signs(old: type, new: type) -> tuple[str, str]:
    """The rule and the words for one operator in the place of another."""
    rule = f"{old.__name__}-{new.__name__}".lower()
    return rule, f"`{SIGNS[old.__name__]}` to `{SIGNS[new.__name__]}`"


def _comparisons(node: ast.Compare) -> Iterator[Edit]:
    for place, old in enumerate(node.ops):
        for new in COMPARISONS[type(old)]:
            ops = [*node.ops[:place], new(), *node.ops[place + 1 :]]
            yield Edit(*signs(type(old), new), changed(node, ops=ops))


def _arithmetic(node: ast.BinOp) -> Iterator[Edit]:
    if text(node.left) or text(node.right):
        return
    for new in ARITHMETIC.get(type(node.op), ()):
        yield Edit(*signs(type(node.op), new), changed(node, op=new()))
    if type(node.op) in ARITHMETIC:
        yield Edit("only-left", f"`{_shown(node)}` to its left side", node.left)
        yield Edit("only-right", f"`{_shown(node)}` to its right side", node.right)


def _logic(node: ast.BoolOp) -> Iterator[Edit]:
    new = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield Edit(*signs(type(node.op), new), changed(node, op=new()))
    for place, part in enumerate(node.values):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        left = rest[0] if len(rest) == 1 else changed(node, values=rest)
        yield Edit("no-part", f"`{_shown(node)}` without `{_shown(part)}`", left)


def _unary(node: ast.UnaryOp) -> Iterator[Edit]:
    if isinstance(node.op, ast.Not):
        yield Edit("not-dropped", f"`{_shown(node)}` without its `not`", node.operand)
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield Edit("minus-dropped", f"`{_shown(node)}` without its minus", node.operand)


def _constants(node: ast.Constant, site: Site) -> Iterator[Edit]:
    for value in _other_values(node.value, site):
        rule = f"{node.value}-{value}".lower().replace("--", "-minus-")
        kind = "default " if isinstance(site.parent, ast.arguments) else ""
        said = f"{kind}`{node.value}` to `{value}`"
        yield Edit(rule, said, ast.Constant(value))


def _other_values(value: Any, site: Site) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, (int, float)):
        return value + 1, value - 1
    return (0,) if value is None and isinstance(site.parent, HOLDS_NONE) else ()


def _slices(node: ast.Slice) -> Iterator[Edit]:
    for bound in ("lower", "upper", "step"):
        value = getattr(node, bound)
        if value is not None:
            said = f"slice without its {bound} `{_shown(value)}`"
            yield Edit(f"no-{bound}", said, changed(node, **{bound: None}))


def _calls(node: ast.Call) -> Iterator[Edit]:
    name = called(node)
    if name in SWAPPED and isinstance(node.func, ast.Name):
        new = changed(node, func=ast.Name(SWAPPED[name], ast.Load()))
        yield Edit(f"{name}-{SWAPPED[name]}", f"`{name}` to `{SWAPPED[name]}`", new)
    if name in UNWRAPPED and isinstance(node.func, ast.Name) and len(node.args) == 1:
        yield Edit(f"no-{name}", f"`{_shown(node)}` without `{name}`", node.args[0])
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            keywords = [*node.keywords[:place], *node.keywords[place + 1 :]]
            said = f"`{name}` without its argument `{ast.unparse(keyword)}`"
            yield Edit(f"no-{keyword.arg}", said, changed(node, keywords=keywords))


def _yields(node: ast.Yield | ast.YieldFrom) -> Iterator[Edit]:
    if isinstance(node, ast.YieldFrom):
        yield Edit(
            "yield-nothing", "nothing is yielded", changed(node, value=ast.Tuple([], ast.Load()))
        )
    elif node.value is not None:
        yield Edit("yield-none", "`None` is yielded", changed(node, value=None))


def _shown(node: ast.AST) -> str:
    """The code of a node, on one line of bounded length."""
    shown = " ".join(ast.unparse(node).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
