"""The same samplers with torch's own order, bit for bit, for code that relies on it."""

from typing import Any

import torch

from reference import (
    BalanceClassSampler,
    BatchSampler,
    DatasetFromSampler,
    DistributedSamplerWrapper,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedBalanceClassSampler,
    WeightedRandomSampler,
    __version__,
    distributed,
)

CONFORMANCE: dict[str, Any] = {"policies": {"pads": "wrap", "divides": "interleaved"}}


class DistributedSampler(distributed.DistributedSampler):
    """`reference.DistributedSampler` with torch's order: its generator is seeded `seed + epoch`.

    The price is that (seed 0, epoch 1) and (seed 1, epoch 0) are one and the same order.
    """

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return super()._order(n)
        generator = torch.Generator().manual_seed((self.seed + self.epoch) % 2**64)
        return torch.randperm(n, generator=generator, device="cpu")


__all__ = [
    "BalanceClassSampler",
    "BatchSampler",
    "DatasetFromSampler",
    "DistributedSampler",
    "DistributedSamplerWrapper",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedBalanceClassSampler",
    "WeightedRandomSampler",
    "__version__",
]
