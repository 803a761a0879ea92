"""A glance before the run: where the first violation ends it, what is soon found goes first.

A glance shrinks nothing and says nothing: the property that it finds is then examined as ever. It
looks at samplers alone; loaders take their time in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from conformance.candidate import LOADERS, Description
from conformance.case import Case
from conformance.examine import Examiner
from conformance.properties import Property
from conformance.scenarios import Scenario
from conformance.search import Search
from conformance.trace import Trace

FEW = 32
"""So many small cases of each scenario go first: most faults show in some of them."""

MORE = 256
"""So many go next: what they show has not to wait for all cases of the clauses before."""

DRAWN = 4
"""So many are drawn between: only real groups show how a rank finds its place in one."""


def glanced(
    examiner: Examiner, candidate: Description, props: Iterable[Property]
) -> tuple[Property | None, int]:
    """The first property that a glance shows to be violated, and how many cases were judged."""
    searches = [Search(examiner, candidate, prop) for prop in props if prop.role not in LOADERS]
    searches = [search for search in searches if not search.excused()]
    quick = [search for search in searches if not search.prop.clause.statistical]
    statistical = [search for search in searches if search.prop.clause.statistical]
    glance = _Glance()
    looks: tuple[tuple[list[Search], Callable[[Search], bool]], ...] = (
        (quick, partial(glance.small, most=FEW)),
        (quick, glance.drawn),
        (statistical, glance.small),  # thousands of draws
        (quick, partial(glance.small, most=MORE)),
        (quick, glance.small),
    )
    found = (search.prop for some, look in looks for search in some if look(search))
    return next(found, None), sum(search.exercise.run for search in searches)


class _Glance:
    """Looks at a property more than once, and judges no case twice.

    judged: how many of the small cases of each clause's scenarios were.
    """

    def __init__(self) -> None:
        self.judged: dict[tuple[Property, str], int] = {}

    def small(self, search: Search, most: int | None = None) -> bool:
        """Whether a small case breaks the law. most: so many of each scenario are enough."""
        some = (scenario for scenario in search.prop.scenarios if scenario.small)
        return any(
            search.breaks(*pair) for scenario in some for pair in self._new(search, scenario, most)
        )

    def _new(
        self, search: Search, scenario: Scenario, most: int | None
    ) -> Iterator[tuple[Case, Trace]]:
        key = search.prop, scenario.name
        for pair in islice(
            search.examiner.traces(search.candidate, search.prop, scenario, most),
            self.judged.get(key, 0),
            None,
        ):
            self.judged[key] = self.judged.get(key, 0) + 1
            yield pair

    @staticmethod
    def drawn(search: Search) -> bool:
        """Whether one of few drawn cases breaks the law."""
        some = (scenario for scenario in search.prop.scenarios if scenario.drawn)
        drawn = (search.draw(scenario, DRAWN, shrink=False) for scenario in some)
        return any(drawing.best is not None for drawing in drawn)
