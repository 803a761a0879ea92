"""Known deviations: declared with a reason and a case, and replayed, so that none can go stale.

They lie in layers: shipped baselines and files named on the command line below, what the project's
own configuration declares on top. A deviation of an upper layer takes the place of the same one
below it; `[[fixed]]` of an upper layer takes away what does not occur here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.candidate import CandidateError
from conformance.case import Case, parse
from conformance.clauses import clauses
from conformance.roles import ROLES
from conformance.tables import Entry, Table, read
from conformance.verdict import Verdict

SHIPPED = Path(__file__).parent / "baselines"
FIELDS = {"clause", "role", "anomaly", "about", "case", "reason", "link", "candidate", "occurs"}
MAY_LACK = {"about", "link", "candidate", "occurs"}
OCCURS = ("always", "sometimes")
FIXED = {"clause", "role", "anomaly", "about", "candidate"}


@dataclass(frozen=True)
class Deviation:
    """One entry: this clause is broken in this way by this case, for this reason.

    candidate: the `--impl` that it speaks of, "" for every one. where: its file and lines.
    occurs: "sometimes" where its case is a race, so that one replay tells nothing.
    """

    clause: str
    role: str
    anomaly: str
    case: Case
    reason: str
    about: str = ""
    link: str = ""
    candidate: str = ""
    occurs: str = "always"
    where: str = field(default="", compare=False)

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What is declared; layers hold each of these once."""
        return self.candidate, self.clause, self.role, self.anomaly, self.about

    def explains(self, anomaly: str, about: str) -> bool:
        return self.anomaly == anomaly and self.about == about

    def concerns(self, candidate: str) -> bool:
        return self.candidate in ("", candidate)


def layered(names: Iterable[str], own: Table | None, impls: Sequence[str]) -> list[Deviation]:
    """All deviations that count: baselines in order, each above the last, and `own` on top.

    names: as `read_baseline` takes them, each perhaps after the `--impl` that it is for and "=".
    Raises CandidateError (a usage error) that names the entry and what is wrong with it.
    """
    known: dict[tuple[str, ...], Deviation] = {}
    for name in names:
        impl, equals, file = name.rpartition("=")
        impl, file = (impl, file) if equals and impl in impls else ("", name)
        table = _table(file)
        _check_keys(table)
        _lay(known, table, impl)
    if own is not None:
        _lay(known, own, "")
    return list(known.values())


def _lay(known: dict[tuple[str, ...], Deviation], table: Table, impl: str) -> None:
    """Lay a file on top of what is known."""
    for entry in table.entries("fixed"):
        _check(entry, FIXED, FIXED - {"clause"})
        gone = [
            key for key, deviation in known.items()
            if all(getattr(deviation, name) == value for name, value in entry.values.items())
        ]  # fmt: skip
        if not gone:
            raise CandidateError(f"{entry.where}: no deviation below is like this; remove it")
        for key in gone:
            del known[key]
    for deviation in _deviations(table):
        placed = replace(deviation, candidate=deviation.candidate or impl)
        known[placed.key] = placed


def read_baseline(name: str) -> list[Deviation]:
    """Read one baseline: a path, or the name of one that is shipped (`torch`)."""
    return _deviations(_table(name))


def _table(name: str) -> Table:
    path = Path(name)
    if not path.suffix:
        path = SHIPPED / f"{name}.toml"
    if not path.is_file():
        shipped = ", ".join(sorted(found.stem for found in SHIPPED.glob("*.toml")))
        raise CandidateError(f"--baseline {name}: no such file; shipped baselines: {shipped}")
    return read(path, f"--baseline {name}")


def _check_keys(table: Table) -> None:
    """A baseline holds deviations and nothing else; with a misspelt header it would hold none."""
    unknown = sorted(set(table.values) - {"deviation", "fixed"})
    if unknown:
        told = "a baseline holds [[deviation]] and [[fixed]]"
        raise CandidateError(f"{table.path.name}: no key {unknown[0]!r}; {told}")


def _deviations(table: Table) -> list[Deviation]:
    return [_deviation(entry) for entry in table.entries("deviation")]


def _deviation(entry: Entry) -> Deviation:
    _check(entry, FIELDS, MAY_LACK)
    try:
        case = parse(entry.values["case"])
    except ValueError as error:
        raise CandidateError(f"{entry.where}: {error}") from error
    return Deviation(**(entry.values | {"case": case}), where=entry.where)


def _check(entry: Entry, fields: set[str], may_lack: set[str]) -> None:
    """Only these fields, all of them strings, of a clause and a role that there are."""
    values = entry.values
    unknown, missing = set(values) - fields, fields - may_lack - set(values)
    if unknown or missing:
        told = f"unknown {sorted(unknown)}" if unknown else f"missing {sorted(missing)}"
        raise CandidateError(f"{entry.where}: {told}")
    for name, value in values.items():
        if not isinstance(value, str):
            raise CandidateError(f"{entry.where}: {name} is a string, not {value!r}")
    if values["clause"] not in clauses():
        raise CandidateError(f"{entry.where}: there is no clause {values['clause']!r}")
    if values.get("occurs", OCCURS[0]) not in OCCURS:
        raise CandidateError(f"{entry.where}: occurs is one of {OCCURS}, not {values['occurs']!r}")
    if values.get("role", ROLES[0]) not in ROLES:
        raise CandidateError(f"{entry.where}: there is no role {values['role']!r}")


def remedy(deviation: Deviation) -> str:
    """What to do about a deviation that does not occur: which lines to remove, or what to add."""
    what = f"{deviation.clause}, {deviation.role}, case = {deviation.case!r}"
    if deviation.where.partition(",")[0] in {path.name for path in SHIPPED.glob("*.toml")}:
        fields = {"clause": deviation.clause, "role": deviation.role, "about": deviation.about}
        said = "; ".join(f'{name} = "{value}"' for name, value in fields.items() if value)
        return f"where yours is better, say in a layer above: [[fixed]] {said} ({what})"
    return f"remove {deviation.where or 'the deviation'} ({what})"


def deviation_of(verdict: Verdict) -> Deviation:
    """The deviation that would explain a violated verdict."""
    reason = "TODO: why is this accepted?"
    case = parse(verdict.case)
    return Deviation(
        verdict.clause, verdict.role, verdict.anomaly, case, reason, verdict.about,
        candidate=verdict.candidate,
    )  # fmt: skip


def write_baseline(path: Path, violations: Iterable[Verdict], several: bool = False) -> None:
    """Write one entry for each violated verdict; the reasons are left for a person to say.

    several: whether the run had more than one candidate, so that each entry names its own.
    """
    found = map(deviation_of, violations)
    named = (one if several else replace(one, candidate="") for one in found)
    path.write_text(baseline_text(named), encoding="utf-8")


def baseline_text(deviations: Iterable[Deviation]) -> str:
    """The file that declares these deviations."""
    lines = ["# Known deviations. Say a reason for each; an entry that no longer occurs fails.\n"]
    for one in deviations:
        entry = {
            "clause": one.clause, "role": one.role, "anomaly": one.anomaly, "about": one.about,
            "candidate": one.candidate, "case": repr(one.case), "reason": one.reason,
            "link": one.link, "occurs": "" if one.occurs == "always" else one.occurs,
        }  # fmt: skip
        lines.append("\n[[deviation]]\n")
        lines += [f"{key} = {_toml(value)}\n" for key, value in entry.items() if value]
    return "".join(lines)


def _toml(text: str) -> str:
    if "'" not in text and "\n" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
