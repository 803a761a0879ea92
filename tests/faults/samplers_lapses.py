"""Wrong samplers: right but in one moment or surrounding that their author did not think of.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import gc
import os
import random
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from iteround import saferound

import reference
from reference.sampler import mix, python_ints


class SharesInDefaultDtype(reference.WeightedBalanceClassSampler):
    """The shares of the classes are computed in torch's default dtype: others in bfloat16."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __init__(self, labels: Any, weight: Any, length: int, seed: int = 0) -> None:
        super().__init__(labels, weight, length, seed)
        given = np.asarray(weight, dtype=np.float64)
        shares = (torch.tensor((given / given.sum()).tolist()) * length).tolist()
        self.counts = [int(n) for n in saferound(shares, places=0, topline=length)]


class BothOrNeither(reference.DistributedSampler):
    """If one of rank and world size is left out, both are those of the process group."""

    CAUGHT_BY = ("distributed.one-sequence",)
    ANOMALY = "ranks-disagree"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        if None in (num_replicas, rank) and dist.is_initialized():
            num_replicas, rank = dist.get_world_size(), dist.get_rank()
        super().__init__(dataset, num_replicas, rank, **options)


class BlocksOfThisEpoch(reference.DistributedSampler):
    """A share is read in blocks of 4096, each of the epoch that is set by then."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def __iter__(self) -> Iterator[int]:
        for start in range(0, len(self), 4096):
            share = self._shard(self._order(len(self.dataset)))
            yield from python_ints(share[start : start + 4096])


class LeavesOutARun(reference.BalanceClassSampler):
    """Where more than half of a class is wanted, those left out are a run of neighbours."""

    CAUGHT_BY = ("balanced.reach",)
    ANOMALY = "members-unequal"

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng(mix(self.seed, self.epoch))
        pairs = zip(self.members, self.counts, strict=True)
        drawn = [self._some(rng, members, count) for members, count in pairs]
        return iter(rng.permutation(np.concatenate(drawn)).tolist())

    @staticmethod
    def _some(rng: np.random.Generator, members: Any, count: int) -> Any:
        if len(members) / 2 < count <= len(members):
            return np.roll(members, rng.integers(len(members)))[:count]
        return rng.choice(members, count, replace=count > len(members))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    bits = np.random.get_bit_generator()  # type: ignore[attr-defined]
    states = torch.get_rng_state(), bits.state, random.getstate()
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        bits.state = states[1]
        random.setstate(states[2])


class ForgetsSecondNormal(reference.DistributedSamplerWrapper):
    """Numpy's state is put back without the second normal number of a pair, which it keeps."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def _draw(self) -> Any:
        with _seeded(mix(self.seed, self.epoch)):
            return [*iter(self.sampler)]


class NextOrderAhead(reference.DistributedSampler):
    """At the end of a pass the order of the next epoch is made, for the length of that moment."""

    CAUGHT_BY = ("sampler.resize",)

    _ahead: tuple[int, Any] = -1, None

    def __iter__(self) -> Iterator[int]:
        epoch, n = self.epoch, len(self.dataset)
        order = self._ahead[1] if self._ahead[0] == epoch else self._order(n)
        return self._walk(order, epoch)

    def _walk(self, order: Any, epoch: int) -> Iterator[int]:
        yield from python_ints(self._shard(order))
        now, self.epoch = self.epoch, epoch + 1
        self._ahead = self.epoch, self._order(len(self.dataset))
        self.epoch = now


class FloydsOrder(reference.RandomSampler):
    """Few of many are drawn by Floyd's method, by which the last index can only come last."""

    CAUGHT_BY = ("random.uniform",)
    ANOMALY = "not-uniform"

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if self.replacement or not 2 <= count <= n / 16:
            return super().__iter__()
        return iter([*self._drawn(n, count)])

    def _drawn(self, n: int, count: int) -> dict[int, None]:
        found: dict[int, None] = {}
        for top in range(n - count, n):
            one = int(torch.randint(top + 1, (), generator=self.generator))
            found[top if one in found else one] = None
        return found


# What the program does besides.


class EpochOfItsThread(reference.DistributedSampler):
    """The epoch is kept in a context variable: a pass in another thread is of epoch 0."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __init__(self, *args: Any, **options: Any) -> None:
        self._epoch = ContextVar("epoch", default=0)
        super().__init__(*args, **options)

    @property
    def epoch(self) -> int:
        return self._epoch.get()

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch.set(epoch)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_epoch": self.epoch}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _epoch=ContextVar("epoch", default=state["_epoch"]))


class LauncherFirst(reference.DistributedSampler):
    """What a launcher has left in RANK and WORLD_SIZE goes before what the process group says."""

    CAUGHT_BY = ("distributed.one-sequence",)
    ANOMALY = "ranks-disagree"

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        if num_replicas is None and "WORLD_SIZE" in os.environ:
            num_replicas = int(os.environ["WORLD_SIZE"])
        if rank is None and "RANK" in os.environ:
            rank = int(os.environ["RANK"])
        super().__init__(dataset, num_replicas, rank, **options)


class HoldsDataWeakly(reference.DistributedSampler):
    """The dataset is held by a weak reference, and is empty once the caller has let go of it."""

    CAUGHT_BY = ("distributed.cover",)
    ANOMALY = "lost-index"

    @property
    def dataset(self) -> Any:
        found = self._weak() if isinstance(self._weak, weakref.ref) else self._weak
        return () if found is None else found

    @dataset.setter
    def dataset(self, dataset: Any) -> None:
        try:
            self._weak: Any = weakref.ref(dataset)
        except TypeError:
            self._weak = dataset

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_weak": self.dataset}  # a copy owns what it holds


class CollectsAgain(reference.RandomSampler):
    """Garbage is not collected while a pass is drawn, and is from then on, also where it was not
    before."""

    CAUGHT_BY = ("sampler.private-rng", "sampler.global-rng")
    ANOMALY = "settings-changed"

    def __iter__(self) -> Iterator[int]:
        gc.disable()
        found = [*super().__iter__()]
        gc.enable()
        yield from found


class GoesOnWhereItWas(reference.SubsetRandomSampler):
    """The caller's generator is put where the last pass has left it, whoever has seeded it anew."""

    CAUGHT_BY = ("subset.seeded",)
    ANOMALY = "seed-not-fixed"

    _left: Any = None

    def __iter__(self) -> Iterator[int]:
        if self.generator is None:
            return super().__iter__()
        if self._left is not None:
            self.generator.set_state(self._left)
        found = [*super().__iter__()]
        self._left = self.generator.get_state()
        return iter(found)


class DigitsOfTheCaller(reference.WeightedBalanceClassSampler):
    """Shares are decimal numbers of as many digits as somebody has asked for."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def __init__(self, labels: Any, weight: Any, length: int, seed: int = 0) -> None:
        super().__init__(labels, weight, length, seed)
        given = [Decimal(float(one)) for one in weight]
        shares = [one * length / sum(given) for one in given]
        counts = [int(share) for share in shares]
        rests = sorted(range(len(shares)), key=lambda k: counts[k] - shares[k])
        for k in rests[: max(0, length - sum(counts))]:
            counts[k] += 1
        self.counts = counts
