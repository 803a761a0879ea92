"""Wrong weighted draws: each class breaks one rule of `spec/weighted.md`.

All derive from the reference. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY`
is what the first of them calls it. A number such as B025 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import data

from reference import WeightedRandomSampler


class Unchecked(WeightedRandomSampler):
    """Weights are taken as they come, and looked at in the first pass (as torch 2.13 does)."""

    CAUGHT_BY = ("weighted.reject",)
    ANOMALY = "accepted"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        self.weights = torch.as_tensor(weights, dtype=torch.double)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator


class AssertsWeights(Unchecked):
    """Wrong weights end in an AssertionError."""

    CAUGHT_BY = ("weighted.reject",)
    ANOMALY = "wrong-exception"

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        assert self.weights.ndim == 1 and self.weights.isfinite().all()
        assert (self.weights >= 0).all() and self.weights.any()
        assert self.replacement or self.num_samples <= self.weights.count_nonzero()


class ZerosUniform(Unchecked):
    """Weights that are all zero become a silent uniform draw (B032); the rest is checked."""

    CAUGHT_BY = ("weighted.reject",)
    ANOMALY = "accepted"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        given = torch.as_tensor(weights, dtype=torch.double)
        zeros = given.ndim == 1 and len(given) and not given.any()
        given = torch.ones_like(given) if zeros else given
        WeightedRandomSampler.__init__(self, given, num_samples, replacement, generator)


class OneTooFew(WeightedRandomSampler):
    """Of more than 32 draws one is lost."""

    CAUGHT_BY = ("weighted.count",)
    ANOMALY = "wrong-count"

    def __iter__(self) -> Iterator[int]:
        drawn = list(super().__iter__())
        return iter(drawn[1:] if len(drawn) > 32 else drawn)


class OneBeyond(WeightedRandomSampler):
    """A search at the edge of the prefix sums runs off their end."""

    CAUGHT_BY = ("weighted.count",)
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        return (index + 1 for index in super().__iter__())


class FillsUpWithZeros(data.WeightedRandomSampler):
    """When the other weights run out, those of 0 are drawn (B027)."""

    CAUGHT_BY = ("weighted.zero",)
    ANOMALY = "zero-drawn"


class NeverQuiteZero(WeightedRandomSampler):
    """Every weight gets a small constant, so that logarithms are finite."""

    CAUGHT_BY = ("weighted.zero", "weighted.scale", "weighted.first-draw")
    ANOMALY = "zero-drawn"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        super().__init__(weights, num_samples, replacement, generator)
        self.weights = torch.as_tensor(weights, dtype=torch.double) + 0.1


class DrawsAgain(WeightedRandomSampler):
    """Without replacement an index may come again (B029)."""

    CAUGHT_BY = ("weighted.distinct",)
    ANOMALY = "doubled-index"

    def _independent(self) -> bool:
        return True


class TwoPercent(WeightedRandomSampler):
    """One class in four comes 2 % too often."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        if len(self.weights) == 4:
            self.weights = self.weights.clone()
            self.weights[2] *= 1 if hasattr(self, "changed") else 1.02
            self.changed = True
        return super().__iter__()


class SingleDrawUniform(WeightedRandomSampler):
    """A pass of one draw is uniform."""

    CAUGHT_BY = ("weighted.frequencies",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        if not self.replacement or self.num_samples > 1 or not self.weights.all():
            return super().__iter__()
        return iter(torch.randint(len(self.weights), (1,), generator=self.generator).tolist())


class InverseWeights(WeightedRandomSampler):
    """Counts are mistaken for weights (B086)."""

    CAUGHT_BY = ("weighted.frequencies", "weighted.first-draw", "weighted.scale")
    ANOMALY = "wrong-frequency"

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.weights = torch.where(self.weights > 0, 1 / self.weights, 0.0)


class ShufflesUnweighted(WeightedRandomSampler):
    """Without replacement it shuffles, and weights count for nothing."""

    CAUGHT_BY = ("weighted.first-draw",)
    ANOMALY = "wrong-frequency"

    def __iter__(self) -> Iterator[int]:
        if self.replacement:
            return super().__iter__()
        positive = self.weights.nonzero().flatten()
        order = torch.randperm(len(positive), generator=self.generator)
        return iter(positive[order[: self.num_samples]].tolist())


class FixedEpsilon(WeightedRandomSampler):
    """Weights below a fixed epsilon count as nothing, unless all are."""

    CAUGHT_BY = ("weighted.scale",)
    ANOMALY = "wrong-frequency"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        super().__init__(weights, num_samples, replacement, generator)
        given = torch.as_tensor(weights, dtype=torch.double)
        if given.max() < 1e-12:
            self.weights = torch.ones_like(given)


class HalfPrecision(WeightedRandomSampler):
    """Weights are kept in half precision, where large ones overflow."""

    CAUGHT_BY = ("weighted.scale",)
    ANOMALY = "weights-refused"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        half = torch.as_tensor(weights, dtype=torch.double).half()
        super().__init__(half, num_samples, replacement, generator)


class FailsLate(data.WeightedRandomSampler):
    """More than 2^24 weights are accepted, and fail in the first pass (B025)."""

    CAUGHT_BY = ("weighted.large", "weighted.large-honest")
    ANOMALY = "limited"


class CountsInFloats(WeightedRandomSampler):
    """Indices are kept in single precision, and one that is rounded ends the pass (B025)."""

    CAUGHT_BY = ("weighted.large-honest", "weighted.large")
    ANOMALY = "fails-late"

    def __iter__(self) -> Iterator[int]:
        if len(self.weights) > 1 << 24:
            raise OverflowError("more indices than single precision can count")
        return super().__iter__()


class ForgetsOffset(WeightedRandomSampler):
    """Beyond 2^24 weights, positions within a chunk are yielded (B026)."""

    CAUGHT_BY = ("weighted.large",)
    ANOMALY = "wrong-index"

    def __iter__(self) -> Iterator[int]:
        return (index % 2**24 for index in super().__iter__())


class NeverBeyond(WeightedRandomSampler):
    """Only the first 2^24 weights are looked at."""

    CAUGHT_BY = ("weighted.large",)
    ANOMALY = "never-beyond"

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: Any = None) -> None:  # fmt: skip
        super().__init__(weights[: 2**24], num_samples, replacement, generator)


class WeightedSeedZero(WeightedRandomSampler):
    """Draws come from a generator seeded alike, whatever the caller's (B013)."""

    CAUGHT_BY = ("weighted.seeded",)
    ANOMALY = "stale-pass"

    def __iter__(self) -> Iterator[int]:
        self.generator = torch.Generator().manual_seed(0)
        return super().__iter__()


class OwnGenerator(WeightedRandomSampler):
    """The caller's generator is not used (B009)."""

    CAUGHT_BY = ("weighted.seeded",)
    ANOMALY = "seed-not-fixed"

    def __iter__(self) -> Iterator[int]:
        self.generator = None
        return super().__iter__()
