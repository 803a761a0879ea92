"""Cases that want to be alone: each has processes of its own, killed with all their children."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from conformance.candidate import Source
from conformance.case import Case
from conformance.trace import RankTrace
from conformance.worlds.pool import Pool

AT_ONCE = 10
BOUND_S = 120.0
"""How many cases may be under way at a time, and the bound for each: they mostly wait."""

ENDED_S = 1.0
"""How long the answer of a process that has ended may take."""


class _UnderWay(NamedTuple):
    """A case, its processes, and the ticket with which its traces are received."""

    case: Case
    pool: Pool
    ticket: int


def side_by_side(
    source: Source, cases: Iterable[Case], bound_s: float
) -> Iterator[tuple[Case, list[RankTrace]]]:
    """The traces come in the order of the cases; the next one begins as soon as any has ended.

    A case of world size 2 is the same program in two processes. bound_s: how long the second of
    them may take longer than the first.
    """
    window: collections.deque[_UnderWay] = collections.deque()
    ended: dict[Pool, list[RankTrace]] = {}
    cases = iter(cases)
    try:
        while True:
            for case in itertools.islice(cases, AT_ONCE - len(window) + len(ended)):
                pool = Pool(case.world_size, "alone", bound_s)
                window.append(_UnderWay(case, pool, pool.send(source, [case])))
            if not window:
                return
            _end_some([one for one in window if one.pool not in ended], ended, bound_s)
            while window and window[0].pool in ended:
                case, pool, _ = window.popleft()
                yield case, ended.pop(pool)
    finally:
        _kill(window)


def _end_some(
    under_way: list[_UnderWay], ended: dict[Pool, list[RankTrace]], bound_s: float
) -> None:
    """Wait for whoever ends first; the bound is that of the oldest."""
    watched: dict[Any, Pool] = {end: one.pool for one in under_way for end in _ends(one.pool)}
    ready = {watched[end] for end in wait(list(watched), BOUND_S)} or {under_way[0].pool}
    for case, pool, ticket in under_way:
        if pool in ready:
            ended[pool] = pool.receive(ticket, ENDED_S if case.world_size == 1 else bound_s)[0]
            _kill([_UnderWay(case, pool, ticket)])


def _ends(pool: Pool) -> list[Any]:
    """What becomes ready once a process of the pool has answered, or ended."""
    return [*pool.connections, *(process.sentinel for process in pool.processes)]


def _kill(under_way: Iterable[_UnderWay]) -> None:
    for one in under_way:
        if not one.pool.broken:
            one.pool.kill()
