"""Wrong samplers: what becomes of arguments, of copies and of errors.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B048 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from honest import DistributedSampler

from reference import (
    BatchSampler,
    SubsetRandomSampler,
)

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
