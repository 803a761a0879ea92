"""Memory for large batches that a worker uses again.

A large block of fresh memory is slow: the system clears each page and maps it at first use, and
takes all back when the block is freed. A worker writes each batch into the message and lets it go,
so that the next one may lie in the same place. It may do so no earlier than that: user code may
keep a batch, and a buffer comes back only when the last tensor that lies in it is gone.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

SIZE_MIN = 1 << 16
KEPT_MAX = 4

_free: list[NDArray[np.uint8]] | None = None


def enable() -> None:
    """From now on, in this process, `for_stack` lends buffers."""
    global _free
    _free = []


def for_stack(tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """Where to stack dense tensors that are all alike; None where torch may choose."""
    first = tensors[0]
    if _free is None or type(first) is not torch.Tensor:
        return None
    size = len(tensors) * first.nbytes
    if size < SIZE_MIN or not all(_alike(tensor, first) for tensor in tensors):
        return None
    flat = torch.from_numpy(_lend(_free, size))
    return flat.view(first.dtype).view(len(tensors), *first.shape)


def _alike(tensor: torch.Tensor, first: torch.Tensor) -> bool:
    plain = tensor.layout is torch.strided and tensor.is_cpu and not tensor.requires_grad
    return plain and tensor.dtype is first.dtype and tensor.shape == first.shape


def _lend(free: list[NDArray[np.uint8]], size: int) -> NDArray[np.uint8]:
    fitting = [k for k, buffer in enumerate(free) if size <= buffer.nbytes <= 2 * size]
    buffer = free.pop(fitting[0]) if fitting else np.empty(size, np.uint8)
    del free[KEPT_MAX:]
    lent = buffer[:size]
    weakref.finalize(lent, free.insert, 0, buffer).atexit = False
    return lent
