"""The code of an adapter as a stand-alone script needs it: without this suite."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from conformance.adapter import Adapter

OWN = "conformance"

FILE = "conformance_candidate_"
"""How the name of a module begins that is a candidate's file."""


@dataclass(frozen=True)
class Copied:
    """Names of an adapter's functions, "" for one that it has not, and the lines that define them.

    build: "" also where the class is one of the candidate's own file. head: imports, and what makes
    a package importable. plain: the class is built as it is, by no function.
    """

    build: str = ""
    set_epoch: str = ""
    indices: str = ""
    head: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    plain: bool = False

    @property
    def presents(self) -> bool:
        """Whether what was built is presented by hooks."""
        return bool(self.set_epoch or self.indices)


def copied(adapter: Adapter) -> Copied:
    """The code that an adapter's functions need, of the modules in which they stand."""
    names, head, lines = list[str](), dict[str, None](), dict[str, tuple[str, ...]]()
    for hook in (adapter.build, adapter.set_epoch, adapter.indices):
        above, own = _code(hook, adapter) if hook else ([], {})
        names.append(hook.__name__ if hook and (above or own) else "")
        head |= dict.fromkeys(above)
        lines |= own
    together = tuple(line for text in lines.values() for line in text)
    plain = adapter.build is adapter.subject
    return Copied(names[0], names[1], names[2], tuple(head), together, plain)


def _code(
    hook: Callable[..., Any], adapter: Adapter
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """What a hook needs; a class that is built as it is needs to be imported."""
    if hook is not adapter.subject:
        return _needed(hook)
    published = not hook.__module__.startswith(FILE)
    return [f"from {hook.__module__} import {hook.__name__}"] * published, {}


def _needed(hook: Callable[..., Any]) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """What stands at the top of a function's module, and by name the definitions that it uses."""
    tree = ast.parse(inspect.getsource(sys.modules[hook.__module__]))
    defined = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    wanted, left = dict[str, ast.stmt](), [hook.__name__]
    while left:
        name = left.pop()
        if name in defined and name not in wanted:
            wanted[name] = defined[name]
            left += [n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)]
    own = {name: node for name, node in defined.items() if name in wanted}
    lines = [line for node in _shown(tree, own.values()) for line in ast.unparse(node).splitlines()]
    return lines, {name: tuple(_plain(node).splitlines()) for name, node in own.items()}


def _shown(tree: ast.Module, own: Iterable[ast.stmt]) -> list[ast.stmt]:
    """What stands at the top that acts, or makes a name that is used, by another of these too."""
    acting = [node for node in tree.body if _acts(node)]
    used, shown = _names([*own, *acting]), acting
    while True:
        found = [node for node in tree.body if node in acting or _is_used(node, used)]
        if found == shown:
            return shown
        shown, used = found, used | _names(found)


def _names(nodes: Iterable[ast.stmt]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def _acts(node: ast.stmt) -> bool:
    """Whether a statement at the top changes something that is not the module's own."""
    if isinstance(node, ast.Assign):
        return not all(isinstance(target, ast.Name) for target in node.targets)
    harmless = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign)
    return not isinstance(node, harmless) and not _is_text(node)


def _is_used(node: ast.stmt, used: set[str]) -> bool:
    """Whether an import, or an assignment, makes a name that is used; none of this suite's."""
    if isinstance(node, ast.ImportFrom) and _is_own(str(node.module)):
        return False
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((n.asname or n.name.partition(".")[0]) in used for n in node.names)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in used for target in targets)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] in (OWN, "__future__")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _plain(node: ast.stmt) -> str:
    """A definition without its docstrings and annotations, which a script does without."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and _is_text(inner.body[0]):
            inner.body = inner.body[1:] or [ast.Pass()]
        if isinstance(inner, ast.FunctionDef):
            inner.returns = None
        if isinstance(inner, ast.arg):
            inner.annotation = None
    return ast.unparse(ast.fix_missing_locations(node))
