"""Known deviations: declared with a reason and a case, and replayed, so that none can go stale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.candidate import ROLES, CandidateError
from conformance.case import Case, parse
from conformance.clauses import clauses
from conformance.config import read_toml
from conformance.verdict import Verdict

SHIPPED = Path(__file__).parent / "baselines"
FIELDS = {"clause", "role", "anomaly", "about", "case", "reason", "link"}


@dataclass(frozen=True)
class Deviation:
    """One entry: this clause is broken in this way by this case, for this reason."""

    clause: str
    role: str
    anomaly: str
    case: Case
    reason: str
    about: str = ""
    link: str = ""

    def explains(self, anomaly: str, about: str) -> bool:
        return self.anomaly == anomaly and self.about == about


def read_baseline(name: str) -> list[Deviation]:
    """Read a baseline: a path, or the name of one that is shipped (`torch`).

    Raises CandidateError (a usage error) that names the entry and what is wrong with it.
    """
    path = Path(name)
    if not path.suffix:
        path = SHIPPED / f"{name}.toml"
    if not path.is_file():
        shipped = ", ".join(sorted(found.stem for found in SHIPPED.glob("*.toml")))
        raise CandidateError(f"--baseline {name}: no such file; shipped baselines: {shipped}")
    entries = read_toml(path, f"--baseline {name}").get("deviation", [])
    return [_deviation(entry, f"{path.name}, deviation {i + 1}") for i, entry in enumerate(entries)]


def _deviation(entry: dict[str, Any], where: str) -> Deviation:
    unknown = set(entry) - FIELDS
    missing = FIELDS - {"about", "link"} - set(entry)
    if unknown or missing:
        told = f"unknown {sorted(unknown)}" if unknown else f"missing {sorted(missing)}"
        raise CandidateError(f"{where}: {told}")
    if entry["clause"] not in clauses() or entry["role"] not in ROLES:
        raise CandidateError(f"{where}: no clause {entry['clause']!r} of role {entry['role']!r}")
    try:
        return Deviation(**(entry | {"case": parse(entry["case"])}))
    except ValueError as error:
        raise CandidateError(f"{where}: {error}") from error


def deviation_of(verdict: Verdict) -> Deviation:
    """The deviation that would explain a violated verdict."""
    reason = "TODO: why is this accepted?"
    return Deviation(
        verdict.clause, verdict.role, verdict.anomaly, parse(verdict.case), reason, verdict.about
    )


def write_baseline(path: Path, violations: Iterable[Verdict]) -> None:
    """Write one entry for each violated verdict; the reasons are left for a person to say."""
    lines = ["# Known deviations. Say a reason for each; an entry that no longer occurs fails.\n"]
    for verdict in violations:
        entry = {
            "clause": verdict.clause, "role": verdict.role, "anomaly": verdict.anomaly,
            "about": verdict.about, "case": verdict.case, "reason": "TODO: why is this accepted?",
        }  # fmt: skip
        lines.append("\n[[deviation]]\n")
        lines += [f"{key} = {_toml(value)}\n" for key, value in entry.items() if value]
    path.write_text("".join(lines), encoding="utf-8")


def _toml(text: str) -> str:
    if "'" not in text and "\n" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
