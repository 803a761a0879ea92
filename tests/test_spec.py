"""The spec: its examples run, every clause has a law, and no law row of the research is lost."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from conformance.clauses import CHAPTERS, clauses, spec_folder
from conformance.laws import load_laws
from conformance.properties import everything


@pytest.mark.parametrize("path", sorted(spec_folder().glob("*.md")), ids=lambda path: path.stem)
def test_examples_run(path: Path) -> None:
    """Every example of the chapter gives what the chapter shows."""
    failed, _ = doctest.testfile(
        str(path), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )

    assert failed == 0


def test_every_clause_has_a_law() -> None:
    """Clauses and laws are the same set, by name."""
    assert set(load_laws()) == set(clauses())


def test_every_clause_has_a_property() -> None:
    """Each clause is examined for each of its roles."""
    properties = everything()

    assert {p.clause.id for p in properties} == set(clauses())
    assert {(p.clause.id, p.role) for p in properties} == {
        (clause.id, role) for clause in clauses().values() for role in clause.roles
    }


def test_every_row_is_kept_or_excluded() -> None:
    """Each law row of samplers and loaders is in a clause, or in excluded.md with its reason."""
    families = {
        "SP": 14, "SQ": 1, "RN": 6, "SB": 1, "WT": 7, "BT": 8, "DS": 14, "CB": 7, "WR": 10,
        "LS": 10, "LM": 17, "IT": 10, "PT": 6, "LC": 11,
    }  # fmt: skip
    wanted = {f"{name}{number + 1}" for name, count in families.items() for number in range(count)}
    kept = {row for clause in clauses().values() for row in clause.rows}
    excluded = (spec_folder() / "excluded.md").read_text(encoding="utf-8")

    missing = {row for row in wanted - kept if f"{row}" not in excluded}

    assert missing == set()


def test_chapters_are_complete() -> None:
    """Every chapter that is listed has clauses."""
    assert {clause.chapter for clause in clauses().values()} == set(CHAPTERS)
