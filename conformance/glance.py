"""A glance before the run: where the first violation ends it, what is soon found goes first.

A glance shrinks nothing and says nothing: the property that it finds is then examined as ever. No
case is judged twice for a clause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, compress, filterfalse, groupby, islice, product, zip_longest
from operator import itemgetter, not_
from typing import NamedTuple

from conformance.ahead import Key, apart, world
from conformance.candidate import Description
from conformance.classes import is_forked, is_sent
from conformance.drawing import Traces
from conformance.examine import Examiner
from conformance.looks import Looks, What
from conformance.properties import Property
from conformance.roles import LOADERS
from conformance.scenarios import Scenario
from conformance.search import Search
from conformance.small import ALL, Places
from conformance.spread import is_light

FEW = 16
"""So many small cases of each scenario go first: most faults of samplers show in some of them."""

PORTIONS = range(5)
"""The portions of all small cases, as `spread.portions` divides them: what some of them show has
not to wait for all cases of the clauses before."""

Drawn = dict[tuple[str, str], Traces]
"""What was drawn for a role from a scenario."""

DRAWN = 4
"""So many are drawn between: only real groups show how a rank finds its place in one."""

MANY = 3
"""What is drawn for so many clauses goes first: one fault of the zoo shows in the rest alone."""


def glanced(
    examiner: Examiner, candidate: Description, props: Iterable[Property]
) -> tuple[Property | None, int]:
    """The first property that a glance shows to be violated, and how many cases were judged."""
    searches = [Search(examiner, candidate, prop) for prop in props]
    searches = [search for search in searches if not search.excused()]
    given = examiner, candidate, searches
    looks = Looks(chain(_of_samplers(*given), _of_loaders(*given)))
    examiner.worlds.expect(looks.ahead)
    try:
        found = next((f for f in map(partial(_found, searches), looks) if f), None)
    finally:
        examiner.worlds.window.forget()
        examiner.worlds.expect()
    return found, sum(search.exercise.run for search in searches)


PARTS = range(9)
"""The parts of a loader's cases, as `spread.parts` divides them."""

TELLING = (2, 3)
"""The parts of those that once told of a fault: of what takes a process they go first."""

FIRST = 3
"""So many looks have the processor for themselves: they show most faults."""

BESIDE = (2, 4, 5, 5)
"""Beside the first parts, which take the processor, no more than so many of the cases are under way
that each take a process and mostly wait."""

PATIENT = (
    "workers.no-hang",
    "workers.timeout",
    "lifecycle.leftovers",
    "lifecycle.failed-construction",
)
"""Clauses that wait for a bound to pass: the sooner their cases begin, the sooner they are told."""


def _of_samplers(
    examiner: Examiner, candidate: Description, searches: list[Search]
) -> Iterator[What]:
    """What to look at in turn: first what shares the one process that stands already, with nothing
    beside it that takes the processor; statistical clauses take thousands of draws."""
    samplers = [search for search in searches if search.prop.role not in LOADERS]
    quick = [search for search in samplers if not search.prop.clause.statistical]
    few, long = partial(_few, light=True), partial(_few, light=False)
    first, second, third, longer, last = (partial(_portion, part=part) for part in PORTIONS)
    common, rare = _drawn(quick)
    for search in quick:
        yield from chain(few(search, standing=True), first(search, standing=True))
    examiner.expect(candidate, (search.prop for search in samplers))
    yield from chain.from_iterable(second(search, standing=True) for search in quick)
    for search in quick:
        yield from chain(few(search, standing=False), first(search), second(search))
    yield from chain.from_iterable(map(third, quick))
    for standing in (True, False):
        yield from chain.from_iterable(long(search, standing=standing) for search in quick)
    yield from common
    yield from chain.from_iterable(map(longer, quick))
    yield from (What(s, partial(_small, s)) for s in samplers if s.prop.clause.statistical)
    yield from rare
    yield from chain.from_iterable(map(last, quick))


def _of_loaders(
    examiner: Examiner, candidate: Description, searches: list[Search]
) -> Iterator[What]:
    """Some of all, then the rest, part by part; what takes a process of its own as it ends."""
    loaders = [search for search in searches if search.prop.role in LOADERS]
    shared, first = [*product(PARTS, loaders)], min(FIRST, len(loaders))
    yield from (_together(*one) for one in shared[:first])
    in_order = sorted(shared, key=lambda one: one[0] not in TELLING)
    left = [one for part, search in in_order for one in _each(search, part)]
    for part, some in groupby(shared[first:], itemgetter(0)):
        if part == TELLING[-1]:
            examiner.expect(candidate, (search.prop for search in loaders))
        _begun(examiner, left, part)
        for one in some:
            yield _together(*one)
            ready = [_ready(examiner, one) for one in left]
            yield from (one.what for one in compress(left, ready))
            left = [*compress(left, map(not_, ready))]
    yield from (one.what for one in left)


def _together(part: int, search: Search) -> What:
    """A look at the cases of a part that share processes."""
    return What(search, partial(_of_part, search, part))


class _Apart(NamedTuple):
    """A look at one case that takes a process: it is judged as soon as it has ended."""

    search: Search
    part: int
    scenario: Scenario
    place: int
    key: Key

    @property
    def what(self) -> What:
        return What(self.search, partial(_breaks, self.search, self.scenario, {self.place}))


def _each(search: Search, part: int) -> Iterator[_Apart]:
    """The cases of a part that each take a process."""
    candidate, role = search.candidate, search.prop.role
    for scenario in (one for one in search.prop.scenarios if apart(search, one)):
        places = search.parts(scenario)[part]
        for place, case in search.examiner.expected(candidate, role, scenario, places):
            yield _Apart(search, part, scenario, place, (candidate.source, case))


def _begun(examiner: Examiner, waiting: list[_Apart], part: int) -> None:
    """Begin what has not begun, as soon as there is room, beside a part: of patient clauses and of
    all others in turns; those that take the processor for a second once the telling have had it to
    themselves, and beside the last part those of them that have told of nothing."""
    soon = [one for one in waiting if not _starts_slowly(one)]
    slow = filter(_starts_slowly, waiting if part >= max(TELLING) else ())
    turns = [filter(_is_patient, soon), filterfalse(_is_patient, soon)]
    turns.append(one for one in slow if one.part in TELLING or part == PARTS[-1])
    keys = (one.key for one in chain.from_iterable(zip_longest(*turns)) if one)
    room = BESIDE[part] if part < len(BESIDE) else None
    examiner.worlds.window.expect((key for key in keys if key not in examiner.alone), room)


def _is_patient(one: _Apart) -> bool:
    return one.search.prop.clause.id in PATIENT


def _starts_slowly(one: _Apart) -> bool:
    """Whether its workers each start a new interpreter, which imports torch."""
    case = one.key[1]
    return not is_forked(case) and is_sent(case)


def _ready(examiner: Examiner, one: _Apart) -> bool:
    """Whether its case has ended."""
    return one.key in examiner.worlds.window.ended or one.key in examiner.alone


def _found(searches: list[Search], what: What) -> Property | None:
    """The property if it is violated, or the one that tells of a role that did not come back."""
    if what.breaks():
        return what.search.prop
    judges = (search for search in searches if search.prop.clause.id == search.returns)
    return next((search.prop for search in judges if search.has_lost()), None)


def _small(search: Search) -> bool:
    """Whether a small case breaks the law."""
    return _one_breaks(search, search.prop.scenarios, lambda scenario: ALL)


def _few(search: Search, light: bool, standing: bool) -> Iterator[What]:
    """The first few cases: those that take no time or those that do, cases that take new processes
    or all others."""
    for scenario in _some(search, standing):
        cases = enumerate(islice(search.cases(scenario), FEW))
        yield _at(search, scenario, frozenset(at for at, case in cases if is_light(case) is light))


def _portion(search: Search, part: int, standing: bool | None = None) -> Iterator[What]:
    """A portion of them all; `standing` as for the few."""
    for scenario in _some(search, standing):
        yield _at(search, scenario, search.parts(scenario)[part])


def _at(search: Search, scenario: Scenario, places: frozenset[int]) -> What:
    """Some of a sampler's cases."""
    return What(search, partial(_breaks, search, scenario, places), scenario, places)


def _some(search: Search, standing: bool | None) -> list[Scenario]:
    """The scenarios with small cases: all of them, or those whose cases are carried out in the one
    process that stands already, or all others."""
    some = [scenario for scenario in search.prop.scenarios if scenario.small]
    if standing is None:
        return some
    return [s for s in some if (world(search, s) in ("simulated", None)) is standing]


def _of_part(search: Search, part: int) -> bool:
    """The same of a part: of cases that share processes."""
    some = [s for s in search.prop.scenarios if s.small and not apart(search, s)]
    return _one_breaks(search, some, lambda scenario: search.parts(scenario)[part])


def _one_breaks(
    search: Search, scenarios: Iterable[Scenario], places: Callable[[Scenario], Places]
) -> bool:
    """Whether a case of one of these does. If one does not return, none follow."""
    for scenario in scenarios:
        lost = search.has_lost()
        if _breaks(search, scenario, places(scenario)):
            return True
        if search.has_lost() and not lost:
            return False
    return False


def _breaks(search: Search, scenario: Scenario, places: Places) -> bool:
    """Whether a case of a scenario does; it is remembered. If one does not return, none follow."""
    for pair in search.small(scenario, places) if scenario.small else ():
        if search.breaks(*pair):
            search.examiner.shown[search.candidate.source, search.prop] = scenario, pair
            return True
        if search.has_lost():
            return False
    return False


def _drawn(searches: list[Search]) -> tuple[list[What], list[What]]:
    """Looks at a few drawn cases, each of them carried out once for all clauses: those that many
    clauses look at, and the others."""
    known: Drawn = {}
    drawn = [(search, one) for search in searches for one in search.prop.scenarios if one.drawn]
    count = Counter(_source(*one) for one in drawn)
    looks: tuple[list[What], list[What]] = [], []
    for search, scenario in drawn:
        rare = count[_source(search, scenario)] < MANY
        looks[rare].append(What(search, partial(_of_drawn, search, known, scenario)))
    return looks


def _source(search: Search, scenario: Scenario) -> tuple[str, str]:
    """What decides which cases are drawn."""
    return search.prop.role, scenario.name


def _of_drawn(search: Search, known: Drawn, scenario: Scenario) -> bool:
    """Whether a drawn case breaks the law."""
    source = _source(search, scenario)
    if source in known:
        return any(search.breaks(case, trace) for case, trace in known[source])
    drawing = search.draw(scenario, DRAWN, shrink=False)
    known[source] = drawing.traces
    return drawing.best is not None
