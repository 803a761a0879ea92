"""Cases that travel together to the simulating process, in one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.candidate import Source
from conformance.case import Case
from conformance.classes import work
from conformance.worlds.pool import Pool

CHUNK = 12
"""Cases per message; while processes work on two chunks the last is judged."""

DRAWS = 50_000
"""A chunk that draws so many items is long enough: a violation in it is heard of soon."""


@dataclass(frozen=True)
class Sent:
    """A chunk of cases that is under way."""

    pool: Pool
    ticket: int
    source: Source
    cases: list[Case]


def chunks(cases: Iterable[Case], size: int) -> Iterator[list[Case]]:
    """The cases in their order, at most so many together."""
    chunk: list[Case] = []
    draws = 0
    for case in cases:
        chunk.append(case)
        draws += work(case)
        if len(chunk) == size or draws > DRAWS:
            yield chunk
            chunk, draws = [], 0
    if chunk:
        yield chunk
