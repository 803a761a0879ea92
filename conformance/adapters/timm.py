"""`timm`: its distributed samplers."""

from __future__ import annotations

import torch

try:
    import torchvision  # noqa: F401
except RuntimeError:  # it is linked to another torch, and its operators are missing
    lib = torch.library.Library("torchvision", "DEF")
    lib.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    lib.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from timm.data import distributed_sampler

from conformance.adapter import Adapter

RepeatAugSampler = Adapter(
    "DistributedSampler", distributed_sampler.RepeatAugSampler,
    of=distributed_sampler.RepeatAugSampler,
    policies={"samples": "by-design"},
    documented={
        "samples": 'its docstring: "Sampler that restricts data loading to a subset of the dataset '
        'for distributed, with repeated augmentation."',
    },
)  # fmt: skip

OrderedDistributedSampler = Adapter(
    "DistributedSampler", distributed_sampler.OrderedDistributedSampler,
    of=distributed_sampler.OrderedDistributedSampler,
)  # fmt: skip
