"""The evidence of a violation as plain data: what every report draws from, and a machine reads.

Lists are cut at stated lengths, each with its full count, so that a result stays small however
much a candidate yields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.laws import Violation
from conformance.trace import UNREADABLE, Event, Items, RankTrace, Record

if TYPE_CHECKING:
    from conformance.drawing import Found

ITEMS_MAX = 256
RANKS_MAX = 16
RECORDS_MAX = 600
MARKS_MAX = 512
TEXT_MAX = 2000


def evidence(found: Found, again: str, script: str) -> dict[str, Any]:
    """What was seen. again: the command that shows it; script: its stand-alone reproduction."""
    case, violation = found.case, found.violation
    ranks = _worst_first(found.trace.ranks, violation)
    return {
        "anomaly": violation.anomaly,
        "about": violation.about,
        "saw": violation.saw[:TEXT_MAX],
        "case": repr(case),
        "world": case.world,
        "world_size": case.world_size,
        "shown": [list(pair) for pair in violation.events],
        "marks": [[m.rank, m.event, m.place, m.kind] for m in violation.marks[:MARKS_MAX]],
        "ranks": [_rank(rank, violation) for rank in ranks[:RANKS_MAX]],
        "ranks_in_all": len(found.trace.ranks),
        "again": again,
        "script": script,
    }


def _worst_first(ranks: tuple[RankTrace, ...], violation: Violation) -> list[RankTrace]:
    """All ranks in order if they are few; else those with marks first."""
    if len(ranks) <= RANKS_MAX:
        return list(ranks)
    marked = {mark.rank for mark in violation.marks} | {rank for rank, _ in violation.events}
    return sorted(ranks, key=lambda rank: (rank.rank not in marked, rank.rank))


def _rank(rank: RankTrace, violation: Violation) -> dict[str, Any]:
    first = {
        number: min(m.place for m in violation.marks if (m.rank, m.event) == (rank.rank, number))
        for number in {m.event for m in violation.marks if m.rank == rank.rank}
    }
    events = [_event(event, first.get(n, 0)) for n, event in enumerate(rank.events)]
    return {"rank": rank.rank, "fate": rank.fate, "events": events}


def _event(event: Event, first: int) -> dict[str, Any]:
    """One operation; of a long pass the part around the first marked place."""
    told: dict[str, Any] = {
        "operation": repr(event.operation) if event.operation else "construction",
        "error": str(event.error)[:TEXT_MAX] if event.error else "",
        "seconds": event.seconds,
    }
    if isinstance(event.value, Items):
        return told | _items(event.value, max(0, first - 8) if first >= ITEMS_MAX else 0)
    if _is_journal(event.value):
        return told | _journal(event.value)
    return told if event.value is None else told | {"value": repr(event.value)[:TEXT_MAX]}


def _items(items: Items, start: int) -> dict[str, Any]:
    part = items.values[start : start + ITEMS_MAX].tolist()
    return {
        "items": [None if value == UNREADABLE else value for value in part],
        "start": start,
        "items_in_all": len(items.values),
        "batches": None if items.sizes is None else items.sizes[:ITEMS_MAX].tolist(),
        "unreadable": list(items.unreadable),
    }


def _is_journal(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and bool(value) and isinstance(value[0], Record)


def _journal(records: Any) -> dict[str, Any]:
    """What was reported while a loader worked; seconds since the first report."""
    began = records[0].seconds
    told = [
        [r.kind, int(r.value), r.worker, round(r.seconds - began, 6)] for r in records[:RECORDS_MAX]
    ]
    return {"journal": told, "journal_in_all": len(records)}
