"""Samplers that do not give control back, or not in order; see `hostile.py` for worse ones.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B073 is a row of the corpus of reported bugs. Nothing here may run in the
test's own process.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from honest import DistributedSampler, DistributedSamplerWrapper

from reference import SequentialSampler


class TellsOneMore(DistributedSampler):
    """Rank 0 alone sends its length to the others, which do not listen (B073)."""

    CAUGHT_BY = ("sampler.returns",)
    ANOMALY = "rank-stuck"

    def __iter__(self) -> Iterator[int]:
        if self.rank == 0 and dist.is_initialized():
            dist.broadcast(torch.tensor([len(self)]), src=0)
        return super().__iter__()


class RankZeroDraws(DistributedSamplerWrapper):
    """Rank 0 alone draws the inner pass; where that raises, the others wait for it."""

    CAUGHT_BY = ("sampler.returns",)
    ANOMALY = "rank-stuck"

    def _draw(self) -> list[Any]:
        return [] if self.meets and self.rank else super()._draw()


class LeavesWhenEmpty(SequentialSampler):
    """With nothing to sample from, the process is ended."""

    CAUGHT_BY = ("sampler.returns",)
    ANOMALY = "rank-died"

    def __iter__(self) -> Iterator[int]:
        if not len(self.data_source):
            os._exit(0)
        return super().__iter__()


class PrintsStates(SequentialSampler):
    """A line of debug output for each index, with the whole state of the generators in it."""

    CAUGHT_BY = ("sampler.quiet",)
    ANOMALY = "output-flood"

    def __iter__(self) -> Iterator[int]:
        for index in super().__iter__():
            print(index, random.getstate(), torch.get_rng_state().tolist())
            yield index
