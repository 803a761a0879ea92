"""Results of runs, made of traces that are written by hand: what the tests of reports render."""

from __future__ import annotations

from typing import Any

from by_hand import shares

from conformance.candidate import Description, Source
from conformance.case import Case
from conformance.clauses import clauses
from conformance.drawing import Found
from conformance.laws import Mark, Violation
from conformance.operations import Iterate
from conformance.recipes import Data
from conformance.report.evidence import evidence
from conformance.report.result import Result, result
from conformance.trace import Event, RankTrace, Record, Trace
from conformance.verdict import DECLARED, HOLDS, NOT_PROVIDED, VIOLATED, Exercise, Verdict

RUN = {
    "command": "--impl=shards", "profile": "core", "effort": "ci", "seed": 0,
    "world_sizes": [1, 2], "backends": ["gloo"], "baselines": [], "seconds": 1.5, "complete": True,
}  # fmt: skip
ROLE = "DistributedSampler"


def lost(saw: str = "no rank yields [1] of n = 3") -> Found:
    """Two ranks of which nobody yields 1, and rank 1 yields 0 again."""
    case = Case(ROLE, {"dataset": Data(3)}, [Iterate()], world_size=2)
    marks = (Mark(1, 1, 0, "doubled"), Mark(0, 1, 1, "out-of-range"))
    return Found(
        case, shares(case, [0, 7], [0, 2]), Violation("lost-index", saw, marks, ((0, 1), (1, 1)))
    )


def overtaken() -> Found:
    """A loader whose second worker was heard first."""
    case = Case("DataLoader", {"dataset": Data(2)}, [Iterate()])
    steps = [
        ("fetch", 0, 0),
        ("fetch", 1, 1),
        ("leave", 1, 1),
        ("arrive", 1, 1),
        ("deliver", 1, -1),
    ]
    records = tuple(Record(k, v, w, 100 + w, 0.001 * n) for n, (k, v, w) in enumerate(steps))
    events = (Event(None), Event(case.plan[0], records))
    return Found(
        case, Trace(case, (RankTrace(0, events),)), Violation("out-of-order", "1 before 0")
    )


def verdict(clause: str, outcome: str = HOLDS, role: str = ROLE, **more: Any) -> Verdict:
    exercise = Exercise(12, 9, {"n < W": 3, "W = 2": 9}) if outcome == HOLDS else Exercise()
    told = Verdict("shards", clause, clauses()[clause].level, role, outcome, **more)
    told.exercise = exercise
    return told


def violated(clause: str, found: Found, role: str = ROLE) -> Verdict:
    told = verdict(clause, VIOLATED, role, reason=found.violation.saw)
    told.evidence = evidence(found, "pytest --pyargs conformance --impl=shards", "import torch\n")
    return told


def mixed(name: str = "shards", saw: str = "no rank yields [1] of n = 3") -> Result:
    """A candidate with a verdict of each kind that matters."""
    found = Description(Source(name), {ROLE: ("dataset",)}, version="1.2", digest="0123456789ab")
    verdicts = [
        verdict("distributed.equal-counts"),
        violated("distributed.cover", lost(saw)),
        verdict("distributed.any-world-size", DECLARED, reason="known", declared=["known"]),
        violated("workers.same-order", overtaken(), "DataLoader"),
        verdict("random.uniform", NOT_PROVIDED, "RandomSampler"),
    ]
    for told in verdicts:
        told.candidate = name
    return result(RUN, [found], verdicts)
