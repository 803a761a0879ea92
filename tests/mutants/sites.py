"""The places of a source file where one thing may be changed, and what is left alone.

Left alone is what no promise of a sampler or loader hangs on: docstrings, annotations, the texts of
errors, warnings, logging, `__repr__`, `__all__`, type variables, and code for another platform.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Function = (ast.FunctionDef, ast.AsyncFunctionDef)

TYPED = frozenset(
    {"annotation", "returns", "decorator_list", "bases", "type_params", "type_comment"}
)
"""Fields that hold types and decorators."""

TELLING = frozenset({"warn", "_log_api_usage_once", "warning", "info", "debug", "exception"})
"""Calls that tell a person something."""

TYPING = frozenset({"TypeVar", "cast", "ParamSpec", "NewType"})

UNREACHED = frozenset({"TYPE_CHECKING", "IS_WINDOWS"})
"""Conditions that never hold where the suite runs."""

UNTOLD = frozenset({"__repr__", "__str__"})


@dataclass(frozen=True)
class Site:
    """A node of the tree, where it hangs, and the function it is in ("" at module level)."""

    node: ast.AST
    parent: ast.AST
    field: str
    place: int | None
    function: str

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", getattr(self.parent, "lineno", 0))

    def put(self, new: ast.AST) -> None:
        """Hang another node here."""
        if self.place is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.place] = new


def sites(tree: ast.AST, function: str = "") -> Iterator[Site]:
    """Every site below `tree`, in the order of the source."""
    for field, value in ast.iter_fields(tree):
        if _skipped(tree, field):
            continue
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if isinstance(child, ast.AST) and not _left_alone(child):
                site = Site(child, tree, field, place if value is children else None, function)
                yield site
                yield from sites(child, _inside(child, function))


def _inside(node: ast.AST, function: str) -> str:
    if isinstance(node, (*Function, ast.ClassDef)):
        return f"{function}.{node.name}".lstrip(".")
    return function


def _skipped(node: ast.AST, field: str) -> bool:
    """Whether nothing in this field of the node is to be changed."""
    if field in TYPED or isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.Assert) and field == "msg":
        return True
    if isinstance(node, ast.If) and field in ("test", "body"):
        return bool(_names(node.test) & UNREACHED) and isinstance(
            node.test, (ast.Name, ast.Attribute)
        )
    return isinstance(node, ast.ClassDef) and field == "keywords"


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, Function):
        decorators = set().union(*map(_names, node.decorator_list), set())
        return node.name in UNTOLD or "overload" in decorators
    if isinstance(node, ast.Expr):
        return _said(node.value) or _left_alone(node.value)
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    return isinstance(node, ast.Call) and called(node) in TELLING | TYPING


def _said(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in (..., node.value if text(node) else ...)


def text(node: ast.AST) -> bool:
    """Whether the node is a string of letters or bytes."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def called(node: ast.Call) -> str:
    """The last part of the name that is called, "" if it has none."""
    function = node.func
    return getattr(function, "id", "") or getattr(function, "attr", "")


def _names(node: ast.AST) -> set[str]:
    found = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}
    return found - {""}
