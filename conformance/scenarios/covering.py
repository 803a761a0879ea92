"""Few combinations in which every two choices meet: most mistakes need one or two options to show.

D. M. Cohen et al., The AETG system, IEEE Transactions on Software Engineering 23(7), 1997: each
combination is filled choice by choice with what meets most of those that it has not met yet.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

Combination = dict[str, int]
"""The place of the choice that is made, by factor."""

Fits = Callable[[Combination], bool]
"""Whether some choices go together; what is not chosen yet never stands in the way."""


def covering(factors: Mapping[str, Sequence[object]], fits: Fits) -> Iterator[Combination]:
    """Combinations of one choice for each factor, until every two that go together have met."""
    unmet = {pair for pair in _pairs(factors) if fits(dict(pair))}
    for pair in sorted(unmet):
        if pair in unmet:
            found = _filled(dict(pair), factors, fits, unmet)
            unmet -= {pair, *itertools.combinations(sorted(found.items()), 2)}
            if found:
                yield found


Pair = tuple[tuple[str, int], ...]


def _pairs(factors: Mapping[str, Sequence[object]]) -> Iterator[Pair]:
    """Every two choices, of two factors."""
    for a, b in itertools.combinations(sorted(factors), 2):
        for i, k in itertools.product(range(len(factors[a])), range(len(factors[b]))):
            yield (a, i), (b, k)


def _filled(
    begun: Combination, factors: Mapping[str, Sequence[object]], fits: Fits, unmet: set[Pair]
) -> Combination:
    """The same with a choice for each factor; nothing if they do not go together."""
    made = dict(begun)
    for name in factors:
        if name not in made:
            ways = [made | {name: choice} for choice in range(len(factors[name]))]
            made = max(filter(fits, ways), key=lambda way: _meets(way, name, unmet), default={})
            if not made:
                return {}
    return made


def _meets(way: Combination, name: str, unmet: set[Pair]) -> int:
    """How many pairs are met by the choice for a factor."""
    pairs = (tuple(sorted([(name, way[name]), other])) for other in way.items())
    return sum(pair in unmet for pair in pairs)
