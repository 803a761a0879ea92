"""The forms of a result: the same document as JSON, a page, Markdown, a badge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.report.badge import badge
from conformance.report.markdown import markdown
from conformance.report.page import page
from conformance.report.result import Result


def text(document: Result, form: str) -> str:
    """The document as `json`, `html`, `md` or `badge`."""
    if form == "html":
        return page(document)
    if form == "md":
        return markdown(document)
    return dumped(badge(document) if form == "badge" else document)


def dumped(value: Any) -> str:
    """JSON as it is written: one space of indent, no number that JSON does not know."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: Path, told: str) -> None:
    """Write a text; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told, encoding="utf-8")
