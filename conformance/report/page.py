"""The result as one self-contained HTML page: no network, nothing beside it, works from a file."""

from __future__ import annotations

import re
from typing import Any

from conformance.report.picture import grid, legend, timeline
from conformance.report.result import Result, outcomes
from conformance.verdict import NOT_PROVIDED, WORST_FIRST

CODE = re.compile(r"`([^`]+)`")

SIGNS = dict(zip(WORST_FIRST, "✗↺?≈✓–·", strict=True))


def page(document: Result) -> str:
    """The page. What may come from a candidate is escaped, by Jinja or in `picture.py`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("conformance.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["spoken"] = lambda text: Markup(_spoken(str(escape(text))))
    environment.filters["grid"] = lambda evidence: Markup(grid(evidence))
    environment.filters["timeline"] = lambda event: Markup(timeline(event))
    environment.filters["legend"] = legend
    return environment.get_template("page.html").render(
        document=document, chapters=_chapters(document), candidates=document["candidates"],
        counts=[outcomes(candidate) for candidate in document["candidates"]], order=WORST_FIRST,
        signs=SIGNS,
    )  # fmt: skip


def _spoken(escaped: str) -> str:
    """A sentence of the spec: what stands in backticks is code."""
    return CODE.sub(r"<code>\1</code>", escaped)


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
            "verdicts": verdicts,
            "cells": [_worst(own) for own in verdicts],
        }
        found.setdefault(name.partition(".")[0], []).append(row)
    return found


def _worst(verdicts: list[dict[str, Any]]) -> str:
    """The outcome that a cell shows; a role that is absent hides nothing."""
    said = {verdict["outcome"] for verdict in verdicts}
    return next((outcome for outcome in WORST_FIRST if outcome in said), NOT_PROVIDED)
