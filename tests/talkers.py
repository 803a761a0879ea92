"""Candidates that tell of the process they are in, and the worlds in which tests run them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.candidate import Source
from conformance.case import Case
from conformance.operations import Iterate
from conformance.recipes import Data
from conformance.trace import Trace
from conformance.worlds.worlds import Worlds

BOUND_S = 3.0

TALKERS = '''
"""What they yield tells of the process that they are in."""

import os, random, signal, time
import numpy as np, torch, torch.distributed as dist
from torch.utils.data import DistributedSampler as Base


class DistributedSampler(Base):
    """Yields whole numbers that `told` names."""
    def told(self):
        return [self.rank]
    def __iter__(self):
        return iter(self.told())


class Hashes(DistributedSampler):
    def told(self):
        return [hash("x") % 2**62]


class States(DistributedSampler):
    def told(self):
        torch_word = int(torch.randint(2**62, ()))
        return [torch_word, int(np.random.randint(2**31)), random.getrandbits(62)]


class Process(DistributedSampler):
    def told(self):
        return [os.getpid(), os.getppid()]


class Talks(DistributedSampler):
    """Adds up the ranks, and hands the first one's number round."""
    def told(self):
        total = torch.tensor([self.rank]); dist.all_reduce(total)
        first = torch.tensor([self.rank + 7]); dist.broadcast(first, src=0)
        dist.barrier()
        return [int(total), int(first)]


class OneTooMany(DistributedSampler):
    """Rank 0 hands one work more to the group than the others, and waits for nobody."""
    def told(self):
        if self.rank == 0:
            OneTooMany.work = dist.broadcast(torch.zeros(1), src=0, async_op=True)
        return [0]


def compute(rank):
    """Rank 0 computes for a while."""
    end = time.monotonic() + 0.2 * (rank == 0)
    while time.monotonic() < end:
        pass


class FirstIsSlow(DistributedSampler):
    """Rank 0 comes later than the other; the seed is told."""
    def told(self):
        compute(self.rank)
        return [self.rank, self.seed]


class TalksInTurn(Talks):
    """Rank 0 comes later to what all take part in."""
    def told(self):
        compute(self.rank)
        return super().told()


class LeavesAt(DistributedSampler):
    """Rank 1 ends in the way that the seed says."""
    def told(self):
        if self.rank == 1:
            {1: lambda: os._exit(3), 2: lambda: os.kill(os.getpid(), signal.SIGSEGV),
             3: lambda: os.kill(os.getpid(), signal.SIGKILL), 4: signal.pause}[self.seed]()
        return [self.rank]
'''


@pytest.fixture(scope="module")
def talkers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of candidates."""
    file = tmp_path_factory.mktemp("worlds") / "talkers.py"
    file.write_text(TALKERS, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """One set of worlds for this file."""
    made = Worlds("gloo", BOUND_S)
    yield made
    made.close()


def source(worlds: Worlds, talkers: Path, name: str) -> Source:
    """A candidate that the worlds know."""
    found = Source(f"{talkers}:{name}")
    worlds.describe(found)
    return found


def told(trace: Trace) -> list[list[int]]:
    """What each rank yielded in its last pass."""
    return [rank.events[-1].value.tolist() for rank in trace]


def case(width: int, world: str = "group", **options: Any) -> Case:
    """A case of `width` ranks that make one pass."""
    seed = options.pop("seed", 0)
    arguments = {"dataset": Data(4), "seed": seed}
    return Case("DistributedSampler", arguments, [Iterate()], width, world, **options)


def fates(trace: Trace) -> list[str]:
    """How each rank ended."""
    return [rank.fate for rank in trace]
