"""MATRIX.md: rows clauses, columns classes with their versions, from the kept results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.clauses import CHAPTERS, clauses
from conformance.report.result import Result
from conformance.verdict import DECLARED, HOLDS, NOT_APPLICABLE, STALE, VIOLATED
from field import bare
from field.packages import HERE

PAGE = HERE / "MATRIX.md"

MARKS = {HOLDS: "+", VIOLATED: "**x**", NOT_APPLICABLE: "·", DECLARED: "d", STALE: "f"}
COLUMNS = 12
"""How many classes stand side by side."""

HEAD = """\
# The field

What the suite says of published classes: `+` holds, `x` a violated MUST, `s` a violated SHOULD,
`d` a deviation that torch's shipped baseline declares, `f` one of those that does not occur here,
`·` not applicable, `?` no verdict, blank: not this role, or not asked: loaders of other packages
are asked a few clauses. Made by `python tests/benchmarks/field.py`; not edited by hand.
[FINDINGS.md](FINDINGS.md) tells what each violated MUST comes to; `python tests/benchmarks/field.py
--page FILE` renders all of it as one page.
"""


def page(documents: Iterable[Result]) -> str:
    """The whole page: who was examined, then a table for each dozen of classes of one role."""
    shown = [candidate for document in documents for candidate in document["candidates"]]
    parts = [HEAD, _classes(shown)]
    for role in dict.fromkeys(_roles(candidate) for candidate in shown):
        own = [candidate for candidate in shown if _roles(candidate) == role]
        for start in range(0, len(own), COLUMNS):
            parts += [f"## {role}", _table(own[start : start + COLUMNS], shown)]
    return "\n\n".join([*parts, bare.table()]) + "\n"


def _roles(candidate: dict[str, Any]) -> str:
    return ", ".join(candidate["roles"]) if len(candidate["roles"]) < 3 else "several roles"


def _classes(shown: list[dict[str, Any]]) -> str:
    """A numbered list: the tables have the numbers for heads."""
    rows = [
        "| | class | version | torch | seed, effort | MUST violated | SHOULD | holds |",
        "|---:|---|---|---|---|---:|---:|---:|",
    ]
    for number, candidate in enumerate(shown, 1):
        run = candidate["run"]
        rows.append(
            f"| {number} | `{candidate['name']}` | {candidate['version']} | {run['torch']} | "
            f"{run['seed']}, {run['effort']} | {_count(candidate, VIOLATED, 'MUST')} | "
            f"{_count(candidate, VIOLATED, 'SHOULD')} | {_count(candidate, HOLDS)} |"
        )
    return "\n".join(rows)


def _count(candidate: dict[str, Any], outcome: str, level: str = "") -> int:
    return sum(
        verdict["outcome"] == outcome and level in ("", verdict["level"])
        for verdict in candidate["verdicts"]
    )


def _table(own: list[dict[str, Any]], shown: list[dict[str, Any]]) -> str:
    numbers = [str(shown.index(candidate) + 1) for candidate in own]
    cells = [_cells(candidate) for candidate in own]
    names = [n for n in clauses() if any(n in known for known in cells)]
    names.sort(key=lambda name: CHAPTERS.index(name.partition(".")[0]))
    rows = [
        f"| clause | {' | '.join(numbers)} |",
        f"|---|{':-:|' * len(own)}",
        *(f"| {name} | {' | '.join(known.get(name, '') for known in cells)} |" for name in names),
    ]
    return "\n".join(rows)


def _cells(candidate: dict[str, Any]) -> dict[str, str]:
    """By clause the mark of the worst verdict over the roles."""
    found: dict[str, str] = {}
    order = ["", "·", "+", "f", "?", "s", "d", "**x**"]
    for verdict in candidate["verdicts"]:
        mark = MARKS.get(verdict["outcome"], "?")
        mark = "s" if mark == "**x**" and verdict["level"] == "SHOULD" else mark
        found[verdict["clause"]] = max(mark, found.get(verdict["clause"], ""), key=order.index)
    return found
