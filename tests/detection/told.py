"""Which small case told of a fault when it was last looked for: the test run asks that one first.

A fault's clause has hundreds of small cases, in an order that serves all faults. Each of them is
carried out at every effort, so one that tells is enough to know that the fault is caught. What is
kept is found by digest: a case that changed is looked for again, and nothing else.
"""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path

from conformance.search import Search
from conformance.telling import digest
from conformance.verdict import VIOLATED, Verdict

KEPT = Path(__file__).parent / "told.json"
"""By class and clause, such as "workers_seeds.py:SameSeeds workers.seeds": scenario and digest."""

Told = tuple[str, str]
"""A scenario and the digest of one of its small cases."""


@cache
def kept() -> dict[str, Told]:
    """What is kept."""
    held = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return {one: (scenario, case) for one, (scenario, case) in held.items()}


def keep(cases: dict[str, Told]) -> None:
    """Keep this instead of what was kept."""
    lines = [f"{json.dumps(one)}: {json.dumps(case)}" for one, case in sorted(cases.items())]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    kept.cache_clear()


def name(text: str, clause: str) -> str:
    """What a search is kept by: the class, as `--impl` has it, and the clause."""
    return f"{Path(text).name} {clause}"


def _name(search: Search) -> str:
    return name(search.candidate.source.text, search.prop.clause.id)


def verdict(search: Search, case: Told | None = None) -> Verdict | None:
    """The verdict by a case, by default the kept one; None if it tells nothing, or is not there."""
    scenario, wanted = case or kept().get(_name(search), ("", ""))
    for found in (one for one in search.prop.scenarios if one.name == scenario and one.small):
        places = {at for at, one in enumerate(search.cases(found)) if digest(one) == wanted}
        said = search.concluded([partial(search.look, search.small(found, places))])
        if said.outcome == VIOLATED:
            return said
    return None


def first(search: Search, anomaly: str = "") -> Told | None:
    """The first small case that tells, by this anomaly if one is given, or None."""
    for scenario in (one for one in search.prop.scenarios if one.small):
        for at, made in enumerate(search.cases(scenario)):
            for case, trace in search.small(scenario, {at}):
                seen = search.judge(case, search.with_oracle(case, trace))
                if seen and anomaly in ("", seen.anomaly):
                    return scenario.name, digest(made)
    return None
