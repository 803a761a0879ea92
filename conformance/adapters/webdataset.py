"""`webdataset`: a pipeline of shards, divided by `split_by_node`."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import webdataset
from torch.utils.data import IterableDataset

from conformance.adapter import Adapter


class Shards(IterableDataset):  # type: ignore[type-arg]
    def __init__(self, dataset: Sized) -> None:
        self.dataset = dataset

    def __iter__(self) -> Iterator[dict[str, str]]:
        return ({"url": f"{i}.tar"} for i in range(len(self.dataset)))


def pipeline(dataset: Sized) -> Any:
    return webdataset.DataPipeline(Shards(dataset), webdataset.split_by_node)


def number(shard: dict[str, str]) -> int:
    return int(shard["url"].removesuffix(".tar"))


split_by_node = Adapter("DistributedSampler", pipeline, of=webdataset.split_by_node, indices=number)
