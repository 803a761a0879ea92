"""Right classes that take less than their role does, or settle by refusing what others allow."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from good_draws import WeightedRandomSampler as Weighted
from honest import DistributedSamplerWrapper, whole


class OnlyWeights:
    """Takes weights and a count, and draws with replacement from torch's global generator."""

    def __init__(self, weights: Any, num_samples: int) -> None:
        self.drawn = Weighted(weights, num_samples)

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[int]:
        return iter(self.drawn)


class UnseededBalance:
    """Takes labels and a mode, no seed: each pass draws from torch's global generator."""

    def __init__(self, labels: Any, mode: str | int = "downsampling") -> None:
        listed = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if not listed or any(isinstance(label, list) for label in listed):
            raise ValueError("labels must be a label for each item, one at least")
        self.groups: dict[Any, list[int]] = {}
        for index, label in enumerate(listed):
            self.groups.setdefault(label, []).append(index)
        sizes = {"downsampling": min, "upsampling": max}
        counts = [len(group) for group in self.groups.values()]
        if isinstance(mode, str):
            if mode not in sizes:
                raise ValueError(f"mode must be one of {list(sizes)} or an int, but is {mode!r}")
            self.each = sizes[mode](counts)
        else:
            self.each = whole("mode", mode, 1)

    def __len__(self) -> int:
        return self.each * len(self.groups)

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(int(torch.empty((), dtype=torch.int64).random_()))
        drawn = [index for group in self.groups.values() for index in self._of(group, rng)]
        rng.shuffle(drawn)
        yield from drawn

    def set_epoch(self, epoch: int) -> None:
        """Checks the number, and no more: every pass is drawn anew."""
        whole("epoch", epoch)

    def _of(self, group: list[int], rng: random.Random) -> list[int]:
        """As many members of one class as are wanted: each once before any comes again."""
        rounds = (rng.sample(group, len(group)) for _ in range(math.ceil(self.each / len(group))))
        return [index for drawn in rounds for index in drawn][: self.each]


class Refusing(DistributedSamplerWrapper):
    """Refuses an inner sampler whose pass moves a global generator: ranks do not share those."""

    def _draw(self) -> list[Any]:
        before = _states()
        drawn = list(iter(self.sampler))
        if self.num_replicas > 1 and _states() != before:
            raise RuntimeError("sampler draws from a global generator, which ranks do not share")
        return drawn

    def _agreed(self, drawn: list[Any]) -> list[Any]:
        return drawn


def _states() -> tuple[Any, ...]:
    """The states of the global generators of torch, numpy and Python."""
    words = np.random.get_state()
    return torch.get_rng_state().numpy().tobytes(), words[1].tobytes(), words[2:], random.getstate()
