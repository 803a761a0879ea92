"""Pictures of the evidence as SVG: the ranks x positions grid, and the workers' timeline.

Each is two drawings side by side, the names of its rows and the rows, so that the names stay in
sight when the rows are scrolled. Numbers and fixed words only go into them; texts of a candidate
are escaped by who places them.
"""

from __future__ import annotations

from html import escape
from itertools import accumulate
from typing import Any

from conformance.report.grid import SIGNS

CELL_W, CELL_H, BATCH_GAP = 34, 24, 8
COLUMNS = 32
STEP, LANE, RADIUS = 28, 32, 12
STEPS = 160
LETTER_W = 7.3
"""The width of a letter of the monospaced 12 px that names are set in."""

LETTERS = {
    "begin": "b", "draw": "d", "init": "i", "iter": "I", "fetch": "f", "leave": "l", "end": "e",
    "ask": "?", "collate": "c", "depart": ">", "arrive": "<", "want": "w", "deliver": "D",
    "dies": "X", "unfollowed": "~",
}  # fmt: skip
"""One letter for each kind of record (`conformance.trace.KINDS`)."""

Row = tuple[int, int, dict[str, Any]]
"""Rank, number of the event, event."""


def grid(evidence: dict[str, Any]) -> str:
    """A row for each rank and pass that the violation speaks of; marked cells carry a sign too.

    "" if none of them yielded anything.
    """
    rows = _rows(evidence)
    if not any(event["items"] for *_, event in rows):
        return ""
    marks = {(rank, event, place): kind for rank, event, place, kind in evidence["marks"]}
    names, parts, widest = list[tuple[str, int]](), list[str](), 0
    for line, row in enumerate(rows):
        y, kinds = line * CELL_H, {p: k for (r, n, p), k in marks.items() if (r, n) == row[:2]}
        start = _start(row[2], list(kinds))
        names.append((f"rank {row[0]}, event {row[1]}" + (f", from {start}" if start else ""), y))
        drawn, width = _cells(row[2], start, kinds, y)
        parts, widest = parts + drawn, max(widest, width)
    told = "ranks and what they yielded"
    return _pair(told, [(name, y + 16) for name, y in names], widest, len(rows) * CELL_H, parts)


def _rows(evidence: dict[str, Any]) -> list[Row]:
    """What the violation names, else each rank's last pass."""
    found = [
        (rank["rank"], number, event)
        for rank in evidence["ranks"]
        for number, event in enumerate(rank["events"])
        if "items" in event
    ]
    named = {tuple(pair) for pair in evidence["shown"]}
    chosen = [row for row in found if row[:2] in named]
    return chosen or list({row[0]: row for row in found}.values())


def _start(event: dict[str, Any], places: list[int]) -> int:
    """The first place that is drawn: marks are in sight."""
    first: int = event["start"]
    return max(first, min(places) - 4) if places and min(places) >= first + COLUMNS else first


def _cells(
    event: dict[str, Any], start: int, kinds: dict[int, str], y: int
) -> tuple[list[str], int]:
    """The cells of a row, batches a little apart, and how wide they are."""
    shown = event["items"][start - event["start"] :][:COLUMNS]
    ends, parts, x = _ends(event), list[str](), 0
    for place, value in enumerate(shown, start):
        parts.append(_cell(x, y, value, kinds.get(place, ""), place))
        x += CELL_W + (BATCH_GAP if place + 1 in ends else 0)
    if start + len(shown) < event["items_in_all"]:
        parts.append(_label(x + 4, y + 16, "…"))
    return parts, x + 24


def _ends(event: dict[str, Any]) -> set[int]:
    """Where batches end; nowhere if each is a single item, which would tell nothing."""
    sizes = event["batches"] or []
    return set(accumulate(sizes)) if any(size > 1 for size in sizes) else set()


def _cell(x: int, y: int, value: int | None, kind: str, place: int) -> str:
    told = "?" if value is None else str(value)
    title = f"position {place}: {told}" + (f", {kind}" if kind else "")
    return (
        f'<g class="cell {kind}"><title>{title}</title>'
        f'<rect x="{x + 1}" y="{y + 1}" width="{CELL_W - 3}" height="{CELL_H - 3}" rx="3"/>'
        f'<text x="{x + CELL_W / 2}" y="{y + 16}" text-anchor="middle">'
        f"{told if len(told) < 5 else told[:3] + '…'}{SIGNS.get(kind, '')}</text></g>"
    )


def marked(evidence: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind, sign) of the marks that the grid shows."""
    kinds = {kind for *_, kind in evidence["marks"]}
    return [(kind, sign) for kind, sign in SIGNS.items() if kind in kinds]


def timeline(event: dict[str, Any]) -> str:
    """The journal of a loader: a lane for each worker and one for the main process, in order."""
    records = event["journal"][:STEPS]
    lanes = sorted({worker for _, _, worker, _ in records})
    middle = {worker: number * LANE + LANE // 2 for number, worker in enumerate(lanes)}
    left_out = event["journal_in_all"] - len(records)
    width = len(records) * STEP + (96 if left_out else 8)
    names = [("main" if worker < 0 else f"worker {worker}", y + 4) for worker, y in middle.items()]
    lines = [f'<line class="lane" x1="0" y1="{y}" x2="{width}" y2="{y}"/>' for y in middle.values()]
    dots = [
        _dot(number * STEP + STEP // 2, middle[record[2]], *record)
        for number, record in enumerate(records)
    ]
    more = [_label(len(records) * STEP + 8, 16, f"{left_out} more")] if left_out else []
    height = len(lanes) * LANE
    return _pair("what each worker did, in order", names, width, height, [*lines, *dots, *more])


def _dot(x: int, y: int, kind: str, value: int, worker: int, seconds: float) -> str:
    title = f"{escape(kind)} {int(value)}, {float(seconds) * 1000:.1f} ms"
    letter = escape(LETTERS.get(kind, "·"))
    return (
        f'<g class="dot {escape(kind)}"><title>{title}</title>'
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}"/>'
        f'<text x="{x}" y="{y + 4}" text-anchor="middle">{letter}{int(value) % 100}</text></g>'
    )


def legend(event: dict[str, Any]) -> list[tuple[str, str]]:
    """(letter, kind) of the kinds that the timeline shows."""
    kinds = dict.fromkeys(kind for kind, *_ in event["journal"][:STEPS])
    return [(LETTERS.get(kind, "·"), kind) for kind in kinds]


def _label(x: int, y: int, text: str) -> str:
    return f'<text class="label" x="{x}" y="{y}">{escape(text)}</text>'


def _pair(
    title: str, names: list[tuple[str, int]], width: int, height: int, parts: list[str]
) -> str:
    """The names of the rows, each at its height, and the rows."""
    longest = max((len(name) for name, _ in names), default=0)
    labels = [_label(0, y, name) for name, y in names]
    return _svg(int(longest * LETTER_W) + 10, height, f"rows: {title}", "names", labels) + _svg(
        width, height, title, "rows", parts
    )


def _svg(width: int, height: int, title: str, kind: str, parts: list[str]) -> str:
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(title)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'
    )
