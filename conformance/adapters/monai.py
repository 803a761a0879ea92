"""MONAI 1.6: shares of uneven length, and draws by weights."""

from __future__ import annotations

from typing import Any

from monai.data import DistributedSampler, DistributedWeightedRandomSampler

from conformance.adapter import Adapter


def uneven(
    dataset: Any,
    num_replicas: int | None = None,
    rank: int | None = None,
    shuffle: bool = True,
    seed: int = 0,
    drop_last: bool = False,
) -> Any:
    flags = {"shuffle": shuffle, "seed": seed, "drop_last": drop_last}
    return DistributedSampler(dataset, False, num_replicas, rank, **flags)


Uneven = Adapter(
    "DistributedSampler",
    uneven,
    of=DistributedSampler,
    policies={"pads": "none", "divides": "interleaved"},
    documented={
        "pads": "even_divisible: if False, different ranks can have different data length. for "
        "example, input data: [1, 2, 3, 4, 5], rank 0: [1, 3, 5], rank 1: [2, 4]. (docstring of "
        "monai.data.DistributedSampler)",
        "divides": "the same example",
    },
)

Weighted = Adapter(
    "DistributedSampler",
    DistributedWeightedRandomSampler,
    policies={"samples": "by-design"},
    documented={
        "samples": "Extend the `DistributedSampler` to support weighted sampling. Refer to "
        "`torch.utils.data.WeightedRandomSampler` (docstring of "
        "monai.data.DistributedWeightedRandomSampler)"
    },
)
