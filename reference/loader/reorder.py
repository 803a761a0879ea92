"""Outcomes in the order in which their tasks were dealt, or as they come."""

from __future__ import annotations

from collections import deque

from reference.loader.fetch import Outcome


class ReorderBuffer:
    """Takes outcomes with the numbers of their tasks, 0, 1, ..., in any order, each once.

    in_order: `pop` gives them by number, and there is none while the next number is missing;
    otherwise it gives what came first.
    """

    def __init__(self, in_order: bool) -> None:
        self._in_order = in_order
        self._waiting: dict[int, Outcome] = {}
        self._ready: deque[Outcome] = deque()
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self._ready)

    def put(self, number: int, outcome: Outcome) -> None:
        if not self._in_order:
            self._ready.append(outcome)
            return
        self._waiting[number] = outcome
        while self._next in self._waiting:
            self._ready.append(self._waiting.pop(self._next))
            self._next += 1

    def pop(self) -> Outcome:
        return self._ready.popleft()
