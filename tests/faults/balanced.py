"""Wrong class-balanced samplers: each breaks a rule of `spec/balanced.md`.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B083 is a row of the corpus of reported bugs. The published samplers, with
several of these faults at once, are in `published_balanced.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from honest import mix

from reference import BalanceClassSampler, WeightedBalanceClassSampler


class _Drawn(BalanceClassSampler):
    """The rules of a pass one by one: the generator, what is drawn of a class, how all is mixed."""

    def rng(self) -> Any:
        return np.random.default_rng(mix(self.seed, self.epoch))

    def pick(self, rng: Any, members: Any, count: int) -> Any:
        return rng.choice(members, count, replace=count > len(members))

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        return rng.permutation(np.concatenate(drawn))

    def __iter__(self) -> Iterator[int]:
        rng = self.rng()
        pairs = zip(self.members, self.counts, strict=True)
        drawn = [self.pick(rng, members, count) for members, count in pairs]
        return iter(self.mixed(rng, drawn).tolist())


class _Shared(WeightedBalanceClassSampler):
    """How many items each class contributes, in one place: `shared` makes counts of exact shares
    of the length."""

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, weight, length, seed)
        share = np.array(weight, dtype=float)
        self.counts = self.shared(share / share.sum() * length, length).astype(int).tolist()

    def shared(self, share: Any, length: int) -> Any:
        raise NotImplementedError


class CapsAtClassSize(_Drawn):
    """No class contributes more than it has members, whatever was asked for."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        super().__init__(labels, mode, seed)
        sizes = map(len, self.members)
        self.counts = [min(pair) for pair in zip(self.counts, sizes, strict=True)]


class OversamplesToMean(_Drawn):
    """Upsampling aims at the mean class size, not at the greatest (B085)."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        super().__init__(labels, mode, seed)
        if mode == "upsampling":
            mean = sum(map(len, self.members)) / len(self.members)
            self.counts = [round(mean)] * len(self.members)


class RestToLastClass(_Shared):
    """Shares are rounded down, and the last class takes whatever is left over."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def shared(self, share: Any, length: int) -> Any:
        counts = np.floor(share)
        counts[-1] += length - counts.sum()
        return counts


class RoundsEachShare(_Shared):
    """Every share is rounded by itself, so the total is not the length that was asked for."""

    CAUGHT_BY = ("balanced.counts",)

    def shared(self, share: Any, length: int) -> Any:
        return np.round(share)


class DrawsCountsToo(WeightedBalanceClassSampler):
    """How many items a class contributes is drawn in each pass, right only on average (B084)."""

    CAUGHT_BY = ("balanced.counts", "balanced.distributed")
    ANOMALY = "wrong-class-count"

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng(mix(self.seed, self.epoch))
        total = sum(self.counts)
        counts = rng.multinomial(total, np.array(self.counts) / total)
        pairs = zip(self.members, counts, strict=True)
        drawn = [rng.choice(m, count, replace=count > len(m)) for m, count in pairs]
        return iter(rng.permutation(np.concatenate(drawn)).astype(int).tolist())


class AlwaysReplaces(_Drawn):
    """Members are drawn with replacement even where there are enough of them (B083)."""

    CAUGHT_BY = ("balanced.distinct",)
    ANOMALY = "doubled-member"

    def pick(self, rng: Any, members: Any, count: int) -> Any:
        return rng.choice(members, count)


class TakesFirstMembers(_Drawn):
    """A class that is cut down is cut to its first members, pass after pass (B083)."""

    CAUGHT_BY = ("balanced.reach",)
    ANOMALY = "members-unequal"

    def pick(self, rng: Any, members: Any, count: int) -> Any:
        return members[:count] if count <= len(members) else super().pick(rng, members, count)


class FillsUpWithFirst(_Drawn):
    """A class that is too small is filled up with its first members, which come more often."""

    CAUGHT_BY = ("balanced.reach",)
    ANOMALY = "members-unequal"

    def pick(self, rng: Any, members: Any, count: int) -> Any:
        return (
            np.resize(members, count) if count > len(members) else super().pick(rng, members, count)
        )


class OneClassAfterAnother(_Drawn):
    """The classes come one after another: balanced as a whole, and never mixed (B090)."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        return np.concatenate(drawn)


class ClassesAsBlocks(_Drawn):
    """The classes come one after another, in a new order of classes in each epoch (B090)."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        return np.concatenate([drawn[place] for place in rng.permutation(len(drawn))])


class ClassesInTurn(_Drawn):
    """The classes take turns, so that each place of a pass belongs to one of them."""

    CAUGHT_BY = ("balanced.shuffled",)
    ANOMALY = "classes-not-mixed"

    def mixed(self, rng: Any, drawn: list[Any]) -> Any:
        return np.stack(drawn, axis=1).reshape(-1)


class CountsByLabelValue(_Drawn):
    """The size of a class is looked up by the value of its label (B088)."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "labels-crash"

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        super().__init__(labels, mode, seed)
        if mode == "downsampling" and len(self.members) > 1:
            sizes = [len(members) for members in self.members]
            self.counts = [min(sizes[int(label)] for label in labels)] * len(sizes)


class WeightsByFirstSeen(WeightedBalanceClassSampler):
    """Weights belong to the classes in the order in which the labels name them first."""

    CAUGHT_BY = ("balanced.labels", "balanced.counts")
    ANOMALY = "wrong-class-count"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, weight, length, seed)
        first = [int(members.min()) for members in self.members]
        counts, places = list(self.counts), np.argsort(first)
        for count, place in zip(counts, places, strict=True):
            self.counts[place] = count
