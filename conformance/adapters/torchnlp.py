"""PyTorch-NLP's samplers (`pip install pytorch-nlp`).

The package imports `torch._six`, and its samplers call `Sampler.__init__` with an argument; neither
is there in torch 2.13. Here both are, so that the rest can be seen. `DeterministicSampler` knows no
rank: it is examined with `--backend simulated`.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Sized
from typing import Any

import torch
from torch.utils.data import BatchSampler, Sampler, SequentialSampler, SubsetRandomSampler

sys.modules["torch._six"] = torch._six = types.ModuleType("torch._six")  # type: ignore[attr-defined]
torch._six.__dict__.update(  # type: ignore[attr-defined]
    int_classes=int, string_classes=(str, bytes), container_abcs=__import__("collections").abc,
    inf=math.inf,
)  # fmt: skip
Sampler.__init__ = lambda self, data_source=None: None  # type: ignore[method-assign]

from torchnlp import samplers  # noqa: E402

from conformance.adapter import Adapter  # noqa: E402


def divided(sampler: Any, num_replicas: Any = None, rank: Any = None) -> Any:
    return samplers.DistributedSampler(sampler, num_replicas, rank)


def batches(sampler: Any, batch_size: int, drop_last: bool) -> Any:
    """Whole batches, for the only rank."""
    made = BatchSampler(sampler, batch_size, drop_last)
    return samplers.DistributedBatchSampler(made, num_replicas=1, rank=0)


def weighted(weights: Any, num_samples: int, replacement: bool = True) -> Any:
    """Items of one class."""
    return samplers.BalancedSampler(
        range(len(weights)), get_class=type, get_weight=weights.__getitem__,
        num_samples=num_samples, replacement=replacement,
    )  # fmt: skip


def in_order(data_source: Sized) -> Any:
    return samplers.SortedSampler(data_source)


def noisy(data_source: Sized) -> Any:
    """Where all keys are the same, noise alone is the order."""
    return samplers.NoisySortedSampler(data_source, sort_key=lambda item: 0)


def deterministic(dataset: Sized, seed: int = 0) -> Any:
    return samplers.DeterministicSampler(SubsetRandomSampler(range(len(dataset))), seed)


def endless(data_source: Sized) -> Any:
    return samplers.RepeatSampler(SequentialSampler(data_source))


DistributedSampler = Adapter("DistributedSamplerWrapper", divided, of=samplers.DistributedSampler)
DistributedBatchSampler = Adapter("BatchSampler", batches, of=samplers.DistributedBatchSampler)
BalancedSampler = Adapter("WeightedRandomSampler", weighted, of=samplers.BalancedSampler)
SortedSampler = Adapter("SequentialSampler", in_order, of=samplers.SortedSampler)
NoisySortedSampler = Adapter("RandomSampler", noisy, of=samplers.NoisySortedSampler)
DeterministicSampler = Adapter(
    "DistributedSampler", deterministic, of=samplers.DeterministicSampler,
    policies={"epochs": "advance", "ranks": "one"},
    documented={
        "epochs": '"Maintains a random state such that `sampler` returns the same output every '
        'process." (docstring of DeterministicSampler)',
    },
)  # fmt: skip
RepeatSampler = Adapter(
    "SequentialSampler", endless, of=samplers.RepeatSampler, policies={"ends": "never"},
    documented={"ends": '"Sampler that repeats forever." (docstring of RepeatSampler)'},
)  # fmt: skip
