"""accelerate 1.15: shards of batch samplers and of iterable datasets, with batches that the suite
can lay end to end: each rank gets one index a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accelerate.data_loader import (
    BatchSamplerShard,
    IterableDatasetShard,
    SeedableRandomSampler,
    SkipBatchSampler,
)
from torch.utils.data import BatchSampler

from conformance.adapter import Adapter

SHARD = "docstring of accelerate.data_loader.BatchSamplerShard"
UNEVEN = {
    "pads": "even_batches: Whether or not to loop back at the beginning of the sampler when the "
    f"number of samples is not a round multiple ({SHARD})"
}
ADVANCES = {
    "epochs": "it will rely on its initial seed as well as the current iteration it is on (stored "
    "in `self.epoch`) (docstring of accelerate.data_loader.SeedableRandomSampler)"
}


def single(batch: Any) -> Any:
    (index,) = batch
    return index


def whole(sampler: Any, num_replicas: int, rank: int, drop_last: bool = False) -> Any:
    return BatchSamplerShard(BatchSampler(sampler, 1, drop_last), num_replicas, rank)


def split(sampler: Any, num_replicas: int, rank: int, drop_last: bool = False) -> Any:
    batches = BatchSampler(sampler, num_replicas, drop_last)
    return BatchSamplerShard(batches, num_replicas, rank, split_batches=True)


def whole_uneven(sampler: Any, num_replicas: int, rank: int, drop_last: bool = False) -> Any:
    batches = BatchSampler(sampler, 1, drop_last)
    return BatchSamplerShard(batches, num_replicas, rank, even_batches=False)


def split_uneven(sampler: Any, num_replicas: int, rank: int, drop_last: bool = False) -> Any:
    batches = BatchSampler(sampler, num_replicas, drop_last)
    return BatchSamplerShard(batches, num_replicas, rank, split_batches=True, even_batches=False)


def stream(sampler: Iterable[Any], num_replicas: int, rank: int, drop_last: bool = False) -> Any:
    return IterableDatasetShard(sampler, 1, drop_last, num_replicas, rank)


def stream_split(
    sampler: Iterable[Any], num_replicas: int, rank: int, drop_last: bool = False
) -> Any:
    return IterableDatasetShard(sampler, num_replicas, drop_last, num_replicas, rank, True)


def skip(sampler: Any, batch_size: int, drop_last: bool) -> Any:
    return SkipBatchSampler(BatchSampler(sampler, batch_size, drop_last))


WRAPPER = "DistributedSamplerWrapper"
Shard = Adapter(WRAPPER, whole, of=BatchSamplerShard, indices=single)
Split = Adapter(WRAPPER, split, of=BatchSamplerShard, indices=single)
ShardUneven = Adapter(
    WRAPPER, whole_uneven, BatchSamplerShard, None, single, {"pads": "none"}, UNEVEN
)
SplitUneven = Adapter(
    WRAPPER, split_uneven, BatchSamplerShard, None, single, {"pads": "none"}, UNEVEN
)
Stream = Adapter(WRAPPER, stream, of=IterableDatasetShard)
StreamSplit = Adapter(WRAPPER, stream_split, of=IterableDatasetShard)
Seedable = Adapter(
    "RandomSampler", SeedableRandomSampler, policies={"epochs": "advance"}, documented=ADVANCES
)
Skip = Adapter("BatchSampler", skip, of=SkipBatchSampler)
