"""Candidates that would hang, kill, fill or flood the process that runs them.

Each `*_` module-level object is a candidate with a hostile `DistributedSampler` and a good
`SequentialSampler`, so that a test can see that the rest of the run goes on. `CAUGHT_BY` names the
clauses that the hostile one must be told to break. Nothing here may run in the test's own process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, SequentialSampler


class Endless(DistributedSampler):
    """The pass never ends."""

    CAUGHT_BY = ("sampler.ends",)

    def __iter__(self) -> Iterator[int]:
        while True:
            yield 0


class AloneInReduce(DistributedSampler):
    """Rank 0 alone takes part in an all_reduce (B073)."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        if self.rank == 0 and dist.is_initialized():
            dist.all_reduce(torch.zeros(1))
        return super().__iter__()


class AloneInBroadcast(DistributedSampler):
    """Rank 0 alone sends a broadcast, which nobody receives."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        if self.rank == 0 and dist.is_initialized():
            dist.broadcast(torch.zeros(1), src=0)
        return super().__iter__()


class Exits(DistributedSampler):
    """The last rank ends its process without a word."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        if self.rank == self.num_replicas - 1:
            os._exit(3)
        return super().__iter__()


class Crashes(DistributedSampler):
    """A segmentation fault."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        os.kill(os.getpid(), signal.SIGSEGV)
        return super().__iter__()


class Killed(DistributedSampler):
    """Rank 1 is killed, as by the kernel when memory runs out."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__iter__()


class Spins(DistributedSampler):
    """`iter` never returns."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        while True:
            pass


class Unpicklable(DistributedSampler):
    """Yields functions, which cannot be sent to another process."""

    CAUGHT_BY = ("sampler.index",)

    def __iter__(self) -> Iterator[Any]:
        return iter([lambda: 0 for _ in super().__iter__()])


class Gigabytes(DistributedSampler):
    """Yields 2 MiB at a time, for ever."""

    CAUGHT_BY = ("sampler.returns", "sampler.index", "sampler.works", "sampler.ends")

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield b"x" * (2 << 20)


class Grows(DistributedSampler):
    """Takes memory until there is none."""

    CAUGHT_BY = ("sampler.returns", "sampler.works")

    def __iter__(self) -> Iterator[int]:
        kept = []
        while True:
            kept.append(b"x" * (64 << 20))


class Floods(DistributedSampler):
    """Prints 2 MiB in each pass."""

    CAUGHT_BY = ("sampler.quiet",)

    def __iter__(self) -> Iterator[int]:
        for _ in range(2):
            print("x" * (1 << 20))
        return super().__iter__()


class FloodsDisk(DistributedSampler):
    """Prints for ever, past every limit."""

    CAUGHT_BY = ("sampler.quiet", "sampler.returns", "sampler.works")

    def __iter__(self) -> Iterator[int]:
        while True:
            os.write(1, b"x" * (1 << 20))


class LeavesChild(DistributedSampler):
    """Forks a child that sleeps for ever, and waits for it."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        child = os.fork()
        if child == 0:
            signal.pause()
        os.waitpid(child, 0)
        return super().__iter__()


class LeavesDaemon(DistributedSampler):
    """The first pass leaves a grandchild in a session of its own behind; the pass is right."""

    CAUGHT_BY = ()
    left = False

    def __iter__(self) -> Iterator[int]:
        if not LeavesDaemon.left:
            LeavesDaemon.left = True
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.alarm(300)
                    signal.pause()
                os._exit(0)
            os.wait()
        return super().__iter__()


class SysExits(DistributedSampler):
    """Calls sys.exit in the middle of a pass."""

    CAUGHT_BY = ("sampler.works", "sampler.returns")

    def __iter__(self) -> Iterator[int]:
        yield 0
        sys.exit(5)


class Interrupts(DistributedSampler):
    """Raises KeyboardInterrupt."""

    CAUGHT_BY = ("sampler.works", "sampler.returns")

    def __iter__(self) -> Iterator[int]:
        raise KeyboardInterrupt


class Escape(BaseException):
    """An exception that `except Exception` does not see."""


class Escapes(DistributedSampler):
    """Raises a BaseException of its own."""

    CAUGHT_BY = ("sampler.works", "sampler.returns")

    def __iter__(self) -> Iterator[int]:
        raise Escape("not an Exception")


class ClosesDescriptors(DistributedSampler):
    """Closes every file descriptor of the process, the connection of the suite included."""

    CAUGHT_BY = ("sampler.returns",)

    def __iter__(self) -> Iterator[int]:
        os.closerange(3, 4096)
        return super().__iter__()


class UnreadableErrors(DistributedSampler):
    """Raises an exception whose message raises."""

    CAUGHT_BY = ("sampler.works",)

    def __iter__(self) -> Iterator[int]:
        class Unreadable(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no message")

        raise Unreadable


class EvilItems(DistributedSampler):
    """Yields items whose every method raises, `SystemExit` among them."""

    CAUGHT_BY = ("sampler.works", "sampler.index", "sampler.returns")

    def __iter__(self) -> Iterator[Any]:
        class Evil:
            def __getattribute__(self, name: str) -> Any:
                raise SystemExit(f"no {name}")

            def __repr__(self) -> str:
                raise SystemExit("no repr")

        return iter([Evil() for _ in super().__iter__()])


HOSTILE = {
    kind.__name__: kind
    for kind in list(vars().values())
    if isinstance(kind, type) and hasattr(kind, "CAUGHT_BY")
}
"""Every hostile sampler by name."""

for _name, _kind in HOSTILE.items():
    _both = SimpleNamespace(DistributedSampler=_kind, SequentialSampler=SequentialSampler)
    globals()[f"{_name}_"] = _both
