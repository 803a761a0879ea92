"""A glance before the run: where the first violation ends it, what is soon found goes first.

A glance shrinks nothing and says nothing: the property that it finds is then examined as ever. It
looks at samplers alone; loaders take their time in every case.
"""

from __future__ import annotations

from collections import Counter
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
    found, glance = None, _Glance()
    looks: tuple[tuple[list[Search], Callable[[Search], bool]], ...] = (
        (quick, partial(glance.small, most=FEW)),
        (quick, glance.drawn),
        (statistical, glance.small),  # thousands of draws
        (quick, partial(glance.small, most=MORE)),
        (quick, glance.small),
    )
    for search, look in ((search, look) for some, look in looks for search in some):
        found = search.prop if look(search) else _not_back(searches)
        if found is not None:
            break
    return found, sum(search.exercise.run for search in searches)


def _not_back(searches: Iterable[Search]) -> Property | None:
    """The property that tells of a role that did not come back: each look at it takes long."""
    judges = (search for search in searches if search.prop.clause.id == search.returns)
    return next((search.prop for search in judges if search.has_lost()), None)


class _Glance:
    """Looks at a property more than once, and judges no case twice.

    judged: how many of the small cases of each clause's scenarios were.
    """

    def __init__(self) -> None:
        self.judged: Counter[tuple[Property, str]] = Counter()

    def small(self, search: Search, most: int | None = None) -> bool:
        """Whether a small case breaks the law. most: so many of each scenario are enough."""
        some = [scenario for scenario in search.prop.scenarios if scenario.small]
        return any(search.breaks(*pair) for s in some for pair in self._new(search, s, most))

    def _new(
        self, search: Search, scenario: Scenario, most: int | None
    ) -> Iterator[tuple[Case, Trace]]:
        pairs = search.examiner.traces(search.candidate, search.prop, scenario, most)
        key = search.prop, scenario.name
        for pair in islice(pairs, self.judged[key], None):
            self.judged[key] += 1
            yield pair

    @staticmethod
    def drawn(search: Search) -> bool:
        """Whether one of few drawn cases breaks the law."""
        some = [scenario for scenario in search.prop.scenarios if scenario.drawn]
        drawn = (search.draw(scenario, DRAWN, shrink=False) for scenario in some)
        return any(drawing.best is not None for drawing in drawn)
