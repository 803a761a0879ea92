"""`composer`, of the package `mosaicml`: the sampler that it makes."""

from __future__ import annotations

import torch

try:
    import torchvision  # noqa: F401
except RuntimeError:  # it is linked to another torch, and its operators are missing
    lib = torch.library.Library("torchvision", "DEF")
    lib.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    lib.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from composer.utils import dist
from torch.utils.data import DistributedSampler

from conformance.adapter import Adapter


def sampler(
    dataset: object, num_replicas: int | None = None, rank: int | None = None,
    shuffle: bool = False, seed: int = 0, drop_last: bool = False,
) -> DistributedSampler[int]:  # fmt: skip
    return dist.get_sampler(
        dataset, num_replicas=num_replicas, rank=rank,
        shuffle=shuffle, seed=seed, drop_last=drop_last,
    )  # fmt: skip


def set_epoch(made: DistributedSampler[int], epoch: int) -> None:
    made.set_epoch(epoch)


get_sampler = Adapter("DistributedSampler", sampler, of=dist.get_sampler, set_epoch=set_epoch)
