"""AdaptDL 0.2: its jobs tell each replica its rank in environment variables of their own."""

from __future__ import annotations

import os
from collections.abc import Sized

from adaptdl.torch.data import ElasticSampler as Theirs

from conformance.adapter import Adapter


def replica(dataset: Sized, num_replicas: int, rank: int, shuffle: bool = True) -> Theirs:
    """Made as in a job: the environment is read at construction."""
    os.environ["ADAPTDL_NUM_REPLICAS"] = str(num_replicas)
    os.environ["ADAPTDL_REPLICA_RANK"] = str(rank)
    return Theirs(dataset, shuffle)


ElasticSampler = Adapter("DistributedSampler", replica, of=Theirs)
