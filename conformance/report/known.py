"""Who is known to break a clause: the candidates of given results, and shipped baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.baseline import SHIPPED, Deviation, read_baseline
from conformance.report.result import Result
from conformance.verdict import DECLARED, VIOLATED

CANDIDATES = {"torch": "torch.utils.data"}
"""The candidate that a shipped baseline speaks of; any other is called as its baseline is."""


@dataclass(frozen=True)
class Break:
    """One way in which somebody breaks a clause.

    outcome: violated, or a declared deviation. about: what of the role it concerns, in order.
    told: what was seen, or the reason that was declared. source: the run or the baseline. link: an
    http or https address, or "".
    """

    clause: str
    who: str
    role: str
    outcome: str
    anomaly: str
    about: tuple[str, ...]
    told: str
    source: str
    link: str = ""


def breaks(document: Result | None) -> list[Break]:
    """All that is known, violations first; what a baseline and a result both declare comes once."""
    declared = [found for path in sorted(SHIPPED.glob("*.toml")) for found in _shipped(path.stem)]
    known = {(b.clause, b.who, b.role, b.told) for b in declared}
    seen = list(_seen(document)) if document else []
    new = [b for b in seen if (b.clause, b.who, b.role, b.told) not in known]
    return sorted([*new, *declared], key=lambda b: b.outcome != VIOLATED)


def _shipped(name: str) -> Iterator[Break]:
    """The deviations of a baseline; those that differ in what they are about only are one."""
    groups: dict[tuple[str, ...], list[Deviation]] = {}
    for found in read_baseline(name):
        key = found.clause, found.role, found.anomaly, found.reason, found.link
        groups.setdefault(key, []).append(found)
    for (clause, role, anomaly, reason, link), alike in groups.items():
        about = tuple(dict.fromkeys(found.about for found in alike if found.about))
        yield Break(
            clause, alike[0].candidate or CANDIDATES.get(name, name), role, DECLARED, anomaly,
            about, reason, f"baseline {name}", _web(link),
        )  # fmt: skip


def _seen(document: Result) -> Iterator[Break]:
    for candidate in document["candidates"]:
        who, run = candidate["name"], candidate["run"]
        source = f"version {candidate['version']}, torch {run['torch']}, profile {run['profile']}"
        for verdict in candidate["verdicts"]:
            what = (verdict["clause"], who, verdict["role"], verdict["outcome"])
            evidence = verdict["evidence"]
            if verdict["outcome"] == VIOLATED:
                about = (evidence["about"],) if evidence["about"] else ()
                yield Break(*what, evidence["anomaly"], about, evidence["saw"], source)
            elif verdict["outcome"] == DECLARED:
                for reason in dict.fromkeys(verdict["declared"]):
                    yield Break(*what, "", (), reason, source)


def _web(link: str) -> str:
    return link if link.startswith(("https://", "http://")) else ""
