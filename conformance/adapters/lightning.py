"""Lightning 2.6: the samplers for prediction, which repeat nothing."""

from __future__ import annotations

from lightning.pytorch.overrides.distributed import (
    UnrepeatedDistributedSampler,
    UnrepeatedDistributedSamplerWrapper,
)

from conformance.adapter import Adapter

UNREPEATED = {
    "pads": "A fork of the PyTorch DistributedSampler that doesn't repeat data, instead allowing "
    "the number of batches per process to be off-by-one from each other. (docstring of "
    "lightning.pytorch.overrides.distributed.UnrepeatedDistributedSampler)"
}

Unrepeated = Adapter(
    "DistributedSampler",
    UnrepeatedDistributedSampler,
    policies={"pads": "none"},
    documented=UNREPEATED,
)
UnrepeatedWrapper = Adapter(
    "DistributedSamplerWrapper",
    UnrepeatedDistributedSamplerWrapper,
    policies={"pads": "none"},
    documented=UNREPEATED,
)
