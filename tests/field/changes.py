"""What is new, fixed or gone between two results of one candidate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.report.result import Result
from conformance.verdict import VIOLATED
from field.measure import subject


@dataclass(frozen=True)
class Change:
    """One difference. what: new, fixed, other, gone, or came, of a clause and role."""

    what: str
    clause: str
    told: str

    def __str__(self) -> str:
        return f"{self.what:<6} {self.clause}  {self.told}"


def changes(before: Result, after: Result) -> Iterator[Change]:
    """By clause and role: violations that are new or fixed, or that are another anomaly now.

    A clause that is examined no more is gone, one that was not examined before came.
    """
    old, new = _verdicts(before), _verdicts(after)
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if was is None or now is None:
            outcome = (was or now or {})["outcome"]
            yield Change("gone" if now is None else "came", key, outcome)
        elif (was["outcome"], now["outcome"]) == (VIOLATED, VIOLATED):
            anomalies = [v["evidence"]["anomaly"] for v in (was, now)]
            if anomalies[0] != anomalies[1]:
                yield Change("other", key, " is now ".join(anomalies))
        elif now["outcome"] == VIOLATED:
            yield Change("new", key, f"{now['evidence']['anomaly']}: {now['evidence']['saw']}")
        elif was["outcome"] == VIOLATED:
            yield Change("fixed", key, f"{was['evidence']['anomaly']}; now {now['outcome']}")


def _verdicts(document: Result) -> dict[str, dict]:  # type: ignore[type-arg]
    return {subject(v): v for c in document["candidates"] for v in c["verdicts"]}
