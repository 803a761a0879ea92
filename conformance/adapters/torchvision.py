"""`torchvision`: its samplers of video clips."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import torch

try:
    import torchvision  # noqa: F401
except RuntimeError:  # it is linked to another torch, and its operators are missing
    lib = torch.library.Library("torchvision", "DEF")
    lib.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    lib.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from torchvision.datasets import samplers
from torchvision.datasets.video_utils import VideoClips

from conformance.adapter import Adapter

PER_VIDEO = 5


class Clips(VideoClips):
    """Videos of so many clips each, without a file."""

    def __init__(self, data_source: Sized, size: int) -> None:
        self.data_source, self.size = data_source, size

    @property
    def clips(self) -> list[range]:
        n = len(self.data_source)
        return [range(min(self.size, n - first)) for first in range(0, n, self.size)]

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


def uniform(data_source: Sized) -> Any:
    return samplers.UniformClipSampler(Clips(data_source, 1), 1)


def random(data_source: Sized) -> Any:
    return samplers.RandomClipSampler(Clips(data_source, PER_VIDEO), PER_VIDEO)


TABLE = (
    'the table "when group_size = 1" in its docstring: 14 items and 4 replicas, '
    '"rank_2 | [2, 6, 10, 0]"'
)

DistributedSampler = Adapter(
    "DistributedSampler", samplers.DistributedSampler, of=samplers.DistributedSampler,
    policies={"pads": "wrap", "divides": "interleaved"},
    documented={"pads": TABLE, "divides": TABLE},
)  # fmt: skip
UniformClipSampler = Adapter("SequentialSampler", uniform, of=samplers.UniformClipSampler)
RandomClipSampler = Adapter("RandomSampler", random, of=samplers.RandomClipSampler)
