"""`datasets`: both kinds of a dataset, split by rank."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import datasets
from datasets.distributed import split_dataset_by_node as split

from conformance.adapter import Adapter


def share_of_table(dataset: Sized, rank: int, world_size: int) -> Any:
    table = datasets.Dataset.from_dict({"i": range(len(dataset))})
    return split(table, rank=rank, world_size=world_size)["i"]


def share_of_stream(
    dataset: Sized, rank: int, world_size: int, shuffle: bool = True, seed: int = 0
) -> Any:
    stream = datasets.IterableDataset.from_generator(rows, gen_kwargs={"dataset": dataset})
    if shuffle:
        stream = stream.shuffle(seed=seed, buffer_size=1 << 20)
    return split(stream, rank=rank, world_size=world_size)


def rows(dataset: Sized) -> Iterator[dict[str, int]]:
    for i in range(len(dataset)):
        yield {"i": i}


def number(row: dict[str, int]) -> int:
    return row["i"]


def set_epoch(stream: Any, epoch: Any) -> None:
    stream.set_epoch(epoch)


SHARD = "the docstring of Dataset.shard, which split_dataset_by_node calls: "
SPLIT = "the docstring of split_dataset_by_node: "

split_dataset_by_node = Adapter(
    "DistributedSampler", share_of_table, of=split,
    policies={"divides": "contiguous", "pads": "none", "largest": 1000},
    documented={
        "divides": SPLIT + '"Each node is assigned a chunk of data, e.g. rank 0 is given the first '
        'chunk of the dataset."',
        "pads": SHARD + '"If `len(dataset) % n == l`, then the first `l` dataset each have length '
        '`(len(dataset) // n) + 1`, and the remaining dataset have length `(len(dataset) // n)`."',
    },
)  # fmt: skip

split_stream_by_node = Adapter(
    "DistributedSampler", share_of_stream, of=split, set_epoch=set_epoch, indices=number,
    policies={"divides": "interleaved", "pads": "none", "largest": 1000},
    documented=dict.fromkeys(("divides", "pads"), SPLIT +
        '"each node keeps 1 example out of `world_size`, skipping the other examples"'),
)  # fmt: skip
