"""Cases that once told of a fault when nothing before them had: a glance takes them sooner.

What has found something is more likely to find something again than what never has. (Elbaum,
Rothermel, Penix, Techniques for improving regression testing in continuous integration, FSE 2014.)
They are kept by digest; a case that changes loses its place, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from conformance.case import Case

KEPT = Path(__file__).parent / "telling.txt"
"""A line for each case: the scenario and the digest."""


def told_of_faults(scenario: str, cases: Sequence[Case]) -> frozenset[int]:
    """The places of those of a scenario's cases that are kept."""
    wanted = {one for name, one in kept() if name == scenario}
    return frozenset(at for at, case in enumerate(cases) if wanted and digest(case) in wanted)


def digest(case: Case) -> str:
    """Tells a case from all others of its scenario, today and tomorrow."""
    return hashlib.sha256(repr(case).encode()).hexdigest()[:10]


def keep(told: Iterable[tuple[str, str]]) -> None:
    """Keep these, scenarios and digests, instead of what was kept."""
    KEPT.write_text("".join(f"{name} {one}\n" for name, one in sorted(set(told))), encoding="utf-8")
    kept.cache_clear()


@cache
def kept() -> frozenset[tuple[str, str]]:
    """Scenarios and digests."""
    lines = KEPT.read_text(encoding="utf-8").splitlines()
    return frozenset((name, one) for name, _, one in (line.partition(" ") for line in lines))
