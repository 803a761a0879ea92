"""SpeechBrain's samplers (`pip install speechbrain`), as far as one rank has them.

A seed and `set_epoch` decide their order, and no rank: they are distributed samplers for a world of
one, to be examined with `--backend simulated`. SpeechBrain divides them by its
`DistributedSamplerWrapper`, which needs no adapter.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from speechbrain.dataio import sampler
from speechbrain.dataio.dataset import DynamicItemDataset

from conformance.adapter import Adapter


def shuffled(dataset: Sized, seed: int = 0) -> Any:
    return sampler.ReproducibleRandomSampler(dataset, seed)


def evenly(dataset: Sized, seed: int = 0) -> Any:
    """With equal weights and no replacement it is a shuffle."""
    n = len(dataset)
    return sampler.ReproducibleWeightedRandomSampler([1.0] * n, n, False, seed)


def weighted(weights: Any, num_samples: int, replacement: bool = True) -> Any:
    return Epochs(sampler.ReproducibleWeightedRandomSampler(weights, num_samples, replacement))


class Epochs:
    """Sets the epoch before each pass, as the documentation asks."""

    def __init__(self, made: Any) -> None:
        self.made, self.epoch = made, -1

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Any:
        self.epoch += 1
        self.made.set_epoch(self.epoch)
        yield from self.made


def balancing(dataset: Sized, seed: int = 0) -> Any:
    """With a class for each item and no replacement it is a shuffle."""
    data = DynamicItemDataset({str(i): {"key": i} for i in range(len(dataset))})
    return sampler.BalancingDataSampler(data, "key", replacement=False, seed=seed)


def dynamic(dataset: Sized, shuffle: bool = True, seed: int = 0) -> Any:
    """Items of one length, none of which fits into a batch beside another."""
    ordering = "random" if shuffle else "ascending"
    return sampler.DynamicBatchSampler(
        dataset, max_batch_length=1, num_buckets=1, shuffle=shuffle, batch_ordering=ordering,
        lengths_list=[1] * len(dataset), seed=seed,
    )  # fmt: skip


def concatenated(dataset: Sized, seed: int = 0) -> Any:
    return sampler.ConcatDatasetBatchSampler([shuffled(dataset, seed)], [1])


def only(batch: Sequence[int]) -> int:
    (index,) = batch
    return index


ROLE, ONE = "DistributedSampler", {"ranks": "one"}

ReproducibleRandomSampler = Adapter(
    ROLE, shuffled, of=sampler.ReproducibleRandomSampler, policies=ONE
)
ReproducibleWeightedRandomSampler = Adapter(
    ROLE, evenly, of=sampler.ReproducibleWeightedRandomSampler, policies=ONE
)
ReproducibleWeights = Adapter(
    "WeightedRandomSampler", weighted, of=sampler.ReproducibleWeightedRandomSampler
)
BalancingDataSampler = Adapter(ROLE, balancing, of=sampler.BalancingDataSampler, policies=ONE)
DynamicBatchSampler = Adapter(
    ROLE, dynamic, of=sampler.DynamicBatchSampler, indices=only, policies=ONE
)
ConcatDatasetBatchSampler = Adapter(
    ROLE, concatenated, of=sampler.ConcatDatasetBatchSampler, indices=only, policies=ONE
)
