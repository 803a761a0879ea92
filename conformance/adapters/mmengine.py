"""`mmengine`: both ways of its default sampler; the infinite one, also cut into passes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sized

import mmengine.dataset

from conformance.adapter import Adapter


class Pass:
    """The next share of a stream that never ends."""

    def __init__(self, stream: mmengine.dataset.InfiniteSampler) -> None:
        self.stream = stream

    def __len__(self) -> int:
        return math.ceil(len(self.stream.dataset) / self.stream.world_size)

    def __iter__(self) -> Iterator[int]:
        return itertools.islice(iter(self.stream), len(self))

    def set_epoch(self, epoch: int) -> None:
        self.stream.set_epoch(epoch)


def first_pass(dataset: Sized, shuffle: bool = True, seed: int | None = None) -> Pass:
    return Pass(mmengine.dataset.InfiniteSampler(dataset, shuffle, seed))


def rounded(dataset: Sized, shuffle: bool = True, seed: int | None = None) -> Sized:
    return mmengine.dataset.DefaultSampler(dataset, shuffle, seed, round_up=True)


def not_rounded(dataset: Sized, shuffle: bool = True, seed: int | None = None) -> Sized:
    return mmengine.dataset.DefaultSampler(dataset, shuffle, seed, round_up=False)


DefaultSampler = Adapter("DistributedSampler", rounded, of=mmengine.dataset.DefaultSampler)
DefaultSamplerNotRounded = Adapter(
    "DistributedSampler", not_rounded, of=mmengine.dataset.DefaultSampler,
    policies={"pads": "none"},
    documented={
        "pads": 'the docstring of DefaultSampler: "If ``round_up=False``, this sampler won\'t '
        'remove or add any samples"',
    },
)  # fmt: skip
InfiniteSampler = Adapter(
    "DistributedSampler", mmengine.dataset.InfiniteSampler, of=mmengine.dataset.InfiniteSampler,
    policies={"ends": "never"},
    documented={
        "ends": 'the docstring of InfiniteSampler._infinite_indices: "Infinitely yield a sequence '
        'of indices."',
    },
)  # fmt: skip
InfiniteSamplerPass = Adapter("DistributedSampler", first_pass, of=mmengine.dataset.InfiniteSampler)
