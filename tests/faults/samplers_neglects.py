"""Samplers that neglect what they are given: what is asked of it, and what tells it from another.

Each class breaks one rule of the chapters on samplers. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

import reference


class WalksTheItems(reference.SequentialSampler):
    """Indices are counted along with the items, so what can be asked for any index has no end."""

    CAUGHT_BY = ("sequential.order",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        for index, _ in enumerate(self.data_source):
            yield index


class ClassesByPrint(reference.BalanceClassSampler):
    """Who has which label is remembered by what numpy prints, which of many is only the ends."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"
    _known: ClassVar[dict[Any, list[list[int]]]] = {}

    def __init__(self, labels: Sequence[Any], mode: Any = "downsampling", seed: int = 0) -> None:
        super().__init__(labels, mode, seed)
        printed = str(np.fromiter((one for one in labels), dtype=object))
        self.members = self._known.setdefault((len(labels), printed), self.members)
