"""As many items of each class as the caller wants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from iteround import saferound  # type: ignore[import-untyped, unused-ignore]
from numpy.typing import NDArray

from reference import arguments
from reference.sampler import Sampler, mix


class PerClassSampler(Sampler[int]):
    """Yields `counts[i]` random members of the i-th class, all classes mixed.

    A class with enough members is drawn without replacement, a smaller one with replacement. A
    pass depends on (seed, epoch) alone; `set_epoch` announces another epoch.
    """

    counts: list[int]

    def __init__(self, labels: Sequence[Any], seed: int) -> None:
        self.members = members(labels)
        self.seed = arguments.integer("seed", seed)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the passes that start from now on; TypeError if not an integer."""
        self.epoch = arguments.integer("epoch", epoch)

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng(mix(self.seed, self.epoch))
        drawn = [
            rng.choice(indices, count, replace=count > len(indices))
            for indices, count in zip(self.members, self.counts, strict=True)
        ]
        return iter(rng.permutation(np.concatenate(drawn)).tolist())

    def __len__(self) -> int:
        return sum(self.counts)


class BalanceClassSampler(PerClassSampler):
    """Yields equally many items of every class (Catalyst).

    labels: the class of each item, any hashable and sortable values, shape (n,); copied.
    mode: "downsampling" (as many as the smallest class has), "upsampling" (as many as the largest
    has), or the number itself.

    Raises TypeError or ValueError for no labels, labels that cannot be sorted, an unknown mode and
    a number below 1.
    """

    def __init__(
        self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0
    ) -> None:
        super().__init__(labels, seed)
        sizes = [len(indices) for indices in self.members]
        named = {"downsampling": min(sizes), "upsampling": max(sizes)}
        if isinstance(mode, str) and mode not in named:
            raise ValueError(f"mode must be one of {list(named)} or an integer, but is {mode!r}")
        count = named[mode] if isinstance(mode, str) else arguments.integer("mode", mode, 1)
        self.counts = [count] * len(sizes)


class WeightedBalanceClassSampler(PerClassSampler):
    """Yields `length` items, divided among the classes by weight.

    labels: the class of each item, any hashable and sortable values, shape (n,); copied.
    weight: one number per class, in the sorted order of the classes; need not sum to one. The
    shares are rounded, each up or down, so that they sum to `length`.

    Raises TypeError or ValueError for no labels, weights that are not one per class, negative, NaN,
    infinite or all zero, and a length that is not an integer of at least 1.
    """

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, seed)
        checked, total = arguments.weights("weight", weight), arguments.integer("length", length, 1)
        if len(checked) != len(self.members):
            raise ValueError(
                f"weight must have one number for each of {len(self.members)} classes,"
                f" but has {len(checked)}"
            )
        shares = (checked / checked.sum() * total).tolist()
        self.counts = [int(count) for count in saferound(shares, places=0, topline=total)]


def members(labels: Sequence[Any]) -> list[NDArray[np.int64]]:
    """The indices of each class, classes in sorted order."""
    values = arguments.elements("labels", labels)
    by_class: dict[Any, list[int]] = {}
    try:
        for index, label in enumerate(values):
            by_class.setdefault(label, []).append(index)
        classes = sorted(by_class)
    except TypeError as error:
        raise TypeError(f"labels must be hashable and sortable: {error}") from None
    if not classes:
        raise ValueError("labels must not be empty")
    return [np.array(by_class[label]) for label in classes]
