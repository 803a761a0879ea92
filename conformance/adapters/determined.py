"""determined 0.38: every W-th item of an inner sampler, or batch of an inner batch sampler."""

from __future__ import annotations

from determined.pytorch import samplers

from conformance.adapter import Adapter

DistributedBatchSampler = Adapter(
    "DistributedSamplerWrapper", samplers.DistributedBatchSampler,
    of=samplers.DistributedBatchSampler,
    policies={"pads": "none"},
    documented={
        "pads": 'the docstring of DistributedBatchSampler: "if the length of the BatchSampler is '
        "not divisible by the number of replicas the length of the resulting "
        'DistributedBatchSampler will differ based on the rank."',
    },
)  # fmt: skip
