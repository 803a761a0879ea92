"""Samplers that obey every clause of the specification, in the shortest code that does.

The names and constructors are those of torch.utils.data; the balanced samplers and the wrapper
follow Catalyst. Read `sampler.py` first, then `distributed.py`; every other file stands alone.
`drop_in.py` offers the same names with exactly the order of torch's `DistributedSampler`.
"""

from typing import Any

from reference.balanced import BalanceClassSampler, WeightedBalanceClassSampler
from reference.batch import BatchSampler
from reference.distributed import DistributedSampler
from reference.loader import (
    DataLoader,
    IterableDataset,
    WorkerDied,
    WorkerError,
    default_collate,
    get_worker_info,
)
from reference.random import RandomSampler
from reference.sampler import Sampler
from reference.sequential import SequentialSampler
from reference.subset import SubsetRandomSampler
from reference.weighted import WeightedRandomSampler
from reference.wrapper import DatasetFromSampler, DistributedSamplerWrapper

__version__ = "0.1.0"

CONFORMANCE: dict[str, Any] = {
    "policies": {"pads": "wrap", "divides": "interleaved"},
    "torch": "reference.drop_in",
}

__all__ = [
    "BalanceClassSampler",
    "BatchSampler",
    "DataLoader",
    "DatasetFromSampler",
    "DistributedSampler",
    "DistributedSamplerWrapper",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedBalanceClassSampler",
    "WeightedRandomSampler",
    "WorkerDied",
    "WorkerError",
    "default_collate",
    "get_worker_info",
]
