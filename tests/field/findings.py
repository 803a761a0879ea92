"""FINDINGS.md: what was found in published packages, worst first, from the kept results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.report.result import Result
from field.confirmed import Confirmed
from field.looks import SEVERITIES, Look, look, looks
from field.measure import subject, violations
from field.packages import HERE

PAGE = HERE / "FINDINGS.md"

HEAD = """\
# Findings

What the suite found in published packages. Made by `python tests/benchmarks/field.py --table` from
`results/` and `looks.toml`; not edited by hand.

Each finding is a violated MUST whose stand-alone script was run in the package's environment and
showed it. It needs torch and the package, not this suite. Somebody then read the source and decided
that it is a violation; what is a documented choice is declared in an adapter, and what was meant
though no policy says so stands at the end.

How to see one: save the script, `pip install` the package in the version named, and run it. It
exits with 1 while the bug is there.
"""


@dataclass(frozen=True)
class Finding:
    """One violated clause of one published class."""

    candidate: dict[str, Any]
    clause: dict[str, Any]
    verdict: dict[str, Any]
    seen: Look | None
    ended: int

    @property
    def shown(self) -> bool:
        """Whether the script shows it."""
        return self.ended == 1

    @property
    def title(self) -> str:
        return f"{self.candidate['name']}: {self.verdict['clause']}"


def findings(documents: Iterable[Result], confirmed: Confirmed) -> list[Finding]:
    """Every violated MUST, in the order of severity."""
    known = looks()
    found = []
    for document in documents:
        (candidate,) = document["candidates"]
        for verdict in violations(document):
            if verdict["level"] == "MUST":
                seen = look(known, candidate["name"], verdict["clause"], verdict["role"])
                ended = confirmed.get(candidate["name"], {}).get(subject(verdict), -1)
                clause = document["clauses"][verdict["clause"]]
                found.append(Finding(candidate, clause, verdict, seen, ended))
    return sorted(found, key=_place)


def _place(finding: Finding) -> tuple[int, str]:
    severity = finding.seen.severity if finding.seen else SEVERITIES[-1]
    return SEVERITIES.index(severity), finding.title


def page(found: list[Finding]) -> str:
    """The whole page."""
    real = [f for f in found if f.shown and f.seen and f.seen.decision == "violation"]
    meant = [f for f in found if f.seen and f.seen.decision == "choice"]
    parts = [HEAD, _summary(real)]
    for severity in SEVERITIES:
        own = [f for f in real if f.seen and f.seen.severity == severity]
        if own:
            parts += [f"## {severity.capitalize()}", *map(_section, own)]
    if meant:
        parts += ["## Meant, though no policy says so", "\n".join(map(_line, meant))]
    return "\n\n".join(parts) + "\n"


def _summary(found: list[Finding]) -> str:
    rows = ["| severity | findings | classes |", "|---|---:|---:|"]
    for severity in SEVERITIES:
        own = [f for f in found if f.seen and f.seen.severity == severity]
        classes = {f.candidate["name"] for f in own}
        rows.append(f"| {severity} | {len(own)} | {len(classes)} |")
    return "\n".join(rows)


def _section(finding: Finding) -> str:
    """What a maintainer needs: what happens, what was demanded and why, and the script."""
    candidate, verdict, seen = finding.candidate, finding.verdict, finding.seen
    evidence, run = verdict["evidence"], candidate["run"]
    assert seen is not None
    facts = [
        f"version {candidate['version']}", f"torch {run['torch']}", f"Python {run['python']}",
        f"as `{verdict['role']}`",
    ]  # fmt: skip
    lines = [
        f"### {finding.title}",
        f"{seen.text}{_known(seen.link)}",
        f"*{verdict['clause']}* demands: {finding.clause['sentence']}",
        f"Seen: {evidence['saw']}. ({', '.join(facts)}; found with `{_command(candidate)}`)",
        f"<details><summary>script</summary>\n\n```python\n{evidence['script'].rstrip()}\n```\n\n"
        "</details>",
    ]
    return "\n\n".join(lines)


def _known(link: str) -> str:
    return f" Known: {link}." if link else ""


def _command(candidate: dict[str, Any]) -> str:
    """How the run can be done again."""
    return f"pytest --pyargs conformance --impl={candidate['name']}"


def _line(finding: Finding) -> str:
    assert finding.seen is not None
    return f"- {finding.title}: {finding.seen.text}"


def open_points(found: list[Finding]) -> Iterator[str]:
    """What a check of the page complains of."""
    for finding in found:
        what = f"{finding.title} ({finding.verdict['role']})"
        if finding.seen is None:
            yield f"{what}: nobody has taken a second look"
        elif finding.seen.decision == "ours":
            yield f"{what}: our own fault is kept as a result"
        if not finding.shown:
            yield f"{what}: the script ended with {finding.ended}, not with 1"
