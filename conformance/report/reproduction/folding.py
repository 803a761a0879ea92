"""Statements that are repeated become a loop, as a person would write it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.report.reproduction.draft import indented

Chunk = list[str]
"""The statements of one operation."""

PERIOD_MAX = 8
NUMBER = re.compile(r"^(limit\(.*?, )(\d+)")
"""The one number by which turns of a loop may differ: how much of a limit is left."""


def folded(chunks: list[Chunk]) -> list[str]:
    """All statements, those of repeated operations as a loop."""
    lines, place = list[str](), 0
    while place < len(chunks):
        period, count = best_period(chunks[place:])
        if count > 1:
            lines += _loop(chunks[place : place + period * count], period)
        else:
            lines += chunks[place]
        place += period * count
    return lines


def best_period(chunks: list[Chunk]) -> tuple[int, int]:
    """How many operations at the beginning are repeated, and how often: what saves most lines."""
    found = [(period, turns(chunks, period)) for period in range(1, PERIOD_MAX + 1)]
    return max(found, key=lambda pair: _saved(chunks, *pair))


def _saved(chunks: list[Chunk], period: int, count: int) -> int:
    whole = sum(map(len, chunks[: period * count]))
    loop = 1 + sum(map(len, chunks[:period]))
    return whole - loop if count > 1 else 0


def turns(chunks: list[Chunk], period: int) -> int:
    """How often the first `period` operations come in a row, but for a number."""
    first, count = _shape(chunks[:period]), 1
    while len(first) == period and _shape(chunks[count * period : (count + 1) * period]) == first:
        count += 1
    return count


def _shape(chunks: list[Chunk]) -> list[Chunk]:
    return [[NUMBER.sub(r"\1#", line) for line in chunk] for chunk in chunks]


def _loop(chunks: list[Chunk], period: int) -> list[str]:
    """A loop over the numbers that differ, or so many times."""
    numbers = list(_numbers(chunks))
    body = [line for chunk in chunks[:period] for line in chunk]
    count = len(chunks) // period
    if len(set(numbers)) <= 1 or len(numbers) != count:
        same = len(set(numbers)) <= 1
        head = f"for _ in range({count}):"
        return [head, *indented(body)] if same else [x for chunk in chunks for x in chunk]
    head = f"for spare in {tuple(numbers)}:"
    return [head, *indented(NUMBER.sub(r"\1spare", line) for line in body)]


def _numbers(chunks: list[Chunk]) -> Iterator[int]:
    for chunk in chunks:
        for line in chunk:
            match = NUMBER.match(line)
            if match:
                yield int(match.group(2))
