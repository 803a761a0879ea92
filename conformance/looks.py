"""What a glance looks at, one after the other; the next begins while one is judged."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from conformance.candidate import Source
from conformance.case import Case
from conformance.scenarios import Scenario
from conformance.search import Search


class What(NamedTuple):
    """Something to look at.

    breaks: whether it shows the law broken. scenario, places: the cases of a sampler that it will
    ask for, None if it is not known which.
    """

    search: Search
    breaks: Callable[[], bool]
    scenario: Scenario | None = None
    places: frozenset[int] = frozenset()


class Looks(Iterable[What]):
    """What to look at in turn; while one is judged the next begins."""

    def __init__(self, looks: Iterable[What]) -> None:
        self.left, self.seen = iter(looks), collections.deque[What]()
        self.now: What | None = None

    def __iter__(self) -> Iterator[What]:
        while what := self.seen.popleft() if self.seen else next(self.left, None):
            self.now = what
            yield what

    def ahead(self) -> tuple[Source, Iterable[Case]] | None:
        """The cases of the next of them that has any to ask for."""
        for what in () if self.seen else self.left:
            self.seen.append(what)
            if cases := self._asked(what):
                return what.search.candidate.source, cases
            if what.scenario is None:
                break
        return None

    def _asked(self, what: What) -> list[Case]:
        """The cases that will be carried out for it, once what is looked at now is known."""
        if not (what.scenario and self.now):
            return []
        search, role = what.search, what.search.prop.role
        same = (role, what.scenario) == (self.now.search.prop.role, self.now.scenario)
        places = what.places - self.now.places if same else what.places
        expected = search.examiner.expected(search.candidate, role, what.scenario, places)
        return [case for _, case in expected]
