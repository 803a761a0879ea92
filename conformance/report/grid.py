"""The ranks x positions grid: what each rank yielded, offending cells marked."""

from __future__ import annotations

from conformance.laws import Mark, Violation
from conformance.report.evidence import TEXT_MAX
from conformance.trace import UNREADABLE, Event, Items, Trace, both_ends

SIGNS = {"doubled": "*", "wrong": "!", "out-of-range": "#", "padded": "+", "lost": "-"}
CELLS = 16
ROWS = 12


def grid(trace: Trace, violation: Violation) -> str:
    """One line for each rank and pass that the violation speaks of, with a legend."""
    chosen = list(violation.events) or _last_passes(trace)
    marks = {(mark.rank, mark.event, mark.place): mark for mark in violation.marks}
    lines = []
    for rank, number in chosen[:ROWS]:
        event = next(t for t in trace if t.rank == rank).events[number]
        lines.append(f"  rank {rank}  {_cells(event, rank, number, marks)}   {_what(event)}")
    if len(chosen) > ROWS:
        lines.append(f"  ... {len(chosen)} rows in all")
    used = sorted({mark.kind for mark in violation.marks})
    if used:
        lines.append("  " + ", ".join(f"{SIGNS[kind]} {kind}" for kind in used))
    return "\n".join(lines)


def _last_passes(trace: Trace) -> list[tuple[int, int]]:
    found = []
    for rank in trace:
        numbers = [i for i, event in enumerate(rank.events) if isinstance(event.value, Items)]
        found += [(rank.rank, number) for number in numbers[-1:]]
    return found


def _what(event: Event) -> str:
    error = f" -> {both_ends(str(event.error), TEXT_MAX)}" if event.error else ""
    return f"{event.operation or 'construction'}{error}"


def _cells(event: Event, rank: int, number: int, marks: dict[tuple[int, int, int], Mark]) -> str:
    if not isinstance(event.value, Items):
        return "" if event.value is None else str(event.value)
    items = event.value
    first = min((place for r, n, place in marks if (r, n) == (rank, number)), default=0)
    start = 0 if first < CELLS else first - 3
    cells = []
    for place in range(start, min(len(items.values), start + CELLS)):
        value = items.values[place]
        mark = marks.get((rank, number, place))
        sign = SIGNS[mark.kind] if mark else " "
        cells.append(f"{'?' if value == UNREADABLE else value}{sign}".rjust(5))
    left = "" if start == 0 else f"[{start}:] "
    more = "" if len(items.values) <= start + CELLS else f" ... {len(items.values)} in all"
    sizes = "" if items.sizes is None else f"  batches of {items.sizes[:8].tolist()}"
    return left + ("".join(cells) or "    (nothing)") + more + sizes
