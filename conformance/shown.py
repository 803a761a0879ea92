"""What is known to break a law before its property is examined: that is looked at first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conformance.roles import LOADERS
from conformance.scenarios import Scenario
from conformance.small import Pair
from conformance.spread import is_light

if TYPE_CHECKING:
    from conformance.search import Search


def told(search: Search) -> Iterator[Iterable[Pair]]:
    """Cases that are known to break the law, or among which one is."""
    lost = search.worlds.losses.first.get((search.candidate.source, search.prop.role))
    if lost and search.prop.clause.id == search.returns:
        yield [(lost.case, lost)]
    shown = _shown(search)
    if shown is None:
        return
    scenario, pair = shown
    if pair[0].world == "alone":
        yield [pair]  # it would take long to be found again
    elif scenario.small and search.prop.role in LOADERS:
        yield search.small(scenario, search.carried_out(scenario))
    elif scenario.small and is_light(pair[0]):
        yield _light(search, scenario)


def in_order(search: Search) -> list[Scenario]:
    """All scenarios of the property; what is known to break the law goes first."""
    shown = _shown(search)
    first = shown[0] if shown else None
    return sorted(search.prop.scenarios, key=lambda scenario: scenario is not first)


def _light(search: Search, scenario: Scenario) -> Iterator[Pair]:
    """Its small cases that take no time."""
    cases = enumerate(search.cases(scenario))
    return search.small(scenario, {at for at, case in cases if is_light(case)})


def _shown(search: Search) -> tuple[Scenario, Pair] | None:
    """What the glance has found."""
    return search.examiner.shown.get((search.candidate.source, search.prop))
