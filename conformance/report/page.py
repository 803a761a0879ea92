"""The result as one self-contained HTML page: no network, nothing beside it, works from a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conformance.report.links import clause_url
from conformance.report.picture import grid, legend, marked, timeline
from conformance.report.result import Result, outcomes
from conformance.verdict import NOT_PROVIDED, WORST_FIRST

if TYPE_CHECKING:
    from jinja2 import Environment

CODE = re.compile(r"(`{1,2})([^`]+)\1")

SIGNS = dict(zip(WORST_FIRST, "✗↺?≈✓–·", strict=True))


def page(document: Result) -> str:
    """The page. What may come from a candidate is escaped, by Jinja or in `picture.py`."""
    candidates = document["candidates"]
    return environment().get_template("page.html").render(
        document=document, chapters=_chapters(document), candidates=candidates,
        counts=[outcomes(candidate) for candidate in candidates], order=WORST_FIRST,
        signs=SIGNS, labels=_labels(candidates),
    )  # fmt: skip


def environment() -> Environment:
    """Where templates are found and escaped, with the filters that they use."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    found = Environment(
        loader=PackageLoader("conformance.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.filters["spoken"] = lambda text: Markup(_spoken(str(escape(text))))
    found.filters["grid"] = lambda evidence: Markup(grid(evidence))
    found.filters["timeline"] = lambda event: Markup(timeline(event))
    found.filters["legend"] = legend
    found.filters["marked"] = marked
    return found


def _labels(candidates: list[dict[str, Any]]) -> list[str]:
    """What candidates are called side by side: a file by its last part, if that tells it apart."""
    names = [candidate["name"] for candidate in candidates]
    short = [name.rpartition("/")[2] if ".py" in name else name for name in names]
    if len(set(short)) == len(names):
        return short
    return [f"{candidate['name']} {candidate['version']}" for candidate in candidates]


def _spoken(escaped: str) -> str:
    """A sentence of the spec: what stands in backticks is code."""
    return CODE.sub(r"<code>\2</code>", escaped)


def _chapters(document: Result) -> dict[str, list[dict[str, Any]]]:
    """Chapter -> its clauses, each with its row of the matrix and all its verdicts."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, clause in document["clauses"].items():
        verdicts = [
            [verdict for verdict in candidate["verdicts"] if verdict["clause"] == name]
            for candidate in document["candidates"]
        ]
        row = clause | {
            "id": name,
            "spec": clause_url(document.get("spec_url"), name),
            "verdicts": verdicts,
            "cells": [_worst(own) for own in verdicts],
            "anomalies": [_anomalies(own) for own in verdicts],
        }
        found.setdefault(name.partition(".")[0], []).append(row)
    return found


def _worst(verdicts: list[dict[str, Any]]) -> str:
    """The outcome that a cell shows; a role that is absent hides nothing."""
    said = {verdict["outcome"] for verdict in verdicts}
    return next((outcome for outcome in WORST_FIRST if outcome in said), NOT_PROVIDED)


def _anomalies(verdicts: list[dict[str, Any]]) -> list[str]:
    """What the violations are called, each once."""
    found = [v["evidence"]["anomaly"] for v in verdicts if v["evidence"]]
    return list(dict.fromkeys(found))
