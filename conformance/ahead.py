"""What will have to be carried out alone, known before it is asked for: it mostly waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.candidate import Description, Source
from conformance.case import Case
from conformance.examine import Examiner
from conformance.properties import Property
from conformance.scenarios import Scenario
from conformance.search import Search

Key = tuple[Source, Case]


def expect(examiner: Examiner, candidate: Description, props: Iterable[Property]) -> None:
    """These will be examined, in this order: what wants to be alone begins now."""
    searches = (Search(examiner, candidate, prop) for prop in props)
    asked = (search for search in searches if not search.excused())
    examiner.worlds.window.expect(key for search in asked for key in keys(search))


def keys(search: Search) -> Iterator[Key]:
    """The cases of a property that take processes of their own and nobody has asked for."""
    for scenario in search.prop.scenarios:
        if apart(search, scenario):
            expected = search.examiner.expected(search.candidate, search.prop.role, scenario)
            yield from ((search.candidate.source, case) for _, case in expected)


def apart(search: Search, scenario: Scenario) -> bool:
    """Whether each case of a scenario takes processes of its own."""
    return world(search, scenario) == "alone"


def world(search: Search, scenario: Scenario) -> str | None:
    """The world of a scenario's small cases, None if there are none."""
    setting = search.examiner.setting(search.candidate, search.prop.role)
    first = next(iter(scenario.small(setting)), None) if scenario.small else None
    return first.world if first else None
