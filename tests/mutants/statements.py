"""What a statement may be changed into."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutants.expressions import ARITHMETIC, Edit, changed, signs
from mutants.sites import Site, text


def statement_edits(site: Site) -> Iterator[Edit]:
    """Every edit of the statement at a site."""
    node = site.node
    if _may_go(node):
        shown = " ".join(ast.unparse(node).split())
        said = f"`{shown if len(shown) <= 60 else shown[:57] + '...'}` dropped"
        yield Edit(f"no-{_kind(node)}", said, ast.Pass())
    if isinstance(node, ast.AugAssign) and not text(node.value):
        for new in ARITHMETIC.get(type(node.op), ()):
            yield Edit(*signs(type(node.op), new), changed(node, op=new()))
    if isinstance(node, ast.Return):
        yield from _returns(node)
    if isinstance(node, ast.Break):
        yield Edit("break-continue", "`break` to `continue`", ast.Continue())
    if isinstance(node, ast.Continue):
        yield Edit("continue-break", "`continue` to `break`", ast.Break())
        yield Edit("no-continue", "`continue` dropped", ast.Pass())


def _may_go(node: ast.AST) -> bool:
    """Whether a statement is one that can be forgotten without leaving a name undefined."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and isinstance(node.target, (ast.Attribute, ast.Subscript))
    return isinstance(node, (ast.AugAssign, ast.Expr, ast.Raise, ast.Delete))


def _kind(node: ast.AST) -> str:
    kinds: dict[type, str] = {ast.Raise: "raise", ast.Delete: "del", ast.Expr: "call"}
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        return "yield"
    return kinds.get(type(node), "assign")


def _returns(node: ast.Return) -> Iterator[Edit]:
    if node.value is None:
        yield Edit("no-return", "`return` dropped", ast.Pass())
    elif not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield Edit("return-none", "`None` is returned", ast.Return(ast.Constant(None)))
