"""The same samplers with torch's own order, bit for bit, for code that relies on it."""

from typing import Any

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

    def _pass_seed(self) -> int:
        return (self.seed + self.epoch) % 2**64


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
