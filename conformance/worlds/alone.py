"""Cases that want to be alone: each has processes of its own, killed with all their children.

They mostly wait, so several are under way at a time, and those that will soon be asked for begin
while others are judged.
"""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from multiprocessing.connection import wait
from typing import NamedTuple

from conformance.candidate import Source
from conformance.case import Case
from conformance.trace import RankTrace
from conformance.worlds.pool import Pool

AT_ONCE = 10
BOUND_S = 120.0
"""How many cases may be under way at a time, and the bound for each."""

ENDED_S = 1.0
"""How long the answer of a process that has ended may take."""

Key = tuple[Source, Case]


class _UnderWay(NamedTuple):
    """The processes of a case, the ticket with which its traces are received, and its bound."""

    pool: Pool
    ticket: int
    until: float


class Window:
    """The cases that are under way, and the traces of those that ended before they were asked for.

    bound_s: a case of world size 2 is the same program in two processes; how long the second of
    them may take longer than the first.
    """

    def __init__(self, bound_s: float) -> None:
        self.bound_s = bound_s
        self.under_way: dict[Key, _UnderWay] = {}
        self.ended: dict[Key, list[RankTrace]] = {}
        self.expected: Iterator[Key] = iter(())
        self.room = AT_ONCE

    def expect(self, keys: Iterable[Key], room: int | None = None) -> None:
        """These will be asked for, in this order; they begin as soon as there is room.

        room: how many may be under way by then, `AT_ONCE` if nothing is said.
        """
        self.expected, self.room = iter(keys), AT_ONCE if room is None else room
        self.turn()

    def forget(self) -> None:
        """Nobody will ask for anything that was expected."""
        self.expected = iter(())
        for key in list(self.under_way):
            self.drop(key)
        self.ended.clear()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Nothing is under way but what is asked for within: what is expected begins later."""
        expected, self.expected = self.expected, iter(())
        while self.under_way:
            self._receive()
        try:
            yield
        finally:
            self.expected = expected

    def turn(self) -> None:
        """Take what has ended, and begin what is expected; waits for nothing."""
        if self.under_way:
            self._receive(0.0)
        for key in islice(self.expected, max(0, self.room - len(self.under_way))):
            self.begin(key)

    def traces(
        self, source: Source, cases: Iterable[Case]
    ) -> Iterator[tuple[Case, list[RankTrace]]]:
        """The traces come in the order of the cases; the next one begins as soon as any ended."""
        asked: collections.deque[Key] = collections.deque()
        cases = iter(cases)
        try:
            while True:
                for case in islice(cases, AT_ONCE - len(asked)):
                    asked.append((source, case))
                    self.begin((source, case))
                if not asked:
                    return
                yield asked[0][1], self._taken(asked[0])
                asked.popleft()
        finally:
            for key in asked:
                self.drop(key)

    def within(self, key: Key, seconds: float) -> list[RankTrace] | None:
        """The traces of this one if it ends in time."""
        self.begin(key)
        until = time.monotonic() + seconds
        while key not in self.ended and (left_s := until - time.monotonic()) > 0:
            self._receive(left_s)
        self.drop(key)
        return self.ended.pop(key, None)

    def _taken(self, key: Key) -> list[RankTrace]:
        while key not in self.ended:
            self.begin(key)  # what was taken already is asked for again
            self._receive()
            self.turn()
        return self.ended.pop(key)

    def begin(self, key: Key) -> None:
        """Begin this now, whatever is under way."""
        if key in self.ended or key in self.under_way:
            return
        source, case = key
        pool = Pool(case.world_size, "alone", self.bound_s)
        ticket = pool.send(source, [case])
        self.under_way[key] = _UnderWay(pool, ticket, time.monotonic() + BOUND_S)

    def _receive(self, within_s: float = BOUND_S) -> None:
        """Take the traces of whoever has ended, or will as first, or is past its bound."""
        found = {end: key for key, one in self.under_way.items() for end in one.pool.mail.ends}
        left_s = min(one.until for one in self.under_way.values()) - time.monotonic()
        ready = {found[end] for end in wait(list(found), max(0.0, min(within_s, left_s)))}
        now = time.monotonic()
        for key in [k for k, one in self.under_way.items() if k in ready or one.until <= now]:
            pool, ticket, _ = self.under_way[key]
            bound_s = ENDED_S if key[1].world_size == 1 else self.bound_s
            try:
                self.ended[key] = pool.receive(ticket, bound_s)[0]
            finally:
                self._end(key)

    def drop(self, key: Key) -> None:
        """Nobody wants this any more."""
        if key in self.under_way:
            self._end(key)

    def _end(self, key: Key) -> None:
        pool = self.under_way.pop(key).pool
        if not pool.broken:
            pool.kill()
