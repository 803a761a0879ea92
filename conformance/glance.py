"""A glance before the run: where the first violation ends it, what is soon found goes first.

A glance shrinks nothing and says nothing: the property that it finds is then examined as ever. No
case is judged twice for a clause.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, compress, product
from operator import not_

from conformance.ahead import apart, keys
from conformance.candidate import Description
from conformance.case import Case
from conformance.examine import Examiner
from conformance.laws.loading import workers
from conformance.properties import Property
from conformance.roles import LOADERS
from conformance.scenarios import Scenario
from conformance.search import Search
from conformance.small import ALL, Kind, any_kind

END = sys.maxsize

FEW = 32
"""So many small cases of each scenario go first: most faults of samplers show in some of them."""

MORE = 256
"""Up to so many go next: what they show has not to wait for all cases of the clauses before."""

DRAWN = 4
"""So many are drawn between: only real groups show how a rank finds its place in one."""

STEPS = (
    range(1, END, 8), range(5, END, 8), range(3, END, 4), range(2, END, 4), range(0, END, 4)
)  # fmt: skip
"""Cases of a loader take their time, and neighbours are much alike: some of each scenario go first,
but not the very first, which is mostly empty. Together these are all places."""

APART = (
    range(0, END, 8), range(4, END, 8), range(2, END, 4), range(1, END, 4), range(3, END, 4)
)  # fmt: skip
"""The same of cases that each take a process, of which scenarios have few, and none is empty."""


def _busy(case: Case) -> bool:
    """Whether workers are started."""
    return workers(case) > 0


def _unaided(case: Case) -> bool:
    return not _busy(case)


Look = Callable[[Search], bool]

What = tuple[Search, Look]
"""Something to look at, and how."""


def glanced(
    examiner: Examiner, candidate: Description, props: Iterable[Property]
) -> tuple[Property | None, int]:
    """The first property that a glance shows to be violated, and how many cases were judged."""
    searches = [Search(examiner, candidate, prop) for prop in props]
    searches = [search for search in searches if not search.excused()]
    looks = chain(_of_samplers(searches), _of_loaders(examiner, searches))
    try:
        found = next((f for f in map(partial(_found, searches), looks) if f), None)
    finally:
        examiner.worlds.window.forget()
    return found, sum(search.exercise.run for search in searches)


SOON = ((STEPS[0], any_kind), *((places, _unaided) for places in STEPS[1:]))
LATER = tuple((places, _busy) for places in STEPS[1:])
"""The cases that share processes: to start workers takes a hundred times as long as to do without.
"""


def _of_samplers(searches: list[Search]) -> Iterator[What]:
    """What to look at in turn; statistical clauses take thousands of draws."""
    samplers = [search for search in searches if search.prop.role not in LOADERS]
    quick = [search for search in samplers if not search.prop.clause.statistical]
    yield from product(quick, [partial(_small, places=range(FEW))])
    yield from product(quick, [_drawn])
    yield from ((search, _small) for search in samplers if search.prop.clause.statistical)
    yield from product(quick, [partial(_small, places=range(FEW, MORE))])
    yield from product(quick, [partial(_small, places=range(MORE, END))])


def _of_loaders(examiner: Examiner, searches: list[Search]) -> Iterator[What]:
    """Some of all; then those that share processes, and between them the others, as they end."""
    loaders = [search for search in searches if search.prop.role in LOADERS]
    yield from _shared(loaders, SOON)
    window, done = examiner.worlds.window, examiner.alone
    apart = [(search, places, [*keys(search, places)]) for places in APART for search in loaders]
    window.expect(key for *_, wanted in apart for key in wanted)
    yield from ((search, partial(_alone, places=APART[0])) for search in loaders)
    apart = apart[len(loaders) :]
    for look in _shared(loaders, LATER):
        yield look
        ready = [all(key in window.ended or key in done for key in one[2]) for one in apart]
        ended, apart = list(compress(apart, ready)), list(compress(apart, map(not_, ready)))
        yield from ((search, partial(_alone, places=places)) for search, places, _ in ended)
    yield from ((search, partial(_alone, places=places)) for search, places, _ in apart)


def _shared(loaders: list[Search], parts: Iterable[tuple[range, Kind]]) -> Iterator[What]:
    for places, kind in parts:
        yield from product(loaders, [partial(_together, places=places, kind=kind)])


def _found(searches: list[Search], what: What) -> Property | None:
    """The property if it is violated, or the one that tells of a role that did not come back."""
    search, look = what
    if look(search):
        return search.prop
    judges = (search for search in searches if search.prop.clause.id == search.returns)
    return next((search.prop for search in judges if search.has_lost()), None)


def _small(search: Search, places: range = ALL) -> bool:
    """Whether a small case breaks the law."""
    return any(_breaks(search, scenario, places) for scenario in search.prop.scenarios)


def _together(search: Search, places: range, kind: Kind = any_kind) -> bool:
    """The same of cases that share a process."""
    some = [scenario for scenario in search.prop.scenarios if not apart(search, scenario)]
    return any(_breaks(search, scenario, places, kind) for scenario in some)


def _alone(search: Search, places: range) -> bool:
    """The same of cases that each take processes of their own."""
    some = [scenario for scenario in search.prop.scenarios if apart(search, scenario)]
    return any(_breaks(search, scenario, places) for scenario in some)


def _breaks(search: Search, scenario: Scenario, places: range, kind: Kind = any_kind) -> bool:
    """Whether a case of a scenario does; it is remembered."""
    pairs = search.small(scenario, places, kind) if scenario.small else ()
    found = next((pair for pair in pairs if search.breaks(*pair)), None)
    if found is not None:
        search.examiner.shown[search.candidate.source, search.prop] = scenario, found
    return found is not None


def _drawn(search: Search) -> bool:
    """Whether one of few drawn cases breaks the law."""
    some = [scenario for scenario in search.prop.scenarios if scenario.drawn]
    drawn = (search.draw(scenario, DRAWN, shrink=False) for scenario in some)
    return any(drawing.best is not None for drawing in drawn)
