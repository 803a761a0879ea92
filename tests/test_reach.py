"""The cases of each property reach every class that is due to it; a class at zero fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from due import DUE, EXEMPT, Exempt, Rule, matches, named
from reach import Reacher

from conformance.candidate import Source
from conformance.properties import everything
from conformance.worlds.worlds import Worlds

PROPERTIES = everything()

FAMILIES = list(dict.fromkeys((p.clause.chapter, p.role) for p in PROPERTIES))
"""Properties of one chapter and role share their cases."""


@pytest.fixture(scope="session")
def reacher() -> Iterator[Reacher]:
    """Counts for the reference, at default effort, in one set of worlds."""
    worlds = Worlds("gloo")
    yield Reacher(worlds, worlds.describe(Source("reference")))
    worlds.close()


def test_no_two_scenarios_share_a_name() -> None:
    """Cases are carried out once for each name: those of a namesake would never be."""
    scenarios = {id(s): s.name for prop in PROPERTIES for s in prop.scenarios}

    assert len(set(scenarios.values())) == len(scenarios)


@pytest.mark.parametrize(("chapter", "role"), FAMILIES)
def test_what_is_to_be_alone_has_scenarios_of_its_own(
    reacher: Reacher, chapter: str, role: str
) -> None:
    """Cases in a process of their own share a scenario with no others: its first case decides."""
    own = [p for p in PROPERTIES if (p.clause.chapter, p.role) == (chapter, role)]
    setting = reacher.examiner.setting(reacher.candidate, role)

    scenarios = {scenario.name: scenario for prop in own for scenario in prop.scenarios}
    worlds = {
        s.name: {case.world for case in s.small(setting)} for s in scenarios.values() if s.small
    }

    assert not [name for name, kinds in worlds.items() if "alone" in kinds and kinds != {"alone"}]


@pytest.mark.parametrize(("chapter", "role"), FAMILIES)
def test_every_class_that_is_due_is_reached(reacher: Reacher, chapter: str, role: str) -> None:
    """No property leaves a class at zero that it can and should reach, or accuses the reference."""
    own = [p for p in PROPERTIES if (p.clause.chapter, p.role) == (chapter, role)]

    reached = [reacher.reach(prop) for prop in own]

    missed = [sentence for reach in reached for sentence in reach.missed()]
    assert not missed, "\n".join(missed)
    assert not [reach.accused for reach in reached if reach.accused]


@pytest.mark.parametrize("rule", [*DUE, *EXEMPT], ids=lambda rule: rule.where[0])
def test_every_rule_speaks_of_something(rule: Rule) -> None:
    """Each pattern of a rule matches a property: none is left over from a clause that has gone."""
    names = [f"{prop.clause.id} {prop.role}" for prop in PROPERTIES]

    lost = [pattern for pattern in rule.where if not any(matches(n, [pattern]) for n in names)]

    assert not lost


@pytest.mark.parametrize("exempt", EXEMPT, ids=lambda exempt: exempt.where[0])
def test_every_exemption_takes_something_back(exempt: Exempt) -> None:
    """Each class that an exemption names would be due without it, and it says why it is not."""
    own = [prop for prop in PROPERTIES if exempt.covers(prop)]
    without = named(rule for rule in DUE for prop in own if rule.covers(prop))

    idle = [name for name in exempt.classes if not any(matches(w, [name]) for w in without)]

    assert exempt.reason
    assert not idle
