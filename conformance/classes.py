"""The classes of cases that matter: how far the examples of a property reach.

A counterexample may live only where n < W, only where n % W is W - 1, only from the third epoch on,
only past 2^16 indices. A property that never visited such a class has not looked there, and its
"holds" is worth less than it seems; so each class is counted, and a test fails where one that a
scenario can reach is never reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Mapped, Order, Stream
from conformance.operations import Drain, Epochs, Iterate, Passes, SetEpoch
from conformance.recipes import Data, Probe, Role, Sparse, Values

MAGNITUDES = (1, 10, 100, 1000, 10_000, 1 << 16)
"""The least size of each order of magnitude."""

SHOWN = ("n < W", "n = 0", "W = 1")
"""The classes that the terminal shows; the result holds them all."""


def length(case: Case) -> int:
    """n: the length of the dataset or sequence that the case is about, 0 if it has none."""
    return _length(dict(case.arguments))


def _length(arguments: dict[str, Any]) -> int:
    for value in arguments.values():
        if isinstance(value, (Data, Sparse, Mapped, Stream, Order)):
            return value.n
        if isinstance(value, Values):
            return len(value.items)
        if isinstance(value, Probe):
            return value.count
        if isinstance(value, Role):
            return _length(dict(value.arguments))
    return 0


def classes(case: Case) -> tuple[str, ...]:
    """The classes that a case belongs to: size, world size, remainder, passes, workers."""
    return tuple(_classes(case, length(case), case.world_size))


def _classes(case: Case, n: int, width: int) -> Iterator[str]:
    yield f"W = {width}" if width < 5 else "W >= 5"
    if n == 0:
        yield "n = 0"
    else:
        least = max(size for size in MAGNITUDES if size <= n)
        yield f"n >= {least}"
    if n < width:
        yield "n < W"
    elif width > 1:
        rest = {0: "0", 1: "1", width - 1: "W-1"}
        yield f"n % W = {rest.get(n % width, 'other')}"
    yield from _plan(case)
    workers = dict(case.arguments).get("num_workers")
    if isinstance(workers, int):
        yield f"workers = {workers}"


def _plan(case: Case) -> Iterator[str]:
    passes = sum(_passes(step) for step in case.plan)
    yield "passes >= 3" if passes > 2 else f"passes = {passes}"
    epochs = [step.epoch for step in case.plan if isinstance(step, SetEpoch)]
    if any(type(epoch) is int and epoch > 2 for epoch in epochs):
        yield "epoch > 2"


def _passes(step: Any) -> int:
    if isinstance(step, (Passes, Epochs)):
        return step.count
    return int(isinstance(step, (Iterate, Drain)))
