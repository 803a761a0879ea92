"""One search for one fault: in a whole run up to the first violation, or by the clauses it names.

A whole run is what a user sees. The clauses that a fault names are asked one by one besides, as the
first to tell may be another; where only the probability over seeds is wanted, they alone are asked,
up to the first that tells, and the rest of the suite only if none did. Of these the counterexample
is not cut down.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from detect import Detection, Detector
from zoo import Fault

from detection.cost import cpu_s
from detection.faults import key, suite_digest
from detection.known import known
from detection.rows import CAUGHT, FAILED, LATE, MISSED, NEEDS_ACCELERATOR, Row


@dataclass(frozen=True)
class Job:
    """A search that is wanted. whole: a whole run, not the named clauses alone. within_s: the bound
    on it, looked at after each clause. source: the digest of the fault when it was wanted."""

    fault: Fault
    effort: str
    seed: int
    whole: bool
    within_s: float
    source: str = ""


def search(detector: Detector, job: Job) -> Row:
    """Carry out a search, with ranks of its own; where the suite itself fails, the row says so."""
    blank = Row(
        key(job.fault), job.effort, job.seed, NEEDS_ACCELERATOR,
        load=round(os.getloadavg()[0], 1), source=job.source, suite=suite_digest(),
    )  # fmt: skip
    try:
        return _searched(detector, job, blank)
    except Exception as error:
        return replace(blank, outcome=FAILED, anomaly=f"{type(error).__name__}: {error}"[:60])


def _searched(detector: Detector, job: Job, blank: Row) -> Row:
    clauses = job.fault.here
    if not clauses:
        return blank
    detector.choose(job.effort, job.seed, job.fault.profile)
    detector.deviations = known(job.fault)
    row = _whole(detector, job, blank) if job.whole else blank
    row = _named(detector, job, row, clauses)
    return row if row.told or job.whole else _whole(detector, job, row)


def _whole(detector: Detector, job: Job, row: Row) -> Row:
    """Examine all clauses in order, up to the first violation."""
    detector.fresh()
    before = cpu_s()
    try:
        found = detector.first(job.fault.text, within_s=job.within_s)
    except TimeoutError:
        return replace(row, outcome=LATE, clause=LATE, seconds=job.within_s)
    if found is None:
        return replace(row, outcome=MISSED)
    return _found(row, found, cpu_s() - before)


def _found(row: Row, found: Detection, used_s: float) -> Row:
    return replace(
        row, outcome=CAUGHT, clause=found.clause, role=found.role, anomaly=found.anomaly[:60],
        cases=found.cases, seconds=round(found.seconds, 2), cpu_s=round(used_s, 2),
    )  # fmt: skip


def _named(detector: Detector, job: Job, row: Row, clauses: list[str]) -> Row:
    """Ask the named clauses: each of them in a whole run, else up to the first that tells."""
    detector.fresh()
    for clause in clauses:
        before = cpu_s()
        if _tells(detector, job, clause):
            used_s = round(cpu_s() - before, 2)
            row = replace(row, told=(*row.told, clause), named_s=row.named_s or used_s)
            if not job.whole:
                break
    return replace(row, outcome=CAUGHT) if row.told and row.outcome != MISSED else row


def _tells(detector: Detector, job: Job, clause: str) -> bool:
    try:
        found = detector.first(job.fault.text, [clause], job.within_s, cut_down=job.whole)
        return found is not None
    except TimeoutError:
        return False
