"""Pictures of the evidence as SVG: the ranks x positions grid, and the workers' timeline.

Numbers and fixed words only go into them; texts of a candidate are escaped by who places them.
"""

from __future__ import annotations

from html import escape
from typing import Any

from conformance.report.grid import SIGNS

CELL_W, CELL_H, LEFT = 34, 22, 150
COLUMNS = 32
STEP, LANE, LANES_LEFT = 26, 30, 90
STEPS = 160

LETTERS = {
    "begin": "b", "draw": "d", "init": "i", "iter": "I", "fetch": "f", "leave": "l", "end": "e",
    "ask": "?", "collate": "c", "depart": ">", "arrive": "<", "want": "w", "deliver": "D",
    "dies": "X", "unfollowed": "~",
}  # fmt: skip
"""One letter for each kind of record (`conformance.trace.KINDS`)."""


def grid(evidence: dict[str, Any]) -> str:
    """A row for each rank and pass that the violation speaks of; marked cells carry a sign too."""
    rows = _rows(evidence)
    if not rows:
        return ""
    marks = {(rank, event, place): kind for rank, event, place, kind in evidence["marks"]}
    parts, widest = [], 0
    for line, (rank, number, event) in enumerate(rows):
        start = _start(event, [p for (r, n, p) in marks if (r, n) == (rank, number)])
        shown = event["items"][start - event["start"] :][:COLUMNS]
        widest = max(widest, len(shown))
        y = line * CELL_H
        parts.append(_label(0, y + 15, f"rank {rank}, event {number}"))
        for column, value in enumerate(shown):
            kind = marks.get((rank, number, start + column), "")
            parts.append(_cell(LEFT + column * CELL_W, y, value, kind, start + column))
        if start + len(shown) < event["items_in_all"]:
            parts.append(_label(LEFT + len(shown) * CELL_W + 4, y + 15, "…"))
    width, height = LEFT + widest * CELL_W + 24, len(rows) * CELL_H
    return _svg(width, height, "ranks and what they yielded", parts)


def _rows(evidence: dict[str, Any]) -> list[tuple[int, int, dict[str, Any]]]:
    """(rank, number of the event, event): what the violation names, else each rank's last pass."""
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


def _cell(x: int, y: int, value: int | None, kind: str, place: int) -> str:
    told = "?" if value is None else str(value)
    title = f"position {place}: {told}" + (f", {kind}" if kind else "")
    return (
        f'<g class="cell {kind}"><title>{title}</title>'
        f'<rect x="{x}" y="{y + 1}" width="{CELL_W - 2}" height="{CELL_H - 2}" rx="3"/>'
        f'<text x="{x + CELL_W / 2 - 1}" y="{y + 15}" text-anchor="middle">'
        f"{told if len(told) < 6 else told[:4] + '…'}{SIGNS.get(kind, '')}</text></g>"
    )


def timeline(event: dict[str, Any]) -> str:
    """The journal of a loader: a lane for each worker and one for the main process, in order."""
    records = event["journal"][:STEPS]
    lanes = sorted({worker for _, _, worker, _ in records})
    place = {worker: number for number, worker in enumerate(lanes)}
    width, height = LANES_LEFT + len(records) * STEP + 10, len(lanes) * LANE + 6
    parts = []
    for worker, lane in place.items():
        y = lane * LANE + LANE // 2
        name = "main" if worker < 0 else f"worker {worker}"
        parts.append(_label(0, y + 5, name))
        parts.append(f'<line class="lane" x1="{LANES_LEFT}" y1="{y}" x2="{width - 6}" y2="{y}"/>')
    for number, (kind, value, worker, seconds) in enumerate(records):
        x, y = LANES_LEFT + number * STEP + STEP // 2, place[worker] * LANE + LANE // 2
        title = f"{escape(kind)} {int(value)}, {float(seconds) * 1000:.1f} ms"
        letter = escape(LETTERS.get(kind, "·"))
        parts.append(
            f'<g class="dot {escape(kind)}"><title>{title}</title>'
            f'<circle cx="{x}" cy="{y}" r="11"/>'
            f'<text x="{x}" y="{y + 4}" text-anchor="middle">{letter}{int(value) % 100}</text></g>'
        )
    return _svg(width, height, "what each worker did, in order", parts)


def legend(event: dict[str, Any]) -> list[tuple[str, str]]:
    """(letter, kind) of the kinds that the timeline shows."""
    kinds = dict.fromkeys(kind for kind, *_ in event["journal"][:STEPS])
    return [(LETTERS.get(kind, "·"), kind) for kind in kinds]


def _label(x: int, y: int, text: str) -> str:
    return f'<text class="label" x="{x}" y="{y}">{escape(text)}</text>'


def _svg(width: int, height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(title)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'
    )
