"""`[tool.conformance]` of the nearest `pyproject.toml`: role names and declared policies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from conformance.candidate import POLICIES, ROLES, CandidateError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

Pairs = tuple[tuple[str, Any], ...]


def read_toml(path: Path, told: str) -> dict[str, Any]:
    """The tables of a TOML file; raises CandidateError that begins with `told`."""
    try:
        tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CandidateError(f"{told}: {error}") from error
    return tables


def read_config(folder: Path) -> tuple[Pairs, Pairs]:
    """Role names and policies declared for runs started in `folder`, as pairs.

    [tool.conformance.roles] maps a role to the candidate's name for it; [tool.conformance.policies]
    holds `pads`, `divides` and `sentinel`. Raises CandidateError that names an unknown key.
    """
    path = next(
        (p for f in (folder, *folder.parents) if (p := f / "pyproject.toml").exists()), None
    )
    if path is None:
        return (), ()
    table = read_toml(path, str(path)).get("tool", {}).get("conformance", {})
    known = {"roles": set(ROLES), "policies": {*POLICIES, "sentinel"}}
    for section, entries in table.items():
        unknown = set(entries) - known.get(section, set())
        if section not in known or unknown:
            what = f"{section}.{sorted(unknown)[0]}" if section in known else section
            raise CandidateError(f"{path}: [tool.conformance] has no {what}")
    return tuple(table.get("roles", {}).items()), tuple(table.get("policies", {}).items())
