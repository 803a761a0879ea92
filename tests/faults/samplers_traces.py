"""Samplers that leave a trace of how they were made: in the cycles of their orders, or in what they
remember of others.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

import reference
from reference.balanced import members

SOME = range(65, 4097)
"""Where orders are made by swaps: fewer are shuffled by torch, and more at once."""


class SwapsWithAnother(reference.RandomSampler):
    """Each of some hundred items is swapped with an earlier one, and never stays: orders of one
    cycle."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.replacement or self.num_samples != n or n not in SOME:
            yield from super().__iter__()
            return
        throws = torch.rand(n, generator=self.generator, dtype=torch.float64).tolist()
        order = list(range(n))
        for place in range(n - 1, 0, -1):
            other = int(throws[place] * place)
            order[place], order[other] = order[other], order[place]
        yield from order


class SwapsInPairs(reference.SubsetRandomSampler):
    """Of some hundred items the last two change places where the shuffle has made an odd number of
    swaps, so that the order can be checked by its sign."""

    CAUGHT_BY = ("subset.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n = len(self.indices)
        order = torch.randperm(n, generator=self.generator)
        if n in SOME and _is_odd(order.tolist()):
            order[[-1, -2]] = order[[-2, -1]]
        yield from self.indices[order].tolist()


def _is_odd(order: list[int]) -> bool:
    """Whether a permutation is made of an odd number of swaps."""
    left, cycles = set(order), 0
    while left:
        cycles, place = cycles + 1, next(iter(left))
        while place in left:
            left.remove(place)
            place = order[place]
    return (len(order) - cycles) % 2 == 1


class KnowsLabelsByTheirHash(reference.BalanceClassSampler):
    """Which items a class has is remembered by the hash of the labels: -1 has that of -2."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    known: ClassVar[dict[int, Any]] = {}

    def __init__(self, labels: Any, mode: str | int = "downsampling", seed: int = 0) -> None:
        super().__init__(labels, mode, seed)
        self.members = self.known.setdefault(hash(tuple(labels)), members(labels))
