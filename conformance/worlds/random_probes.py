"""Inner samplers that draw their order from a global generator."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import torch

from conformance.worlds.counting import Counting, Unsized


class TorchRandom(Counting):
    """A fresh permutation of [0, count) from torch's global generator."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        return iter(torch.randperm(self.count).tolist())


class TorchUnsized(Unsized):
    """The same, and no `__len__`: who counts its items by a pass of his own has drawn."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        return iter(torch.randperm(self.count).tolist())


class LateRandom(TorchRandom):
    """In order in its first pass, as a curriculum begins, and drawn in all that follow."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        early = self.seen["passes"] == 1
        return iter(range(self.count) if early else torch.randperm(self.count).tolist())


class StepRandom(TorchRandom):
    """Each item is drawn when it is asked for, from `random`: others may have drawn meanwhile."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        left = list(range(self.count))
        return map(left.pop, map(random.randrange, range(self.count, 0, -1)))


class NumpyRandom(TorchRandom):
    """The same from numpy's global state."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        return iter(np.random.permutation(self.count).tolist())


class PythonRandom(TorchRandom):
    """The same from the `random` module."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        return iter(random.sample(range(self.count), self.count))
