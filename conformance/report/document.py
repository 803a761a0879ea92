"""A failure as a document: the clause, what was seen, the smallest case, the grid, the command."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING

from conformance.candidate import Description
from conformance.case import Case
from conformance.clauses import Clause
from conformance.report.grid import grid
from conformance.report.links import clause_url

if TYPE_CHECKING:
    from conformance.drawing import Found


def document(
    candidate: Description, clause: Clause, role: str, found: Found,
    script: str = "", spec_url: str = "",
) -> str:  # fmt: skip
    """The text that a person gets for a violation.

    script: where its reproduction stands. spec_url: where the spec stands as pages.
    """
    case, violation = found.case, found.violation
    where = _where(case)
    parts = [
        f"{clause.id} ({clause.level}) is violated by {role} of {candidate.source}: "
        f"{violation.anomaly}",
        textwrap.indent(textwrap.fill(clause.sentence, 94), "  | "),
        f"  seen   {violation.saw}",
        f"  case   {case!r}",
        f"  world  {where}",
        grid(found.trace, violation),
        f"  why    {textwrap.shorten(clause.why, 400)}" if clause.why else "",
        f"  again  {command(candidate, clause, role, found)}",
        f"  script {script}" if script else "",
        f"  spec   {clause_url(spec_url, clause.id)}" if spec_url else "",
    ]
    return "\n".join(part for part in parts if part)


def _where(case: Case) -> str:
    """The world of a case, in words."""
    if case.world == "simulated":
        return f"world size {case.world_size}, ranks simulated one after another"
    if case.world == "group":
        return f"world size {case.world_size}, real processes in a process group"
    if case.world_size == 1:
        return "a process of its own, without a process group"
    return "the same program in two processes, which are no ranks; each hashes text in its own way"


def command(candidate: Description, clause: Clause, role: str, found: Found) -> str:
    """The one line that shows the violation again."""
    source = candidate.source
    words = ["pytest", "--pyargs", "conformance", f"--impl={source.text}"]
    words += [f"--role={name}={attribute}" for name, attribute in source.names]
    if source.profile != "core":
        words.append(f"--conformance-profile={source.profile}")
    words += [f"--clause={clause.id}", f"--on={role}", f"--case={found.case!r}"]
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    """A word as a shell takes it, in double quotes where a repr is full of single ones."""
    if "'" in word and not set(word) & set('"$`\\!'):
        return f'"{word}"'
    return shlex.quote(word)
