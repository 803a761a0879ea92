"""Verdicts: what the suite says of one clause and one role of one candidate."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

HOLDS = "holds"
VIOLATED = "violated"
DECLARED = "declared deviation"
STALE = "stale deviation"
NOT_PROVIDED = "not provided"
NOT_APPLICABLE = "not applicable"
NO_VERDICT = "no verdict"

WORST_FIRST = (VIOLATED, STALE, NO_VERDICT, DECLARED, HOLDS, NOT_APPLICABLE, NOT_PROVIDED)
BAD = WORST_FIRST[:3]
"""What nobody may take for a pass."""


@dataclass
class Exercise:
    """How often the clause's precondition was met: in how many cases, and of which classes.

    drawn: those of the classes that were drawn; the others are small cases, tried exhaustively.
    """

    run: int = 0
    exercised: int = 0
    classes: dict[str, int] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)

    def count(self, classes: tuple[str, ...], drawn: bool = False) -> None:
        """A case of these classes met the precondition."""
        self.exercised += 1
        for counts in (self.classes, self.drawn) if drawn else (self.classes,):
            for name in classes:
                counts[name] = counts.get(name, 0) + 1


@dataclass
class Verdict:
    """outcome: one of the constants above. A violation comes with its smallest case and document.

    anomaly, about: the kind of fault and what it is about. document: the failure as told to a
    person. declared: reasons of the declared deviations that were confirmed. scripts: the paths of
    stand-alone reproductions, where they were asked for. evidence: what a violation showed, as data
    (`report/evidence.py`).
    """

    candidate: str
    clause: str
    level: str
    role: str
    outcome: str
    reason: str = ""
    anomaly: str = ""
    about: str = ""
    case: str = ""
    document: str = ""
    declared: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    evidence: dict[str, Any] | None = None
    exercise: Exercise = field(default_factory=Exercise)
    seconds: float = 0.0

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Verdict:
        fields: dict[str, Any] = json.loads(text)
        return cls(**(fields | {"exercise": Exercise(**fields["exercise"])}))
