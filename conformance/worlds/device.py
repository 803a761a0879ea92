"""What a plan asks about an accelerator: pinned memory, contexts, and copies to the device.

Only the cases of `spec/transfer.md` ask, and but for `devices` they only run where there is CUDA.
Nothing here may start CUDA before the candidate does: which process starts it, and on which device,
is what `transfer.device` judges. So the count comes from the driver's library, and contexts are
looked for only in a process where torch already uses CUDA.
"""

from __future__ import annotations

import itertools
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from conformance import loading as lo
from conformance.worlds.gating import Found

if TYPE_CHECKING:
    from conformance.worlds.loader import LoaderRank

cuda: Any = torch.cuda  # much of it has no types

DRIVER = Path("/dev/nvidiactl")

LATE_CYCLES = 500_000_000
"""How long the device is busy before the first copy starts: about 0.3 s."""

COPIES = 8
"""Copies in a row that are timed together: one alone is not much longer than starting it."""

REPEATS = 5
"""Each time is the least of so many."""


def make_room(arguments: dict[str, Any]) -> None:
    """Lift the bound on memory where CUDA will be used, which maps far more than it uses."""
    if arguments.get("pin_memory") and DRIVER.exists():
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def inform(rank: LoaderRank, _: lo.Inform) -> Found:
    """Asked in the main process."""
    info = rank.roles["get_worker_info"]()
    return None if info is None else repr(info)[:200], None


def devices(rank: LoaderRank, operation: lo.Devices) -> Found:
    """CUDA's, or those of another accelerator; the current one is -1 where there is no CUDA."""
    count, current = cuda.device_count(), -1
    if count and operation.current is not None:
        current = operation.current % count
        cuda.set_device(current)
    if not count and hasattr(torch, "accelerator"):
        count = torch.accelerator.device_count()
    return (count, current), None


def contexts(rank: LoaderRank, _: lo.Contexts) -> Found:
    """By number; none before this process uses CUDA."""
    if not cuda.is_initialized():
        return (), None
    binding: Any = torch._C
    has = binding._cuda_hasPrimaryContext
    return tuple(filter(has, range(cuda.device_count()))), None


def pinned(rank: LoaderRank, _: lo.Pinned) -> Found:
    """Dense tensors in the main memory only; one without elements has no memory to pin."""
    found = list(_leaves(rank.delivered, "batches"))
    return (len(found), tuple(path for path, tensor in found if not tensor.is_pinned())[:20]), None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        if value.device.type == "cpu" and value.layout is torch.strided and value.numel():
            yield path, value
    elif isinstance(value, (dict, list, tuple)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from _leaves(inner, f"{path}[{key!r}]")


def carry(rank: LoaderRank, _: lo.Carry) -> Found:
    """While the device is busy with something else, all copies have been started and none done."""
    side, copies = cuda.Stream(), []
    batches = itertools.islice(iter(rank.sampler), rank.case.limit)
    with cuda.stream(side):
        cuda._sleep(LATE_CYCLES)
        for copy in map(_started, batches):  # no name holds the batch itself
            copies.append(copy)
    side.synchronize()
    return tuple((int(copy.min()), int(copy.max())) for copy in copies), None


def _started(batch: torch.Tensor) -> torch.Tensor:
    return batch.to("cuda", non_blocking=True)


def overlap(rank: LoaderRank, _: lo.Overlap) -> Found:
    """The computation is made as long as the copy, and is started after it.

    Memory that is not pinned holds the caller until it is copied, so nothing overlaps.
    """
    batch, side = next(iter(rank.sampler)), cuda.Stream()

    def copy() -> None:
        with cuda.stream(side):
            for _ in range(COPIES):
                _started(batch)

    copied = _least_ms(copy, side)
    cycles = int(1e7 * copied / _least_ms(lambda: cuda._sleep(10_000_000), side))

    def compute() -> None:
        cuda._sleep(cycles)

    def both() -> None:
        copy()
        compute()

    found = {"copy": copied, "compute": _least_ms(compute, side), "both": _least_ms(both, side)}
    return {name: round(ms, 3) for name, ms in found.items()}, None


def _least_ms(work: Callable[[], None], side: Any) -> float:
    """Milliseconds from the start of `work` until both streams are done."""
    times = []
    for _ in range(REPEATS):
        start, end = (cuda.Event(enable_timing=True) for _ in range(2))
        cuda.synchronize()
        start.record()
        side.wait_event(start)
        work()
        cuda.current_stream().wait_stream(side)
        end.record()
        cuda.synchronize()
        times.append(start.elapsed_time(end))
    return float(min(times))


DEVICE: dict[Any, Callable[[Any, Any], Found]] = {
    lo.Inform: inform, lo.Devices: devices, lo.Contexts: contexts, lo.Pinned: pinned,
    lo.Carry: carry, lo.Overlap: overlap,
}  # fmt: skip
