"""The whole script: what it says, what it does, and how it ends."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from conformance import loading as lo
from conformance.clauses import Clause
from conformance.report.reproduction.checks import SAME, still
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.ending import ending
from conformance.report.reproduction.loader import LoaderSeen
from conformance.report.reproduction.look import MACHINE, look
from conformance.report.reproduction.origin import by_path, module_name, path_lines
from conformance.report.reproduction.seen import Seen, brief, brief_defined
from conformance.report.reproduction.values import literal
from conformance.trace import Trace

if TYPE_CHECKING:
    from conformance.drawing import Found

SEEN_MAX = 600
"""What was seen and takes more characters is compared by its checksum."""

DANGEROUS = (lo.Strike, lo.Interrupt, lo.Fork, lo.Orphan, lo.End, lo.Limit, lo.Daemon, lo.Shut)


def script(draft: Draft, clause: Clause, role: str, found: Found) -> str:
    """The text of the script."""
    body = look(draft, found)
    broken, seen = still(draft, clause.id, found), list[str]()
    if broken == SAME:
        broken, seen = _same(draft, found.trace)
    end = ending(draft, broken, _apart(draft, found.trace))
    classes = [text for name in draft.classes for text in _block(draft, name)]
    head = [heading(draft, clause, role, found), *imports(draft), ""]
    return "\n".join([*head, *classes, *body, "", *seen, *end]) + "\n"


def _block(draft: Draft, name: str) -> list[str]:
    return [*draft.classes[name], ""]


def _apart(draft: Draft, trace: Trace) -> bool:
    """Whether something may hang, die, or leave processes behind."""
    spawned = "multiprocessing_context" in dict(draft.case.arguments)
    several = draft.grouped and draft.several and draft.subject == "loader"
    hung = any(e.error and e.error.kind == "Hang" for rank in trace for e in rank.events)
    return not trace.done or hung or spawned or several or draft.has(*DANGEROUS)


def _same(draft: Draft, trace: Trace) -> tuple[str, list[str]]:
    """The comparison with what the run saw, in full or by a checksum."""
    ranks = [seen(draft, rank) for rank in trace]
    found: Any = ranks if draft.several else ranks[0]
    if draft.warned:
        for told, rank in zip(ranks, trace, strict=True):
            texts = (w for e in rank.events for w in e.warnings if MACHINE not in w)
            told.append(sorted({text.partition(":")[0] for text in texts}))
    text = literal(found)
    if len(text) <= SEEN_MAX:
        return SAME, [f"SEEN = {text}"]
    return f"{brief_defined(draft)}(now) == SEEN", [f"SEEN = {literal(brief(found))}"]


def seen(draft: Draft, rank: Any) -> list[Any]:
    """What one rank saw."""
    return (LoaderSeen(rank, draft) if draft.subject == "loader" else Seen(rank)).all()


def heading(draft: Draft, clause: Clause, role: str, found: Found) -> str:
    """The docstring, which is also what the script prints first."""
    source = draft.candidate.source
    told = textwrap.fill(clause.sentence, 97, initial_indent="demands: ", subsequent_indent="    ")
    saw = textwrap.shorten(found.violation.saw, 180, placeholder=" ...")
    saw = textwrap.fill(saw, 97, initial_indent="seen:    ", subsequent_indent="    ")
    title = f"{clause.id} ({clause.level}), {role} of {source}: {found.violation.anomaly}"
    text = f"{title}\n\n{told}\n{saw}\n".replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}"""'


def imports(draft: Draft) -> list[str]:
    """The imports: the standard library, torch and numpy, the candidate."""
    draft.need("sys")
    path, by_file = path_lines(draft.candidate), by_path(draft.candidate)
    others = [name for name in ("numpy", "numpy as np", "torch") if name in draft.modules]
    plain = sorted(draft.modules - set(others) | ({"importlib.util"} if by_file else set()))
    own = [_from(draft, module, by_file) for module in sorted(draft.names, key=_candidate_last)]
    first = [f"import {', '.join(name for name in plain)}"] if plain else []
    plain_head = [line for line in draft.head if line not in (f"import {name}" for name in others)]
    return [*first, *(f"import {name}" for name in others), *path, *by_file, *own, *plain_head]


def _candidate_last(module: str) -> bool:
    return not module.startswith("torch")


def _from(draft: Draft, module: str, by_file: list[str]) -> str:
    own = by_file and module == module_name(draft.candidate)
    return f"from {'candidate' if own else module} import {', '.join(sorted(draft.names[module]))}"
