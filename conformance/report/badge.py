"""The result as a badge, in the form that shields.io reads from an endpoint."""

from __future__ import annotations

from conformance.report.result import Result, outcomes
from conformance.verdict import DECLARED, HOLDS, NO_VERDICT, STALE, VIOLATED


def badge(document: Result) -> dict[str, str | int]:
    """`schemaVersion`, `label`, `message`, `color`; the message counts clause x role."""
    counts: dict[str, int] = {}
    for candidate in document["candidates"]:
        for outcome, count in outcomes(candidate).items():
            counts[outcome] = counts.get(outcome, 0) + count
    message, colour = _said(counts)
    if not all(candidate["run"]["complete"] for candidate in document["candidates"]):
        message, colour = f"partial, {message}", "lightgrey"
    return {"schemaVersion": 1, "label": "conformance", "message": message, "color": colour}


def _said(counts: dict[str, int]) -> tuple[str, str]:
    judged = sum(counts.get(o, 0) for o in (HOLDS, DECLARED, VIOLATED, STALE, NO_VERDICT))
    if counts.get(VIOLATED):
        return f"{counts[VIOLATED]} of {judged} violated", "red"
    if counts.get(STALE) or counts.get(NO_VERDICT):
        return f"{counts.get(STALE, 0) + counts.get(NO_VERDICT, 0)} of {judged} unclear", "yellow"
    if counts.get(DECLARED):
        return f"{counts.get(HOLDS, 0)} hold, {counts[DECLARED]} declared", "yellowgreen"
    return f"{judged} hold" if judged else "nothing examined", "brightgreen" if judged else "grey"
