"""Ultralytics 8.4: blocks of whole batches, here of one sample each, and no padding."""

from __future__ import annotations

from ultralytics.data.build import ContiguousDistributedSampler

from conformance.adapter import Adapter

WHERE = "(docstring of ultralytics.data.build.ContiguousDistributedSampler)"

Contiguous = Adapter(
    "DistributedSampler",
    ContiguousDistributedSampler,
    policies={"pads": "none", "divides": "contiguous"},
    documented={
        "pads": "The sampler handles uneven batch counts by distributing remainder batches to the "
        f"first few ranks, ensuring all samples are covered exactly once across all GPUs. {WHERE}",
        "divides": "this sampler gives each GPU contiguous batches of the dataset (GPU 0 gets "
        f"batches [0,1,2,...], GPU 1 gets batches [k,k+1,...], etc.). {WHERE}",
    },
)
