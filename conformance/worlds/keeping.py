"""What a caller keeps of the batches that were delivered to him."""

from __future__ import annotations

from typing import Any

import torch


def kept(batch: Any, place: int) -> Any:
    """What is kept of batch number `place`: every second one is unpacked, as `for x, y in loader`
    does, and its parts alone are kept.

    A loader may not take for free what stands in a batch whose list nobody holds any more.
    """
    return unpacked(batch) if place % 2 else batch


def unpacked(batch: Any) -> Any:
    """The same parts in other containers of the same types, if those are Python's own.

    Of a tensor its memory alone is kept, as `batch.numpy()` or `batch.detach()` keeps it.
    """
    if type(batch) is torch.Tensor and not batch.requires_grad:
        return batch.detach()
    if type(batch) in (list, tuple):
        return type(batch)(map(unpacked, batch))
    if type(batch) is dict:
        return {key: unpacked(value) for key, value in batch.items()}
    return batch
