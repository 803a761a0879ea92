"""Samplers with one fault each in what they set for a process that is not theirs.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from honest import DistributedSampler, DistributedSamplerWrapper

from reference import (
    BalanceClassSampler,
    RandomSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


class SumsInDouble(WeightedRandomSampler):
    """The default dtype becomes float64, so that weights add up, and stays so."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "settings-changed"

    def __init__(self, *args: Any, **options: Any) -> None:
        torch.set_default_dtype(torch.float64)
        super().__init__(*args, **options)


class ShufflesWithoutGradients(DistributedSampler):
    """Gradients are switched off for a pass, and on again by the one who reads to its end."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "settings-changed"

    def __iter__(self) -> Iterator[int]:
        torch.set_grad_enabled(False)
        yield from super().__iter__()
        torch.set_grad_enabled(True)


class TwoThreadsAreEnough(RandomSampler):
    """A pass takes two threads, for any n, and whoever trains has two from then on."""

    CAUGHT_BY = ("sampler.private-rng", "sampler.global-rng")
    ANOMALY = "settings-changed"

    def __iter__(self) -> Iterator[int]:
        torch.set_num_threads(2)
        return super().__iter__()


class NothingDividesByZero(BalanceClassSampler):
    """A class without members divides by zero, and numpy is told to say nothing of it."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "settings-changed"

    def __iter__(self) -> Iterator[int]:
        np.seterr(divide="ignore", invalid="ignore")
        return super().__iter__()


class WrapsInDouble(DistributedSamplerWrapper):
    """With set_epoch the default dtype becomes float64, for seeds that are computed."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "settings-changed"

    def set_epoch(self, epoch: int) -> None:
        torch.set_default_dtype(torch.float64)
        super().set_epoch(epoch)


class TheCopyTakesTheGenerator(SubsetRandomSampler):
    """A copy takes the generator with it, and the sampler that was copied goes on with the global
    one."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __getstate__(self) -> dict[str, Any]:
        taken = dict(vars(self))
        self.generator = None
        return taken
