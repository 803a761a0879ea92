"""The verdict on the terminal: a line for each clause, a document for each violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.classes import SHOWN
from conformance.verdict import (
    BAD,
    DECLARED,
    HOLDS,
    NO_VERDICT,
    NOT_PROVIDED,
    STALE,
    VIOLATED,
    WORST_FIRST,
    Verdict,
)  # fmt: skip

COLOURS = {VIOLATED: "red", STALE: "red", NO_VERDICT: "yellow", DECLARED: "yellow", HOLDS: "green"}


def write_summary(terminal: Any, verdicts: list[Verdict], facts: dict[str, list[str]]) -> None:
    """Write the verdicts of a run, candidate by candidate, each after the facts about it."""
    for candidate in dict.fromkeys(verdict.candidate for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.candidate == candidate]
        terminal.section(f"conformance of {candidate}", sep="=")
        for fact in facts[candidate]:
            terminal.write_line(fact)
        for clause, group in _by_clause(own):
            _write_clause(terminal, clause, group)
        _write_documents(terminal, own)
        bad = [verdict for verdict in own if verdict.outcome in BAD]
        for clause, group in _by_clause(bad) if len(own) > REPEATED_AFTER else ():
            _write_clause(terminal, clause, group)
        counts = Counter(verdict.outcome for verdict in own)
        told = ", ".join(
            f"{counts[outcome]} {outcome}" for outcome in WORST_FIRST if counts[outcome]
        )
        terminal.write_line(f"{candidate}: {told}  (clause x role)")


REPEATED_AFTER = 20
"""After more verdicts than these the bad ones are told once more, at the end."""


def _by_clause(verdicts: list[Verdict]) -> Iterator[tuple[str, list[Verdict]]]:
    """The verdicts on each clause; chapters that are not provided at all are one line each."""
    chapters: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        chapters.setdefault(verdict.clause.partition(".")[0], []).append(verdict)
    for chapter, own in chapters.items():
        if {verdict.outcome for verdict in own} == {NOT_PROVIDED}:
            yield f"{chapter}.*", own
            continue
        for clause in dict.fromkeys(verdict.clause for verdict in own):
            yield clause, [verdict for verdict in own if verdict.clause == clause]


def _write_clause(terminal: Any, clause: str, verdicts: list[Verdict]) -> None:
    """One line for the clause; roles with another outcome than the worst get one each."""
    by_outcome = {
        outcome: [verdict for verdict in verdicts if verdict.outcome == outcome]
        for outcome in WORST_FIRST
    }
    for outcome in WORST_FIRST:
        group = by_outcome[outcome]
        if not group or (outcome == NOT_PROVIDED and len(group) < len(verdicts)):
            continue
        level = "" if clause.endswith("*") else group[0].level
        first = f"{clause:<31}{level:<7}"
        terminal.write(first)
        terminal.write(f"{outcome:<19}", **{COLOURS[outcome]: True} if outcome in COLOURS else {})
        terminal.write_line(_told(group, outcome, len(verdicts)))


def _told(group: list[Verdict], outcome: str, of: int) -> str:
    roles = _roles(dict.fromkeys(verdict.role for verdict in group)) if of > 1 else ""
    if outcome == HOLDS:
        return f"{_counts(group)}{roles and '  ' + roles}"
    reasons = "; ".join(dict.fromkeys(verdict.anomaly or verdict.reason for verdict in group))
    return f"{reasons[:100]}{roles and '  ' + roles}"


def _roles(names: Iterable[str]) -> str:
    short = [name.removesuffix("Sampler") for name in names]
    return "[" + " ".join(short) + "]"


def _counts(group: list[Verdict]) -> str:
    exercises = [verdict.exercise for verdict in group]
    total = sum(e.exercised for e in exercises)
    told = (f"{name} {sum(e.classes.get(name, 0) for e in exercises)}" for name in SHOWN)
    return f"{total:>6} cases ({', '.join(told)})"


def _write_documents(terminal: Any, verdicts: list[Verdict]) -> None:
    """Documents of what fails no item, and so stands in no failure above."""
    for verdict in verdicts:
        if verdict.outcome == VIOLATED and verdict.level != "MUST":
            terminal.write_line("")
            for line in verdict.document.splitlines():
                terminal.write_line(line)
    terminal.write_line("")
