"""What GitHub Actions shows of a run: annotations, and the summary of the step.

The forms are those of GitHub's "Workflow commands" page.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from conformance.report.links import clause_url
from conformance.report.markdown import markdown
from conformance.report.result import Result
from conformance.verdict import BAD

ANNOTATIONS_MAX = 10
"""GitHub shows ten errors and ten warnings of a step."""


def commands(document: Result) -> list[str]:
    """One workflow command for each verdict that is not as it should be, MUSTs first."""
    found = [
        (candidate, verdict)
        for candidate in document["candidates"]
        for verdict in candidate["verdicts"]
        if verdict["outcome"] in BAD
    ]
    found.sort(key=lambda pair: pair[1]["level"] != "MUST")
    return [_command(document, *pair) for pair in found[:ANNOTATIONS_MAX]]


def _command(document: Result, candidate: dict[str, Any], verdict: dict[str, Any]) -> str:
    kind = "error" if verdict["level"] == "MUST" else "warning"
    title = f"{verdict['clause']} ({verdict['level']}) {verdict['outcome']}"
    link = clause_url(document.get("spec_url"), verdict["clause"])
    told = "\n".join(filter(None, [_message(candidate, verdict), link]))
    return f"::{kind} title={_property(title)}::{_data(told)}"


def _message(candidate: dict[str, Any], verdict: dict[str, Any]) -> str:
    evidence = verdict["evidence"]
    if evidence is None:
        return f"{verdict['role']} of {candidate['name']}: {verdict['reason']}"
    return (
        f"{verdict['role']} of {candidate['name']}: {evidence['anomaly']}: {evidence['saw']}\n"
        f"{evidence['again']}"
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def tell(document: Result) -> list[str]:
    """Append to the step's summary where there is one; returns the lines to print."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(markdown(document))
    return commands(document) if os.environ.get("GITHUB_ACTIONS") == "true" else []
