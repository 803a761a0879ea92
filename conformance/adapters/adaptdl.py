"""AdaptDL 0.2: its jobs tell each replica its rank in environment variables of their own."""

from __future__ import annotations

import os
from collections.abc import Sized

from adaptdl.torch.data import ElasticSampler as Theirs
from torch import distributed

from conformance.adapter import Adapter


def replica(dataset: Sized, shuffle: bool = True) -> Theirs:
    """Made as in a job: the environment is read at construction."""
    grouped = distributed.is_initialized()
    os.environ["ADAPTDL_NUM_REPLICAS"] = str(distributed.get_world_size() if grouped else 1)
    os.environ["ADAPTDL_REPLICA_RANK"] = str(distributed.get_rank() if grouped else 0)
    return Theirs(dataset, shuffle)


ElasticSampler = Adapter("DistributedSampler", replica, of=Theirs)
