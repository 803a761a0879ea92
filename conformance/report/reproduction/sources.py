"""Classes and functions of the suite as text for a script: without annotations and docstrings."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from pathlib import Path
from typing import Any

from conformance.report.reproduction.draft import Draft

WORLDS = Path(__file__).parents[2] / "worlds"
TOLD = WORLDS / "samples.py", WORLDS / "settings.py"


def copied(draft: Draft, *found: Any) -> None:
    """Put the source of these classes and functions into the script."""
    for each in found:
        draft.define(each.__name__, source(each))


def sampled(draft: Draft, *names: str) -> None:
    """Put classes and functions of `TOLD` into the script, by name.

    These modules import torch, which takes longer than most runs that write a script.
    """
    for name in names:
        lines, modules = _samples()[name]
        draft.define(name, lines)
        draft.need(*modules)


@functools.cache
def _samples() -> dict[str, tuple[tuple[str, ...], set[str]]]:
    """The lines of each, and the modules that they use."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in TOLD]
    kinds = (ast.FunctionDef, ast.ClassDef)
    nodes = [(node, tree) for tree in trees for node in tree.body if isinstance(node, kinds)]
    return {node.name: (_bare(node), _modules(node, tree)) for node, tree in nodes}


def _modules(node: ast.AST, tree: ast.Module) -> set[str]:
    """What the file imports of what a class or function of it uses: "torch", "numpy as np"."""
    found = [alias for one in tree.body if isinstance(one, ast.Import) for alias in one.names]
    used = _names(node)
    return {ast.unparse(alias) for alias in found if (alias.asname or alias.name) in used}


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@functools.cache
def source(found: Any) -> tuple[str, ...]:
    """The lines of a class or function, bare."""
    return _bare(ast.parse(textwrap.dedent(inspect.getsource(found))))


def _bare(tree: ast.AST) -> tuple[str, ...]:
    bare = ast.unparse(ast.fix_missing_locations(_Bare().visit(tree)))
    return tuple(line for line in bare.splitlines() if line.strip())


class _Bare(ast.NodeTransformer):
    """Takes away what only a reader of the suite needs."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns, node.body = None, _undocumented(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.bases = [_without_parameters(base) for base in node.bases]
        node.body = _undocumented(node.body)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else None


def _undocumented(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return (body[1:] or [ast.Pass()]) if text else body


def _without_parameters(base: ast.expr) -> ast.expr:
    return base.value if isinstance(base, ast.Subscript) else base
