"""Wrong passes, lengths, indices and randomness: each class breaks a rule of `spec/sampler.md`.

Most are distributed samplers that divide rightly, since that role takes part in nearly all of these
clauses. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of
them calls it. A number such as B002 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from honest import DistributedSampler

from reference import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
)

# Passes.


class OneShot(DistributedSampler):
    """Every `iter` gives the one generator made first, empty once it was read (B002)."""

    CAUGHT_BY = ("sampler.restart", "sampler.length")
    ANOMALY = "no-restart"

    def __iter__(self) -> Iterator[int]:
        if not hasattr(self, "items"):
            self.items = super().__iter__()
        return self.items


class StartsOver(DistributedSampler):
    """An iterator that has ended starts over when it is asked once more (B003, B160)."""

    CAUGHT_BY = ("sampler.ends",)
    ANOMALY = "not-exhausted"

    def __iter__(self) -> Iterator[int]:
        return _Restarting(list(super().__iter__()))


class _Restarting:
    def __init__(self, items: list[int]) -> None:
        self.items, self.place = items, 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.place == len(self.items):
            self.place = 0
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


class SharedPlace(DistributedSampler):
    """All iterators of a sampler share one place in one list (B096)."""

    CAUGHT_BY = ("sampler.interleave", "sampler.restart")
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[int]:
        self.items, self.place = list(super().__iter__()), 0
        return self

    def __next__(self) -> int:
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


class SkipsOnce(DistributedSampler):
    """A pass differs if an iterator was opened before: `iter` itself counts the passes (B001)."""

    CAUGHT_BY = ("sampler.idle-iter", "sampler.set-epoch")
    ANOMALY = "iter-changes-order"
    opened = 0

    def __iter__(self) -> Iterator[int]:
        self.opened += 1
        items = list(super().__iter__())
        turn = self.opened % max(1, len(items))
        return iter(items[turn:] + items[:turn])


class FollowsEpochMidway(DistributedSampler):
    """A pass that is under way jumps into the order of an epoch set meanwhile."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def __iter__(self) -> Iterator[int]:
        for place in range(len(self)):
            n = len(self.dataset)
            yield int(self._order(n)[self._places(n)][place])


class AddsUpEpochs(DistributedSampler):
    """`set_epoch` adds to the epoch, so setting one twice gives two orders (B016)."""

    CAUGHT_BY = ("sampler.set-epoch",)
    ANOMALY = "epoch-not-fixed"

    def set_epoch(self, epoch: int) -> None:
        before = self.epoch
        super().set_epoch(epoch)
        self.epoch += before


class RaisesAtEnd(SequentialSampler):
    """The pass ends with an IndexError (B005)."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[int]:
        yield from super().__iter__()
        raise IndexError("end of data")


class PassesDataOn(SequentialSampler):
    """Construction passes the dataset to `object.__init__`, which takes none (B004)."""

    CAUGHT_BY = ("sampler.works",)
    ANOMALY = "crash"

    def __init__(self, data_source: Any) -> None:
        object.__init__(self, data_source)


class EmptyRaises(SequentialSampler):
    """An empty dataset is refused (B223)."""

    CAUGHT_BY = ("sampler.empty",)
    ANOMALY = "empty-raises"

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)
        if not len(data_source):
            raise ValueError("data_source must not be empty")


class EmptyYields(DistributedSampler):
    """With nothing to sample from, every rank is given index 0."""

    CAUGHT_BY = ("sampler.empty", "distributed.small")
    ANOMALY = "empty-yields"

    def __iter__(self) -> Iterator[int]:
        return super().__iter__() if len(self.dataset) else iter([0])


# Lengths.


class LengthOfDataset(DistributedSampler):
    """The length is that of the dataset, not of the share (B071)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return len(self.dataset)


class LengthForgetsDrop(DistributedSampler):
    """With `drop_last=True` the length still counts the padded share (B069)."""

    CAUGHT_BY = ("sampler.length",)
    ANOMALY = "wrong-length"

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.num_replicas)


class LengthOnlyAfterPass(DistributedSampler):
    """The length is unknown, and not by a TypeError, until a pass was made."""

    CAUGHT_BY = ("sampler.length", "sampler.works")
    ANOMALY = "length-raises"
    count: int

    def __iter__(self) -> Iterator[int]:
        items = list(super().__iter__())
        self.count = len(items)
        return iter(items)

    def __len__(self) -> int:
        return self.count


class LengthDraws(RandomSampler):
    """The length is found by making a pass, which moves the generator on (B046)."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-draws"

    def __len__(self) -> int:
        return sum(1 for _ in self)


class LengthAdvances(DistributedSampler):
    """Asking for the length moves the sampler to its next epoch (B046)."""

    CAUGHT_BY = ("sampler.length-silent",)
    ANOMALY = "length-changes-order"

    def __len__(self) -> int:
        self.epoch += 1
        return super().__len__()


class StaleSize(DistributedSampler):
    """The length of the dataset is read once, at construction (B059)."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "stale-size"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(range(len(dataset)), *args, **options)


class ResizeAsserts(DistributedSampler):
    """A dataset that changed its length ends in an AssertionError (B059)."""

    CAUGHT_BY = ("sampler.resize",)
    ANOMALY = "resize-crash"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        super().__init__(dataset, *args, **options)
        self.n = len(dataset)

    def __iter__(self) -> Iterator[int]:
        assert self.n == len(self.dataset)
        return super().__iter__()


# Indices.


class Tensors(DistributedSampler):
    """Yields 0-d tensors (B022)."""

    CAUGHT_BY = ("sampler.index", "sampler.index-int")
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return iter(torch.tensor(list(super().__iter__()), dtype=torch.int64))


class Floats(DistributedSampler):
    """Yields floats."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return map(float, super().__iter__())


class Bools(SequentialSampler):
    """Yields a mask, and not indices."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "not-an-index"

    def __iter__(self) -> Iterator[Any]:
        return iter([True] * len(self))


class NumpyIntegers(DistributedSampler):
    """Yields numpy integers, which overflow and are not JSON."""

    CAUGHT_BY = ("sampler.index-int",)
    ANOMALY = "not-an-int"

    def __iter__(self) -> Iterator[Any]:
        return iter(np.array(list(super().__iter__()), dtype=np.int64))


class Negative(DistributedSampler):
    """Yields -1 for the last index, which reads the dataset from its end (B206)."""

    CAUGHT_BY = ("sampler.index", "distributed.cover")
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        return (index - n if index == n - 1 else index for index in super().__iter__())


class CountsFromOne(SequentialSampler):
    """Yields 1 to n (B089)."""

    CAUGHT_BY = ("sampler.index",)
    ANOMALY = "out-of-range"

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))


# Randomness.


class SeedsGlobal(DistributedSampler):
    """Seeds torch's global generator to shuffle (B011)."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        torch.manual_seed(self._pass_seed())
        return super().__iter__()


class SeedsNumpy(DistributedSampler):
    """Seeds numpy's global generator at construction."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        np.random.seed(self.seed % 2**32)


class ReadsPython(DistributedSampler):
    """Shuffles by a number from the `random` module, whose state it puts back (B063)."""

    CAUGHT_BY = ("sampler.private-rng", "distributed.one-sequence")
    ANOMALY = "global-rng-read"

    def _pass_seed(self) -> int:
        state = random.getstate()
        found = random.getrandbits(31)
        random.setstate(state)
        return found


class IgnoresGenerator(RandomSampler):
    """Draws from torch's global generator although the caller gave one (B009)."""

    CAUGHT_BY = ("sampler.private-rng",)
    ANOMALY = "global-rng-written"

    def __iter__(self) -> Iterator[int]:
        yield from torch.randperm(len(self.data_source)).tolist()


class KeepsFirstSeed(RandomSampler):
    """Without a generator it makes one at construction, deaf to `torch.manual_seed` (B010)."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-read"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.generator = self.generator or torch.Generator().manual_seed(0)


class DrawsFromNumpy(RandomSampler):
    """Without a generator it draws from numpy's global one (B091)."""

    CAUGHT_BY = ("sampler.global-rng",)
    ANOMALY = "foreign-rng-written"

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            yield from super().__iter__()
        else:
            yield from np.random.permutation(len(self.data_source)).tolist()[: len(self)]


class DrawsAtIter(RandomSampler):
    """`iter` alone draws the whole pass (B001)."""

    CAUGHT_BY = ("sampler.idle-iter",)
    ANOMALY = "iter-draws"

    def __iter__(self) -> Iterator[int]:
        return iter(list(super().__iter__()))


class DrawsPiecewise(RandomSampler):
    """Draws one index at a time, so a second iterator disturbs the first."""

    CAUGHT_BY = ("sampler.interleave-generator",)
    ANOMALY = "iterators-entangled"

    def __iter__(self) -> Iterator[int]:
        left = list(range(len(self.data_source)))
        for _ in range(min(len(self), len(left))):
            place = int(torch.randint(len(left), (), generator=self.generator))
            yield left.pop(place)


class FollowsDefaultDtype(DistributedSampler):
    """Shuffles by sorting uniforms of the default dtype, which is not the same everywhere."""

    CAUGHT_BY = ("sampler.same-everywhere",)
    ANOMALY = "depends-on-process"

    def _order(self, n: int) -> torch.Tensor:
        if not self.shuffle:
            return torch.arange(n)
        return torch.rand(n, generator=torch.Generator().manual_seed(self._pass_seed())).argsort()


class HashSeed(DistributedSampler):
    """The seed is a Python hash of a string (B038)."""

    CAUGHT_BY = ("sampler.same-everywhere", "distributed.one-sequence")
    ANOMALY = "depends-on-process"

    def _pass_seed(self) -> int:
        return hash(f"{self.seed}/{self.epoch}")


# Arguments.


class SortsInPlace(SubsetRandomSampler):
    """Sorts the caller's list of indices (B045)."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        if isinstance(indices, list):
            indices.sort()
        super().__init__(indices, generator)


class SortsAtPass(SubsetRandomSampler):
    """Keeps the caller's list of indices and sorts it in each pass (B045)."""

    CAUGHT_BY = ("sampler.arguments",)
    ANOMALY = "arguments-mutated"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        super().__init__(indices, generator)
        self.theirs = indices

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.theirs, list):
            self.theirs.sort()
        return super().__iter__()


class KeepsTheirList(SubsetRandomSampler):
    """Keeps the caller's list, and sees what becomes of it."""

    CAUGHT_BY = ("sampler.arguments-copied",)
    ANOMALY = "arguments-aliased"

    def __init__(self, indices: Any, generator: Any = None) -> None:
        super().__init__(indices, generator)
        self.theirs = indices

    def __iter__(self) -> Iterator[int]:
        order = torch.randperm(len(self.theirs), generator=self.generator).tolist()
        yield from (int(self.theirs[place]) for place in order)

    def __len__(self) -> int:
        return len(self.theirs)


class AcceptsFloats(DistributedSampler):
    """Takes 2.0 ranks for 2 (B058)."""

    CAUGHT_BY = ("sampler.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, num_replicas: Any = None, rank: Any = None, **o: Any) -> None:
        whole = isinstance(num_replicas, float) and num_replicas.is_integer()
        super().__init__(dataset, int(num_replicas) if whole else num_replicas, rank, **o)


class AcceptsAnyRank(DistributedSampler):
    """Takes a rank beyond the last for the one that it is modulo the number of ranks."""

    CAUGHT_BY = ("sampler.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, num_replicas: Any = None, rank: Any = None, **o: Any) -> None:
        both = type(rank) is int and type(num_replicas) is int and num_replicas > 0
        super().__init__(dataset, num_replicas, rank % num_replicas if both else rank, **o)


class AssertsArguments(DistributedSampler):
    """Invalid arguments end in an AssertionError."""

    CAUGHT_BY = ("sampler.reject",)
    ANOMALY = "wrong-exception"

    def __init__(self, *args: Any, **options: Any) -> None:
        try:
            super().__init__(*args, **options)
        except (TypeError, ValueError) as error:
            raise AssertionError(str(error)) from error


class BlamesTheRank(DistributedSampler):
    """`num_replicas=0` is refused with a message about the rank alone (B057)."""

    CAUGHT_BY = ("sampler.reject-names",)
    ANOMALY = "blames-another"

    def __init__(self, dataset: Any, num_replicas: Any = None, rank: Any = None, **o: Any) -> None:
        if type(num_replicas) is int and type(rank) is int and rank >= num_replicas:
            raise ValueError(f"rank {rank} is outside the interval [0, {num_replicas - 1}]")
        super().__init__(dataset, num_replicas, rank, **o)


class FailsOnNumpySeed(DistributedSampler):
    """Takes a numpy integer for a seed and fails in the first pass (B058)."""

    CAUGHT_BY = ("sampler.integer-like",)
    ANOMALY = "accepted-then-crashes"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.given = options.get("seed", 0)

    def __iter__(self) -> Iterator[int]:
        if type(self.given) is not int:
            raise RuntimeError("manual_seed expected a long")
        return super().__iter__()


class RoundsNumpyIntegers(DistributedSampler):
    """A numpy integer for a seed means another seed than the equal int."""

    CAUGHT_BY = ("sampler.integer-like",)
    ANOMALY = "integer-like-differs"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.seed += type(options.get("seed", 0)) is not int


class AcceptsAnyEpoch(DistributedSampler):
    """`set_epoch` takes whatever comes and fails, if at all, in the next pass (B058)."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-accepted"

    def set_epoch(self, epoch: Any) -> None:
        self.epoch = epoch


class RefusesNumpyEpoch(DistributedSampler):
    """`set_epoch` refuses the numpy integer that came from an honest `numpy.arange` (B058)."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-refused"

    def set_epoch(self, epoch: Any) -> None:
        if type(epoch) is not int:
            raise TypeError("epoch must be an int")
        super().set_epoch(epoch)


# Copies and errors.


class NotPicklable(DistributedSampler):
    """Keeps a lambda, which pickle refuses."""

    CAUGHT_BY = ("sampler.copyable",)
    ANOMALY = "not-copyable"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.key = lambda index: index


class CopyForgetsEpoch(DistributedSampler):
    """A copy starts at epoch 0 again."""

    CAUGHT_BY = ("sampler.copyable",)
    ANOMALY = "copy-differs"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"epoch": 0}


class EndsOnError(BatchSampler):
    """An error of the inner sampler ends the pass as if it were complete (B005, B036)."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-lost"

    def __iter__(self) -> Iterator[list[int]]:
        try:
            yield from super().__iter__()
        except Exception:
            return


class RenamesError(BatchSampler):
    """An error of the inner sampler comes out as a RuntimeError of its own."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "error-changed"

    def __iter__(self) -> Iterator[list[int]]:
        try:
            yield from super().__iter__()
        except Exception as error:
            raise RuntimeError("the inner sampler failed") from error


class ReadsAhead(BatchSampler):
    """All batches are made before the first is handed out, and an error takes them along."""

    CAUGHT_BY = ("sampler.error-through",)
    ANOMALY = "items-lost"

    def __iter__(self) -> Iterator[list[int]]:
        yield from list(super().__iter__())


class UnsettledByRefusal(DistributedSampler):
    """Once set_epoch has refused a value, every later pass runs backwards."""

    CAUGHT_BY = ("sampler.epoch-type",)
    ANOMALY = "epoch-not-fixed"

    refused = False

    def set_epoch(self, epoch: int) -> None:
        try:
            super().set_epoch(epoch)
        except (TypeError, ValueError):
            self.refused = True
            raise

    def __iter__(self) -> Iterator[int]:
        found = list(super().__iter__())
        return iter(found[::-1] if self.refused else found)
