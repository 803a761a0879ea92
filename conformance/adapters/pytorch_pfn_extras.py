"""pytorch-pfn-extras 0.9: a block for each rank, without padding."""

from __future__ import annotations

from pytorch_pfn_extras.distributed import DistributedValidationSampler as Theirs

from conformance.adapter import Adapter

DistributedValidationSampler = Adapter(
    "DistributedSampler", Theirs, of=Theirs,
    policies={"pads": "none"},
    documented={
        "pads": 'the docstring of DistributedValidationSampler: "This does not guarantee each '
        'worker to get the same number of samples, so for training do not use this sampler"',
    },
)  # fmt: skip
