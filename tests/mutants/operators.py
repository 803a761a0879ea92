"""Every change of one thing in a source file.

A mutant has an id that names it for good, as long as the file stays: the same id makes the same
mutant again.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mutants.expressions import Edit, expression_edits
from mutants.sites import Site, sites
from mutants.statements import statement_edits


@dataclass(frozen=True)
class Mutant:
    """One change. target: the name of the file, line: where in it, function: "" outside of any.

    rule: a short name such as lt-lte, said: the change in words.
    """

    id: str
    target: str
    line: int
    function: str
    rule: str
    said: str
    _tree: ast.Module = field(repr=False)
    _site: Site = field(repr=False)
    _edit: Edit = field(repr=False)

    def source(self) -> str:
        """The whole changed file; comments are lost, docstrings stay."""
        self._site.put(self._edit.new)
        try:
            return ast.unparse(ast.fix_missing_locations(self._tree)) + "\n"
        finally:
            self._site.put(self._site.node)


def mutants(source: str, target: str) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    tree, ids = ast.parse(source), Counter[str]()
    for site in list(sites(tree)):
        for edit in [*expression_edits(site), *statement_edits(site)]:
            short = f"{target}:{site.line}:{edit.rule}"
            ids[short] += 1
            name = short if ids[short] == 1 else f"{short}#{ids[short]}"
            yield Mutant(
                name, target, site.line, site.function, edit.rule, edit.said, tree, site, edit
            )
