"""What was thought of each survivor, one by one: `survivors.toml`.

equivalent: no user can see a difference. out-of-scope: there is one, of which the spec does not
speak on purpose. missed: a user would want to be told; the suite does not tell yet.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from conformance.tables import read

SURVIVORS = Path(__file__).parent / "survivors.toml"

EQUIVALENT, OUT_OF_SCOPE, MISSED = VERDICTS = ("equivalent", "out-of-scope", "missed")


class Thought(NamedTuple):
    """A verdict of VERDICTS and the reason for it."""

    verdict: str
    why: str


def counts(thought: Thought | None) -> bool:
    """Whether a mutant of which this was thought counts for the score."""
    return thought is None or thought.verdict not in (EQUIVALENT, OUT_OF_SCOPE)


def thoughts(path: Path = SURVIVORS) -> dict[str, Thought]:
    """By the id of the mutant. Raises ValueError for an unknown verdict or a mutant named twice."""
    found: dict[str, Thought] = {}
    for entry in read(path, str(path)).values.get("survivors", []):
        if entry["verdict"] not in VERDICTS:
            raise ValueError(f"{path.name}: no verdict {entry['verdict']!r}; there are {VERDICTS}")
        for name in entry["mutants"]:
            if name in found:
                raise ValueError(f"{path.name}: {name} is named twice")
            found[name] = Thought(entry["verdict"], " ".join(entry["why"].split()))
    return found
