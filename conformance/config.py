"""`conformance.toml`, or `[tool.conformance]` of `pyproject.toml`: what a project declares once.

The nearest of the two counts, from the folder where the run was started upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.candidate import CandidateError
from conformance.policies import NUMBERS, POLICIES
from conformance.report.links import AddressError, checked
from conformance.roles import ROLES
from conformance.tables import Table, read

Pairs = tuple[tuple[str, Any], ...]

FILE, SHARED = "conformance.toml", "pyproject.toml"

KINDS: dict[str, type] = {
    "roles": dict, "policies": dict, "baselines": list, "spec-url": str, "strict": bool,
    "deviation": list, "fixed": list,
}  # fmt: skip
"""The keys there are, and what each holds."""


@dataclass(frozen=True)
class Config:
    """What a project declares.

    roles: pairs of a role and the candidate's name for it. policies: pairs of `pads`, `divides` and
    `sentinel`. baselines: files of known deviations, or names of shipped ones. spec_url: where the
    spec is published as pages, "" if nowhere. strict: whether a violated SHOULD fails. table: the
    file, with known deviations of its own; None if there is none.
    """

    roles: Pairs = ()
    policies: Pairs = ()
    baselines: tuple[str, ...] = ()
    spec_url: str = ""
    strict: bool = False
    table: Table | None = None


def read_config(folder: Path) -> Config:
    """What is declared for runs started in `folder`. Raises CandidateError that names the key."""
    table = _nearest(folder)
    if table is None:
        return Config()
    values = table.values
    for key, value in values.items():
        if key not in KINDS:
            raise CandidateError(f"{table.path}: no key {key!r}; there are {', '.join(KINDS)}")
        if not isinstance(value, KINDS[key]):
            raise CandidateError(f"{table.path}: {key} is a {KINDS[key].__name__}, not {value!r}")
    _known(table, "roles", set(ROLES))
    _check_address(table)
    _known(table, "policies", {*POLICIES, *NUMBERS})
    return Config(
        tuple(values.get("roles", {}).items()), tuple(values.get("policies", {}).items()),
        tuple(_placed(name, table.path) for name in values.get("baselines", [])),
        values.get("spec-url", ""), values.get("strict", False), table,
    )  # fmt: skip


def _nearest(folder: Path) -> Table | None:
    for place in (folder, *folder.parents):
        own, shared = place / FILE, place / SHARED
        found = read(own, str(own)) if own.exists() else None
        below = read(shared, str(shared), "tool.conformance.") if shared.exists() else None
        if found and below and below.values:
            raise CandidateError(f"{own}: [tool.conformance] of {SHARED} beside it declares too")
        if found or below:
            return found or below
    return None


def _known(table: Table, section: str, names: set[str]) -> None:
    unknown = sorted(set(table.values.get(section, {})) - names)
    if unknown:
        told = f"no {section}.{unknown[0]}; there are {', '.join(sorted(names))}"
        raise CandidateError(f"{table.path}: {told}")


def _check_address(table: Table) -> None:
    try:
        checked(table.values.get("spec-url", "."))
    except AddressError as error:
        raise CandidateError(f"{table.path}: {error}") from error


def _placed(name: Any, file: Path) -> str:
    """A baseline as it is named on the command line: files are beside the file that names them."""
    if not isinstance(name, str):
        raise CandidateError(f"{file}: baselines holds names of files, not {name!r}")
    impl, equals, path = name.rpartition("=")
    return f"{impl}{equals}{file.parent / path}" if Path(path).suffix else name
