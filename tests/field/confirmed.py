"""How the scripts of the kept results ended when they were run: `confirmed.json`."""

from __future__ import annotations

import json

from field.packages import HERE

FILE = HERE / "confirmed.json"

Confirmed = dict[str, dict[str, int]]
"""By candidate and "clause role", the exit code: 1 where the script shows the violation."""


def read() -> Confirmed:
    """What was noted."""
    found: Confirmed = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def note(candidate: str, ended: dict[str, int]) -> None:
    """Note how the scripts of one candidate ended."""
    known = read() | {candidate: ended}
    text = json.dumps(known, indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")
