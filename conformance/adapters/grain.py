"""`grain`: its samplers, asked as its loader asks them."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import grain.python

from conformance.adapter import Adapter


class Read:
    """The record keys of a rank's places: every W-th from its own on."""

    def __init__(self, sampler: Any, shards: grain.python.ShardOptions) -> None:
        self.sampler, self.shards = sampler, shards

    @property
    def places(self) -> range:
        return range(self.shards.shard_index, len(self.sampler), self.shards.shard_count)

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[int]:
        return (self.sampler[place].record_key for place in self.places)


def index_sampler(
    dataset: Sized, shard_index: int, shard_count: int,
    shuffle: bool = False, seed: int = 0, drop_remainder: bool = False,
) -> Read:  # fmt: skip
    shards = grain.python.ShardOptions(shard_index, shard_count, drop_remainder)
    seeded = {"shuffle": True, "seed": seed} if shuffle else {}
    sampler = grain.python.IndexSampler(len(dataset), shards, num_epochs=1, **seeded)
    return Read(sampler, shards)


def sequential_sampler(
    dataset: Sized, shard_index: int, shard_count: int, drop_remainder: bool = False
) -> Read:
    shards = grain.python.ShardOptions(shard_index, shard_count, drop_remainder)
    return Read(grain.python.SequentialSampler(len(dataset), shards), shards)


def loader(
    dataset: Sized, shard_index: int, shard_count: int,
    shuffle: bool = False, seed: int = 0, drop_remainder: bool = False,
) -> Any:  # fmt: skip
    read = index_sampler(dataset, shard_index, shard_count, shuffle, seed, drop_remainder)
    return grain.python.DataLoader(
        data_source=grain.python.RangeDataSource(0, len(dataset), 1), sampler=read.sampler,
        read_options=grain.python.ReadOptions(num_threads=0),
    )  # fmt: skip


PADS = (
    'the docstring of ShardOptions: "If False will distribute the remainder N over the first N '
    'shards."'
)

INDEX = {
    "pads": PADS,
    "divides": 'the docstring of even_split: "This splits the interval [0, num_examples - 1] into '
    "`shard_count` intervals and returns the `shard_index`'s interval.\"",
}
CONTIGUOUS = {"pads": "none", "divides": "contiguous"}

IndexSampler = Adapter(
    "DistributedSampler", index_sampler, of=grain.python.IndexSampler,
    policies={**CONTIGUOUS, "largest": 1000}, documented=INDEX,
)  # fmt: skip

DataLoader = Adapter(
    "DistributedSampler", loader, of=grain.python.DataLoader,
    policies={**CONTIGUOUS, "largest": 1000}, documented=INDEX,
)  # fmt: skip

SequentialSampler = Adapter(
    "DistributedSampler", sequential_sampler, of=grain.python.SequentialSampler,
    policies={"pads": "none", "shuffles": "never", "largest": 1000},
    documented={
        "pads": PADS,
        "shuffles": 'the docstring of SequentialSampler: "Basic sampler implementation that '
        'provides records in order."',
    },
)  # fmt: skip
