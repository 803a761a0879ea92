"""The iterable-style datasets of a loader under examination."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from conformance.datasets import Stream
from conformance.worlds.gate import Gate
from conformance.worlds.workload import Info, Source, mishap


class _Elements:
    """One pass over a stream in one process; reports whoever asks after the end."""

    def __init__(self, stream: Any, share: list[int]) -> None:
        self.stream, self.elements, self.ended = stream, iter(share), False
        gated = stream.recipe.gated or 1
        self.stops = {*share[gated - 1 :: gated], *share[-1:]}

    def __iter__(self) -> _Elements:
        return self

    def __next__(self) -> Any:
        if self.ended:
            self.stream.gate.report("ask", 0, self.stream.worker)
            if not self.stream.recipe.again:
                raise StopIteration
            self.elements, self.ended = iter(self.stream._own()), False
        for element in self.elements:
            return self.stream.item(element, element in self.stops)
        self.ended = True
        self.stream.gate.report("end", 0, self.stream.worker)
        raise StopIteration


class _Streaming(Source):
    """`Stream`, but for its base class, which the candidate names."""

    recipe: Stream
    rank, world_size = 0, 1

    def __iter__(self) -> Iterator[Any]:
        self.gate.report("iter", 0, self.worker)
        self.gate.heed(self.worker)
        mishap(self.recipe.faults, "iter", max(0, self.worker), self.gate)
        if self.recipe.late:
            return self._later()
        self.elements = _Elements(self, self._own())
        return self.elements if not self.recipe.itself else cast("Iterator[Any]", self)

    def _later(self) -> Iterator[Any]:
        yield from _Elements(self, self._own())

    def _own(self) -> list[int]:
        """The elements that are this worker's to give."""
        info = self.info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        if self.recipe.shard == "told":
            return list(range(self.n)) if worker == self.mark % workers else []
        recipe = replace(self.recipe, n=self.n)
        return recipe.share(worker, workers, self.rank, self.world_size)


@functools.cache
def _stream_class(base: type, sized: bool, itself: bool) -> type:
    """The class of streams for a candidate's base class; pickled by naming that base."""
    kind = base, sized, itself
    methods: dict[str, Any] = {"__reduce__": lambda self: (_remake, (*kind, vars(self)))}
    if sized:
        methods["__len__"] = lambda self: _claimed(self.recipe.claims, self.n)
        methods["__getitem__"] = lambda self, i: ("looked at", i)
    if itself:
        methods["__next__"] = lambda self: next(self.elements)
    return type("StreamData", (_Streaming, base), methods)


def _claimed(claims: int | None, n: int) -> int:
    return n if claims is None else claims


def _remake(base: type, sized: bool, itself: bool, state: dict[str, Any]) -> Any:
    found: Any = object.__new__(_stream_class(base, sized, itself))
    vars(found).update(state)
    return found


def stream(recipe: Stream, gate: Gate, info: Info, base: type, rank: int, world_size: int) -> Any:
    """The dataset of a `Stream`, an instance of the candidate's `IterableDataset`."""
    found: Any = _stream_class(base, recipe.sized, recipe.itself)(recipe, gate, info)
    found.rank, found.world_size = rank, world_size
    return found
