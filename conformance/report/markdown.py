"""The result as Markdown, fit for a comment on a pull request: verdicts first, evidence folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.report.links import clause_url
from conformance.report.result import Result, outcomes
from conformance.verdict import BAD, WORST_FIRST

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#@!~&])")
LENGTH_MAX = 60_000
"""GitHub takes 65,536 characters in a comment."""


def markdown(document: Result) -> str:
    """The whole text; what would not fit is counted and left to the JSON."""
    text = ""
    parts = [part for candidate in document["candidates"] for part in _parts(document, candidate)]
    for number, part in enumerate(parts):
        if len(text) + len(part) > LENGTH_MAX:
            return f"{text}\n\n{len(parts) - number} more parts: see the JSON of this run.\n"
        text += part + "\n\n"
    return text.rstrip() + "\n"


def _parts(document: Result, candidate: dict[str, Any]) -> Iterator[str]:
    counts, run = outcomes(candidate), candidate["run"]
    yield f"## Conformance of {_plain(candidate['name'])} {_plain(candidate['version'])}"
    if not run["complete"]:
        yield "**Partial:** the run was stopped before every chosen clause was examined."
    said = [outcome for outcome in WORST_FIRST if outcome in counts]
    cells = [said, ["---:"] * len(said), [str(counts[outcome]) for outcome in said]]
    yield "\n".join(f"| {' | '.join(row)} |" for row in cells)
    bad = [verdict for verdict in candidate["verdicts"] if verdict["outcome"] in BAD]
    bad.sort(key=lambda v: (v["level"] != "MUST", BAD.index(v["outcome"])))
    if bad:
        yield _table(document, bad)
    for verdict in bad:
        if verdict["evidence"]:
            yield _folded(document, verdict)
    yield (
        f"<sub>spec {document['spec']}, suite {run['suite']}, torch {_plain(run['torch'])}, "
        f"effort {run['effort']}, seed {run['seed']}, {run['seconds']:.0f} s</sub>"
    )


def _table(document: Result, bad: list[dict[str, Any]]) -> str:
    rows = [
        f"| {_linked(document, v['clause'])} | {v['level']} | {v['role']} | {v['outcome']} "
        f"| {_plain(_what(v))} |"
        for v in bad
    ]
    return "\n".join(["| clause | level | role | verdict | what |", "|---|---|---|---|---|", *rows])


def _linked(document: Result, clause: str) -> str:
    """The name of a clause, and the way to its text where that is known."""
    url = clause_url(document.get("spec_url"), clause)
    return f"[{clause}](<{url}>)" if url else clause


def _what(verdict: dict[str, Any]) -> str:
    evidence = verdict["evidence"]
    return (
        f"{evidence['anomaly']}: {evidence['saw'][:160]}" if evidence else verdict["reason"][:200]
    )


def _folded(document: Result, verdict: dict[str, Any]) -> str:
    """The evidence of one violation, behind a line to click on."""
    evidence, name = verdict["evidence"], verdict["clause"]
    clause, url = document["clauses"][name], clause_url(document.get("spec_url"), name)
    spec = f" [spec](<{url}>)" if url else ""
    title = f"{verdict['clause']}, {verdict['role']}: {evidence['anomaly']}"
    return "\n".join(
        [
            f"<details><summary>{_escaped(title)}</summary>", "",
            f"> {clause['sentence']}{spec}", "", _plain(evidence["saw"]), "",
            _block(evidence["case"], "python"), "", "Again:", "", _block(evidence["again"], "sh"),
            "", "Without this suite:", "", _block(evidence["script"], "python"), "", "</details>",
        ]
    )  # fmt: skip


def _block(text: str, language: str) -> str:
    """A fenced block, with a fence longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line: it may come from a candidate."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
