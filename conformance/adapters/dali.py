"""DALI, of the package `nvidia-dali`: a file reader on the CPU, read by its iterator for torch."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import nvidia.dali
from nvidia.dali import fn
from nvidia.dali.plugin.pytorch import DALIGenericIterator as Iterator

from conformance.adapter import Adapter


def read(
    dataset: Sized, shard_id: int, num_shards: int, shuffle: bool = False, seed: int = 0
) -> Any:
    return batches(len(dataset), shard_id, num_shards, shuffle, seed, pad_last_batch=False)


def read_padded(
    dataset: Sized, shard_id: int, num_shards: int, shuffle: bool = False, seed: int = 0
) -> Any:
    return batches(len(dataset), shard_id, num_shards, shuffle, seed, pad_last_batch=True)


def batches(n: int, rank: int, ranks: int, shuffle: bool, seed: int, pad_last_batch: bool) -> Any:
    with nvidia.dali.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        _, label = fn.readers.file(
            name="files", files=[nvidia.dali.__file__] * n, labels=list(range(n)),
            shard_id=rank, num_shards=ranks, random_shuffle=shuffle, seed=seed,
            pad_last_batch=pad_last_batch,
        )  # fmt: skip
        pipeline.set_outputs(label)
    return Iterator(pipeline, ["label"], reader_name="files")


def number(batch: Any) -> int:
    return int(batch[0]["label"])


ADVANCES = (
    "the documentation of the reader's argument stick_to_shard: \"Determines whether the reader "
    'should stick to a data shard instead of going through the entire dataset."'
)

DALIGenericIterator = Adapter(
    "DistributedSampler", read, of=Iterator, indices=number,
    policies={"epochs": "advance", "largest": 500}, documented={"epochs": ADVANCES},
)  # fmt: skip
PaddedIterator = Adapter(
    "DistributedSampler", read_padded, of=Iterator, indices=number,
    policies={"epochs": "advance", "pads": "repeat", "largest": 500},
    documented={
        "epochs": ADVANCES,
        "pads": 'the documentation of the reader\'s argument pad_last_batch: "If set to True, pads '
        'the shard by repeating the last sample."',
    },
)  # fmt: skip
