"""Catalyst's samplers (`pip install catalyst`).

They call `Sampler.__init__` with an argument, which torch 2.13 refuses: examined as they are they
cannot be built. Here torch's `Sampler` takes that argument, so that the rest can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from catalyst.data import sampler
from torch.utils.data import Sampler

from conformance.adapter import Adapter

Sampler.__init__ = lambda self, data_source=None: None  # type: ignore[method-assign]


def balanced(labels: Any, mode: str | int = "downsampling") -> Any:
    return sampler.BalanceClassSampler(labels, mode)


def dynamic(labels: Any) -> Any:
    """As it is at the end of the training, where it is a balanced sampler."""
    return sampler.DynamicBalanceClassSampler(
        labels, exp_lambda=1e-9, start_epoch=1, ignore_warning=True
    )


def batches(data_source: Sized) -> Any:
    """As many batches as items: each class has at least two of four rows for an item."""
    labels = [row % 2 for row in range(4 * len(data_source))]
    return sampler.BatchBalanceClassSampler(labels, num_classes=2, num_samples=2)


def first(batch: Sequence[int]) -> int:
    return batch[0] // 4


def mini_epochs(data_source: Sized, num_samples: int | None = None) -> Any:
    n = len(data_source)
    length = n if num_samples is None else num_samples
    return sampler.MiniEpochSampler(n, length, shuffle="per_mini_epoch")


BalanceClassSampler = Adapter("BalanceClassSampler", balanced, of=sampler.BalanceClassSampler)

DynamicBalanceClassSampler = Adapter(
    "BalanceClassSampler", dynamic, of=sampler.DynamicBalanceClassSampler
)

BatchBalanceClassSampler = Adapter(
    "RandomSampler", batches, of=sampler.BatchBalanceClassSampler, indices=first,
    policies={"samples": "by-design"},
    documented={
        "samples": "\"Selection `num_samples` instances for each class in the batch\" "
        "(docstring of BatchBalanceClassSampler)",
    },
)  # fmt: skip

MiniEpochSampler = Adapter(
    "RandomSampler", mini_epochs, of=sampler.MiniEpochSampler,
    policies={"epochs": "advance"},
    documented={
        "epochs": '"The sampler will shuffle indices > "per_mini_epoch" - every mini epoch '
        '(every ``__iter__`` call)" (docstring of MiniEpochSampler, shuffle)',
    },
)  # fmt: skip
