"""A glance before the run: where the first violation ends it, what is soon found goes first.

A glance shrinks nothing and says nothing: the property that it finds is then examined as ever. No
case is judged twice for a clause.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial

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

STEPS = (range(1, END, 8), range(5, END, 8), range(3, END, 4), range(0, END, 2))
"""Cases of a loader take their time, and neighbours are much alike: some of each scenario go first,
but not the very first, which is mostly empty. Together these are all places."""

APART = (range(0, END, 8), range(4, END, 8), range(2, END, 4), range(1, END, 2))
"""The same of cases that each take a process, of which scenarios have few, and none is empty."""

Look = Callable[[Search], bool]


def glanced(
    examiner: Examiner, candidate: Description, props: Iterable[Property]
) -> tuple[Property | None, int]:
    """The first property that a glance shows to be violated, and how many cases were judged."""
    searches = [Search(examiner, candidate, prop) for prop in props]
    searches = [search for search in searches if not search.excused()]
    found = next((f for f in map(partial(_found, searches), _looks(searches)) if f), None)
    return found, sum(search.exercise.run for search in searches)


def _looks(searches: list[Search]) -> list[tuple[Search, Look]]:
    """What to look at in turn."""
    loaders = [search for search in searches if search.prop.role in LOADERS]
    quick = [s for s in searches if s not in loaders and not s.prop.clause.statistical]
    statistical = [s for s in searches if s not in loaders and s.prop.clause.statistical]
    looks: tuple[tuple[list[Search], Look], ...] = (
        (quick, partial(_small, places=range(FEW))),
        (quick, _drawn),
        (statistical, _small),  # thousands of draws
        (quick, partial(_small, places=range(FEW, MORE))),
        (quick, partial(_small, places=range(MORE, END))),
        (loaders, partial(_together, places=STEPS[0])),
        *((loaders, partial(_together, places=places, kind=_unaided)) for places in STEPS[1:]),
        (loaders, partial(_together, places=STEPS[1], kind=_busy)),
        *((loaders, partial(_alone, places=places)) for places in APART[:3]),
        (loaders, partial(_together, places=STEPS[2], kind=_busy)),
        (loaders, partial(_alone, places=APART[3])),
        (loaders, partial(_together, places=STEPS[3], kind=_busy)),
    )
    return [(search, look) for some, look in looks for search in some]


def _found(searches: list[Search], what: tuple[Search, Look]) -> Property | None:
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
    some = [scenario for scenario in search.prop.scenarios if not _apart(search, scenario)]
    return any(_breaks(search, scenario, places, kind) for scenario in some)


def _busy(case: Case) -> bool:
    """Whether workers are started, which takes a hundred times as long as to do without."""
    return workers(case) > 0


def _unaided(case: Case) -> bool:
    return not _busy(case)


def _alone(search: Search, places: range) -> bool:
    """The same of cases that each take a process of their own."""
    some = [scenario for scenario in search.prop.scenarios if _apart(search, scenario)]
    return any(_breaks(search, scenario, places) for scenario in some)


def _apart(search: Search, scenario: Scenario) -> bool:
    setting = search.examiner.setting(search.candidate, search.prop.role)
    first = next(iter(scenario.small(setting)), None) if scenario.small else None
    return first is not None and first.world == "alone"


def _breaks(search: Search, scenario: Scenario, places: range, kind: Kind = any_kind) -> bool:
    return bool(scenario.small) and any(
        search.breaks(*pair) for pair in search.small(scenario, places, kind)
    )


def _drawn(search: Search) -> bool:
    """Whether one of few drawn cases breaks the law."""
    some = [scenario for scenario in search.prop.scenarios if scenario.drawn]
    drawn = (search.draw(scenario, DRAWN, shrink=False) for scenario in some)
    return any(drawing.best is not None for drawing in drawn)
