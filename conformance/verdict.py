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


@dataclass
class Exercise:
    """How often the clause's precondition was met: in how many cases, and of which classes."""

    run: int = 0
    exercised: int = 0
    fewer_than_ranks: int = 0
    empty: int = 0
    alone: int = 0

    def count(self, n: int, world_size: int) -> None:
        self.exercised += 1
        self.fewer_than_ranks += n < world_size
        self.empty += n == 0
        self.alone += world_size == 1


@dataclass
class Verdict:
    """outcome: one of the constants above. A violation comes with its smallest case and document.

    anomaly, about: the kind of fault and what it is about. document: the failure as told to a
    person. declared: reasons of the declared deviations that were confirmed.
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
    exercise: Exercise = field(default_factory=Exercise)
    seconds: float = 0.0

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Verdict:
        fields: dict[str, Any] = json.loads(text)
        return cls(**(fields | {"exercise": Exercise(**fields["exercise"])}))
