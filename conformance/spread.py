"""An order of cases in which few of them show much: what goes first differs as much as it can.

Most faults show where two things come together: an option and a size, a kind of data and a step of
the plan. So each next case is the one that shows most pairs which none before it has shown; when
all have been shown, they are shown once more, some times. (Pairwise testing: Cohen, Dalal, Fredman,
Patton, The AETG system, IEEE Transactions on Software Engineering 23, 1997. Its greedy choice, from
a list.)
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import chain, combinations_with_replacement, pairwise, repeat
from math import ceil
from typing import Any

from conformance.case import Case
from conformance.classes import has_workers, work
from conformance.datasets import Mapped

Pairs = set[tuple[int, int]]

NOWHERE = frozenset[int]()

BUSY, QUICK = (0, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1), (0, 1 / 2, 1)
"""Where the order of cases with workers is cut into parts, and that of those without, which take a
hundredth of the time."""

SOME = 64
"""So many of a scenario's cases without workers are enough to begin with."""


SHARES = (0, 1 / 32, 1 / 8, 3 / 8, 1)
"""The same of a sampler's cases."""

LIGHT = 1 << 13
"""A case of more draws may take a second, if each draw is slow."""

LONG = 1 << 18
"""One of more draws takes a second with most candidates."""

ELEMENTS = 1 << 12
"""Items of more elements together take a loader tenths of a second."""

KEPT = 256
"""Of so many scenarios the order is kept: other candidates, or other clauses, ask for it again."""

ROUNDS = 24
"""So often all pairs are shown before the rest follows as it comes: of thousands of cases that
differ in little each round takes two."""

MANY = 24
"""Of so many different values none decides a case."""


@lru_cache(KEPT)
def parts(
    cases: tuple[Case, ...], slow: bool = False, telling: frozenset[int] = NOWHERE
) -> tuple[frozenset[int], ...]:
    """The places of a loader's cases in nine parts, as they are best looked at: some without
    workers and some with them, those that are `telling`, the others without, the rest, and those
    that are slow. Of these the telling come with the others. What is large comes with the telling,
    what takes a group of processes after the first rest, or if it is telling with the others."""
    if slow:
        every = frozenset(range(len(cases)))
        return (*[NOWHERE] * 3, telling, *[NOWHERE] * 4, every - telling)
    busy, large, grouped = (_those(cases, kind) for kind in (_is_busy, _is_large, _is_grouped))
    some, others = _cut(cases, frozenset(range(len(cases))) - busy - large, QUICK, SOME)
    first, second, *rest = _cut(cases, busy - large - grouped, BUSY)
    shared = _those(cases, lambda case: case.world != "alone")
    told = large | telling - grouped - (shared & (some | first))
    sooner = telling & grouped
    left = (others | sooner, (second | grouped - large) - sooner, *rest)
    return (some, first - told, told, *(part - told for part in left), NOWHERE)


@lru_cache(KEPT)
def portions(cases: tuple[Case, ...]) -> tuple[frozenset[int], ...]:
    """The places of a sampler's cases in five portions: three, each several times as large as the
    one before, those that may take a while, and the rest with those that take long."""
    light = _those(cases, is_light)
    *some, rest = _cut(cases, light, SHARES)
    heavy = frozenset(range(len(cases))) - light
    longer = heavy & _those(cases, lambda case: work(case) <= LONG)
    return (*some, longer, rest | heavy - longer)


def is_light(case: Case) -> bool:
    """Whether a case takes no time, however slow each draw is."""
    return work(case) <= LIGHT


def _those(cases: Sequence[Case], kind: Callable[[Case], bool]) -> frozenset[int]:
    """The places of the cases of a kind."""
    return frozenset(at for at, case in enumerate(cases) if kind(case))


def _is_busy(case: Case) -> bool:
    """Whether a loader's case takes processes beside the one that it is carried out in."""
    return has_workers(case) or case.world != "simulated"


def _is_large(case: Case) -> bool:
    """Whether most of the time that a loader's case takes goes into its data."""
    data = case.argument("dataset")
    return isinstance(data, Mapped) and data.elements > ELEMENTS


def _is_grouped(case: Case) -> bool:
    """Whether a case takes a process group."""
    return case.world == "group"


def _cut(
    cases: Sequence[Case], places: Set[int], cuts: Sequence[float], most: int = sys.maxsize
) -> list[frozenset[int]]:
    """The places in the order of the cases, cut where `cuts` say; the first part has at most
    `most`."""
    ordered = sorted(places)
    order = [ordered[at] for at in spread([cases[at] for at in ordered])]
    ends = [ceil(cut * len(order)) for cut in cuts]
    ends[1] = min(ends[1], most)
    return [frozenset(order[start:end]) for start, end in pairwise(ends)]


def spread(cases: Sequence[Case]) -> list[int]:
    """The places of the cases, each once; of those that show as much the earliest goes first."""
    known = dict[Any, list[str]]()
    shown = [set(_features(case, known)) for case in cases]
    always = set.intersection(*shown) if shown else set()
    number = {feature: at for at, feature in enumerate(set().union(*shown) - always)}
    pairs = [_pairs({number[one] for one in some - always}) for some in shown]
    order, left = list[int](), set(range(len(cases)))
    for _ in range(ROUNDS):
        order += _once(pairs, left)
        left -= set(order)
    return [*order, *sorted(left)]


def _once(pairs: Sequence[Pairs], places: set[int]) -> Iterator[int]:
    """Places that show all pairs once, and at least one place.

    What a place would show anew only gets less, so who is best by an old count and still best by a
    new one is best of all.
    """
    seen: Pairs = set()
    best = [(-len(pairs[place]), place) for place in places]
    heapq.heapify(best)
    while best:
        _, place = best[0]
        new = -len(pairs[place] - seen), place
        heapq.heapreplace(best, new)
        if best[0] != new:
            continue
        if not new[0] and seen:
            return
        heapq.heappop(best)
        seen |= pairs[place]
        yield place


def _pairs(features: set[int]) -> Pairs:
    """Each feature with each other, and by itself."""
    return set(combinations_with_replacement(sorted(features), 2))


def _features(case: Case, known: dict[Any, list[str]]) -> Iterator[str]:
    """What decides a case, piece by piece: each argument and each step, field by field."""
    for name, value in chain(case.arguments, zip(repeat(""), case.plan)):
        key = name, type(value), value
        if key not in known:
            known[key] = [*_told(name, value)]
        yield from known[key]


def _told(name: str, value: Any) -> Iterator[str]:
    if is_dataclass(value):
        kind = type(value).__name__
        yield f"{name} {kind}"
        for one in fields(value):
            yield from _told(f"{name} {kind}.{one.name}", getattr(value, one.name))
    elif isinstance(value, tuple):
        for part in value if len({*map(repr, value[: MANY * MANY])}) < MANY else ("many",):
            yield from _told(name, part)
    else:
        yield f"{name} {value!r}"
