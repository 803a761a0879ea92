"""The law of `spec/workers.md` about calls that do not come back, whatever they were to judge."""

from __future__ import annotations

from conformance.case import Case
from conformance.laws import Violation, law, require
from conformance.laws.loading import arguments, faults, hung
from conformance.laws.workers.outcomes import wrong
from conformance.trace import RankTrace, Trace


@law("workers.no-hang")
def no_hang(trace: Trace) -> Violation | None:
    about = wrong(trace.case)
    for rank in trace:
        if rank.fate not in ("done", "stuck"):
            saw = f"the process in which the loader was called ended: {rank.fate}"
            return Violation("main-process-died", saw, about=about)
        where = _stuck(rank)
        if where:
            require(not _endless(trace.case))
            saw = f"{about or 'nothing is wrong'}: {where}"
            rows = ((rank.rank, max(0, len(rank.events) - 1)),)
            return Violation("hang", saw, events=rows, about=about)
    require(about)
    return None


def _stuck(rank: RankTrace) -> str:
    """What did not return, and where it waits; "" if all came back."""
    last = hung(rank) if rank.events else None
    if last is not None and last.error is not None:
        return f"{last.operation!r} {last.error.message}"
    if rank.fate == "stuck":
        return f"after {len(rank.events)} operations the process did not answer"
    return ""


def _endless(case: Case) -> bool:
    """Whether the dataset itself does not return, and no `timeout` bounds that."""
    waits = any(fault.what == "hang" for fault in faults(case))
    return waits and not arguments(case).get("timeout")
