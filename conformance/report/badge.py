"""The result as a badge, in the form that shields.io reads from an endpoint."""

from __future__ import annotations

from collections import Counter

from conformance.report.result import Result, outcomes
from conformance.verdict import DECLARED, HOLDS, NO_VERDICT, STALE, VIOLATED


def badge(document: Result) -> dict[str, str | int]:
    """`schemaVersion`, `label`, `message`, `color`; the message counts clause x role."""
    counts = sum(map(outcomes, document["candidates"]), Counter[str]())
    message, colour = _said(counts)
    if not all(candidate["run"]["complete"] for candidate in document["candidates"]):
        message, colour = f"partial, {message}", "lightgrey"
    return {"schemaVersion": 1, "label": "conformance", "message": message, "color": colour}


def _said(counts: Counter[str]) -> tuple[str, str]:
    judged = sum(counts[o] for o in (HOLDS, DECLARED, VIOLATED, STALE, NO_VERDICT))
    if counts[VIOLATED]:
        return f"{counts[VIOLATED]} of {judged} violated", "red"
    if unclear := counts[STALE] + counts[NO_VERDICT]:
        return f"{unclear} of {judged} unclear", "yellow"
    if counts[DECLARED]:
        return f"{counts[HOLDS]} hold, {counts[DECLARED]} declared", "yellowgreen"
    return f"{judged} hold" if judged else "nothing examined", "brightgreen" if judged else "grey"
