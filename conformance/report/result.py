"""The result of a run as one JSON document; every report is rendered from it and nothing else.

Its form is published beside this file, as a JSON Schema (`result.schema.json`).
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import conformance
from conformance.candidate import Description
from conformance.clauses import clauses, spec_folder
from conformance.machine import accelerators, torch_version
from conformance.report.links import checked
from conformance.verdict import Verdict

FORM = "sampler-conformance/result/1"
SCHEMA = Path(__file__).parent / "result.schema.json"

Result = dict[str, Any]


class ResultError(ValueError):
    """A file that holds no result of a run."""


def spec_revision() -> str:
    """The first 12 hexadecimal digits of the SHA-256 of all chapters, in order of their names."""
    digest = hashlib.sha256()
    for path in sorted(spec_folder().glob("*.md")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def machine() -> dict[str, Any]:
    """Where a run took place."""
    return {
        "suite": conformance.__version__, "torch": torch_version(),
        "python": platform.python_version(), "platform": platform.platform(),
        "accelerators": accelerators(),
    }  # fmt: skip


def result(
    run: dict[str, Any],
    candidates: Iterable[Description],
    verdicts: Iterable[Verdict],
    spec_url: str | None = None,
) -> Result:
    """The document. run: what `Session.told` says of the options, and whether it is complete.

    spec_url: where a site of the spec stands, for reports to link to; raises AddressError if no
    report may link there.
    """
    found = list(verdicts)
    named = dict.fromkeys(verdict.clause for verdict in found)
    return {
        "form": FORM,
        "spec": spec_revision(),
        "spec_url": None if spec_url is None else checked(spec_url),
        "clauses": {
            name: {"level": c.level, "sentence": c.sentence, "why": c.why, "laws": list(c.rows)}
            for name, c in clauses().items()
            if name in named
        },
        "candidates": [
            _candidate(described, run, [v for v in found if v.candidate == str(described.source)])
            for described in candidates
        ],
    }


def _candidate(found: Description, run: dict[str, Any], own: list[Verdict]) -> dict[str, Any]:
    return {
        "name": str(found.source),
        "version": found.version,
        "digest": found.digest,
        "roles": list(found.roles),
        "policies": dict(found.policies),
        "run": run | machine(),
        "verdicts": [_verdict(verdict) for verdict in own],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    told = asdict(verdict)
    for name in ("candidate", "document", "anomaly", "about", "case", "scripts"):
        told.pop(name)
    return told


def read(path: Path) -> Result:
    """Read a result. Raises ResultError that names the file and what is wrong with it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultError(f"{path}: {error}") from error
    if not isinstance(document, dict) or document.get("form") != FORM:
        raise ResultError(f"{path}: no result of this suite: its form is not {FORM!r}")
    return document


def merged(documents: Iterable[Result]) -> Result:
    """Several results as one: a candidate that stands in more than one is taken from the last.

    Two runs of one candidate over different clauses are joined clause by clause. Raises
    ResultError if the results follow different revisions of the spec.
    """
    found = list(documents)
    if not found:
        raise ResultError("there is nothing to merge")
    revisions = {document["spec"] for document in found}
    if len(revisions) > 1:
        told = ", ".join(sorted(revisions))
        raise ResultError(f"the results follow different revisions of the spec: {told}")
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for document in found:
        for candidate in document["candidates"]:
            key = candidate["name"], candidate["version"]
            known[key] = _joined(known.get(key), candidate)
    named = {name: c for document in found for name, c in document["clauses"].items()}
    ordered = {name: named[name] for name in clauses() if name in named}
    url = next((document["spec_url"] for document in found if document.get("spec_url")), None)
    joined = {"spec_url": url, "clauses": ordered, "candidates": list(known.values())}
    return found[0] | joined


def _joined(before: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    if before is None:
        return now
    verdicts = {(v["clause"], v["role"]): v for v in (*before["verdicts"], *now["verdicts"])}
    place = {clause: number for number, clause in enumerate(clauses())}
    complete = before["run"]["complete"] and now["run"]["complete"]
    ordered = sorted(verdicts.values(), key=lambda v: (place.get(v["clause"], -1), v["role"]))
    return now | {"run": now["run"] | {"complete": complete}, "verdicts": ordered}


def outcomes(candidate: dict[str, Any]) -> Counter[str]:
    """How many verdicts (clause x role) of each outcome a candidate has."""
    return Counter(verdict["outcome"] for verdict in candidate["verdicts"])
