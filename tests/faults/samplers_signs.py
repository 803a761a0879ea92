"""Wrong samplers that take one sign for the whole, or use what is left of something once more.

Each class breaks one rule. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is
what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import SequentialSampler as TorchSequentialSampler

from reference import BalanceClassSampler, BatchSampler, RandomSampler, WeightedRandomSampler


class LeftOfThePermutation(RandomSampler):
    """Passes over a part go on with what the last one has left of a permutation."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "orders-related"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.left: list[int] = []

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if self.replacement or self.generator is None or count >= n:
            yield from super().__iter__()
            return
        if len(self.left) < count or max(self.left) >= n:
            self.left = torch.randperm(n, generator=self.generator).tolist()
        taken, self.left = self.left[:count], self.left[count:]
        yield from taken


class TakesHeirsForPlain(BatchSampler[Any]):
    """Whatever derives from torch's SequentialSampler is taken for a range, and is not asked."""

    CAUGHT_BY = ("batch.concatenation",)
    ANOMALY = "reordered"

    def __iter__(self) -> Iterator[list[Any]]:
        items: Iterable[Any] = self.sampler
        if isinstance(items, TorchSequentialSampler):
            items = range(len(items))
        return iter(BatchSampler(items, self.batch_size, self.drop_last))


class WholeFloats(BatchSampler[Any]):
    """A float of numpy is a size if its value is whole."""

    CAUGHT_BY = ("sampler.reject",)
    ANOMALY = "accepted"

    def __init__(self, sampler: Iterable[Any], batch_size: Any, drop_last: bool) -> None:
        whole = isinstance(batch_size, np.floating) and float(batch_size).is_integer()
        super().__init__(sampler, int(batch_size) if whole else batch_size, drop_last)


class PartOfAWord(BalanceClassSampler):
    """A mode is taken for the known one of which it is a part."""

    CAUGHT_BY = ("balanced.reject",)
    ANOMALY = "accepted"

    def __init__(self, labels: Sequence[Any], mode: Any = "downsampling", seed: int = 0) -> None:
        known = (word for word in ("downsampling", "upsampling") if isinstance(mode, str))
        super().__init__(labels, next((word for word in known if mode in word), mode), seed)


class OneNumberForTwo(WeightedRandomSampler):
    """A place and the coin that is tossed there are of one number of single precision, of which
    many weights leave few bits to the coin."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def _search(self) -> torch.Tensor:
        keep, other = _aliases(self.weights)
        number = torch.rand(self.num_samples, generator=self.generator).double() * len(keep)
        place = number.long().clamp(max=len(keep) - 1)
        return torch.where(number - place < keep[place], place, other[place])


def _aliases(weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What share of each place is its own, and whose the rest is (Walker, 1977)."""
    keep, other = (weights * len(weights) / weights.sum()).tolist(), [*range(len(weights))]
    small = [place for place, share in enumerate(keep) if share < 1]
    large = [place for place, share in enumerate(keep) if share >= 1]
    while small and large:
        place, giver = small.pop(), large[-1]
        other[place] = giver
        keep[giver] -= 1 - keep[place]
        if keep[giver] < 1:
            small.append(large.pop())
    return torch.tensor(keep, dtype=torch.double), torch.tensor(other)
