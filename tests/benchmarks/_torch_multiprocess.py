"""The checks of `worlds.py` written on torch's own multi-process test bases.

    python tests/benchmarks/_torch_multiprocess.py {continuous,spawned} RANKS COUNT

Prints, as JSON, a clock's reading in seconds before the first and after each of COUNT tests. It
runs as a process of its own: both bases wait for their ranks without a bound that holds, choose
the start method of the whole process, and import the main module again in every rank.
"""

import json
import sys
import time
import types
import unittest
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from _shared import CHECKS_MAX, check

try:
    import expecttest  # noqa: F401
except ImportError:
    # torch.testing._internal.common_utils needs this package for two names only: the base class
    # of its TestCase, and a flag. It is no dependency of torch, nor of ours, and the checks here
    # call none of its assertions.
    stub = types.ModuleType("expecttest")
    stub.TestCase, stub.ACCEPT = unittest.TestCase, False  # type: ignore[attr-defined]
    sys.modules["expecttest"] = stub

from torch._C._distributed_c10d import FileStore
from torch.testing._internal.common_distributed import (
    MultiProcContinuousTest,
    MultiProcessTestCase,
)
from torch.utils.data import DistributedSampler


def judge(number: int) -> None:
    """In one rank: build, set the epoch, iterate, gather, and assert the two laws."""
    n, epoch = check(number)
    sampler: DistributedSampler[int] = DistributedSampler(range(n))  # type: ignore[arg-type]
    sampler.set_epoch(epoch)
    mine = torch.tensor(list(sampler), dtype=torch.int64)
    counts = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(counts, torch.tensor([len(mine)]))
    assert len({int(count) for count in counts}) == 1, f"unequal counts {counts}"
    shards = [torch.empty_like(mine) for _ in counts]
    dist.all_gather(shards, mine)
    lost = set(range(n)) - set(torch.cat(shards).tolist())
    assert not lost, f"lost {lost}"


class Continuous(MultiProcContinuousTest):
    """Standing ranks, one test a check."""

    @classmethod
    def backend_str(cls) -> str:
        return "gloo"


class Spawned(MultiProcessTestCase):
    """Ranks and a process group of their own for every test."""

    ranks = 0

    @property
    def world_size(self) -> int:
        return self.ranks

    def setUp(self) -> None:
        super().setUp()
        self._spawn_processes()

    def join_group(self) -> None:
        store = FileStore(self.file_name, self.world_size)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.world_size)


class Spawned2(Spawned):
    ranks = 2


class Spawned4(Spawned):
    ranks = 4


def _standing(number: int) -> Callable[[Any], None]:
    return lambda self: judge(number)


def _spawning(number: int) -> Callable[[Any], None]:
    def test(self: Spawned) -> None:
        self.join_group()
        judge(number)

    return test


for _number in range(CHECKS_MAX):
    setattr(Continuous, f"test_{_number}", _standing(_number))
    setattr(Spawned, f"test_{_number}", _spawning(_number))


class Clock(unittest.TestResult):
    """Reads the clock before the first test and after each."""

    def __init__(self) -> None:
        super().__init__()
        self.ended_s = [time.perf_counter()]

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.ended_s.append(time.perf_counter())


def main() -> int:
    """Run the checks as one suite; print the times if every one of them passed."""
    way, ranks, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kind = {"spawned2": Spawned2, "spawned4": Spawned4}.get(f"{way}{ranks}", Continuous)
    if kind is Continuous:
        Continuous.world_size = ranks
    clock = Clock()
    unittest.TestSuite([kind(f"test_{number}") for number in range(count)]).run(clock)
    for _, why in [*clock.errors, *clock.failures, *clock.skipped]:
        print(why, file=sys.stderr)
    passed = clock.wasSuccessful() and not clock.skipped and clock.testsRun == count
    print(json.dumps(clock.ended_s if passed else []))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
