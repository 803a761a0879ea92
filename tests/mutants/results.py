"""What was measured, as JSON: one entry for each target, in it one for each mutant.

Targets can be measured one at a time; what is known of the others stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from mutants.lookers import NOT_TOLD, SURVIVED, Job, Outcome
from mutants.targets import TARGETS, Target

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"

ONLY = {
    "first": "only the first stage was searched",
    "quick": "only the quick effort was asked",
}
"""What is to be said of a mutant that survived a search which was not the whole one."""


def read(path: Path = RESULTS) -> dict[str, Any]:
    """The results so far, {} if there are none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def begun(results: dict[str, Any], target: Target, seed: int) -> None:
    """Make room for a target; what was measured of another version of its file is forgotten."""
    made = {mutant.id for mutant in target.mutants()}
    told = {
        "digest": target.digest, "seed": seed,
        "made": len(made),
        "torch": torch.__version__ if target.package == "torch" else "",
    }  # fmt: skip
    before = results.get(target.name, {})
    same = before.get("digest") == target.digest
    known = before.get("mutants", {}) if same else {}
    kept = {name: of for name, of in known.items() if name in made}
    results[target.name] = {**told, "mutants": kept}


def entry(job: Job, outcome: Outcome) -> dict[str, Any]:
    """What is kept of one mutant."""
    mutant, found = job.mutant, outcome.found
    told = {
        "function": mutant.function, "said": mutant.said, "outcome": outcome.outcome,
        "seconds": round(outcome.seconds, 2),
    }  # fmt: skip
    if outcome.outcome == SURVIVED and job.depth in ONLY:
        told |= {"outcome": NOT_TOLD, "reason": ONLY[job.depth]}
    if outcome.reason:
        told["reason"] = outcome.reason
    if found:
        told |= {
            "profile": outcome.profile,
            "effort": outcome.effort,
            "clause": found.clause,
            "role": found.role,
        }
        told |= {"anomaly": found.anomaly[:100], "cases": found.cases}
    return told


def put(results: dict[str, Any], job: Job, outcome: Outcome) -> None:
    results[job.target.name]["mutants"][job.mutant.id] = entry(job, outcome)


def write(results: dict[str, Any], path: Path = RESULTS) -> None:
    """Write the results, targets in their order and mutants in that of their lines."""
    ordered = {name: _sorted(results[name]) for name in TARGETS if name in results}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def _sorted(measured: dict[str, Any]) -> dict[str, Any]:
    names: Iterable[str] = measured["mutants"]
    ordered = sorted(names, key=lambda name: (int(name.split(":")[1]), name))
    return {**measured, "mutants": {name: measured["mutants"][name] for name in ordered}}
