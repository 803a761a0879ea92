"""Batch samplers of Sentence Transformers (`pip install sentence-transformers datasets`).

`DefaultBatchSampler` needs no adapter. The others shuffle by themselves. Where a seed and an epoch
decide, as in the package's trainer, they are distributed samplers for a world of one, to be
examined with `--backend simulated`; without a seed their generator decides, as in a random sampler.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import torch
from datasets import Dataset, disable_progress_bars
from sentence_transformers.base import sampler
from torch.utils.data import ConcatDataset, SubsetRandomSampler

from conformance.adapter import Adapter

disable_progress_bars()


def unrepeated(dataset: Sized, seed: int = 0) -> Any:
    rows = Dataset.from_dict({"text": [str(i) for i in range(len(dataset))]})
    return sampler.NoDuplicatesBatchSampler(rows, 1, False, generator=torch.Generator(), seed=seed)


def grouped(data_source: Sized, generator: Any = None) -> Any:
    """As many batches as items: of four rows for an item two have the one label."""
    rows = Dataset.from_dict({"label": [row % 2 for row in range(4 * len(data_source))]})
    return sampler.GroupByLabelBatchSampler(
        rows, 4, False, valid_label_columns=["label"], generator=generator, seed=None
    )


def only(batch: Sequence[int]) -> int:
    (index,) = batch
    return index


def first_of_four(batch: Sequence[int]) -> int:
    return batch[0] // 4


def children(parts: Sequence[Sized], generator: Any) -> list[Any]:
    """As the package's trainer makes them, batches of one."""
    inner = [SubsetRandomSampler(range(len(part)), generator) for part in parts]
    return [sampler.DefaultBatchSampler(shuffled, 1, False) for shuffled in inner]


def in_turn(dataset: Sized, seed: int = 0) -> Any:
    generator = torch.Generator()
    whole = ConcatDataset([range(len(dataset))])
    return sampler.RoundRobinBatchSampler(
        whole, children(whole.datasets, generator), generator, seed
    )


def in_proportion(dataset: Sized, seed: int = 0) -> Any:
    """The dataset in two parts."""
    n, generator = len(dataset), torch.Generator()
    parts = ConcatDataset([range(n // 3), range(n // 3, n)])
    return sampler.ProportionalBatchSampler(
        parts, children(parts.datasets, generator), generator, seed
    )


ROLE, ONE = "DistributedSampler", {"ranks": "one"}
NoDuplicatesBatchSampler = Adapter(
    ROLE, unrepeated, of=sampler.NoDuplicatesBatchSampler, indices=only,
    policies={"length": "estimated", **ONE},
    documented={
        "length": '"This is a cheap estimate based only on the dataset and batch sizes" '
        "(docstring of NoDuplicatesBatchSampler.__len__)",
    },
)  # fmt: skip
RoundRobinBatchSampler = Adapter(
    ROLE, in_turn, of=sampler.RoundRobinBatchSampler, indices=only, policies=ONE
)
ProportionalBatchSampler = Adapter(
    ROLE, in_proportion, of=sampler.ProportionalBatchSampler, indices=only, policies=ONE
)
GroupByLabelBatchSampler = Adapter(
    "RandomSampler", grouped, of=sampler.GroupByLabelBatchSampler, indices=first_of_four,
    policies={"samples": "by-design"},
    documented={
        "samples": '"Batch sampler that groups samples by label for in-batch triplet mining." '
        "(docstring of GroupByLabelBatchSampler)",
    },
)  # fmt: skip
