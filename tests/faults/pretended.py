"""Pretend, in the process that imports this, that there is one accelerator.

Pinning is copying to ordinary memory that remembers that it was made so, whoever looks at it. It is
enough for rules about batches: what is pinned, what it holds, and what becomes of an error.
"""

from __future__ import annotations

from typing import Any

import torch

_PINNED: list[tuple[int, torch.Tensor]] = []
"""Where pinned memory lies, and what keeps it there."""


def _pin(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
    if tensor.layout is torch.strided and tensor.numel() and _overlaps(tensor):
        raise RuntimeError("unsupported operation: elements of the written-to tensor share memory")
    copy = tensor.clone()
    _PINNED.append((copy.untyped_storage().data_ptr(), copy))
    return copy


def _overlaps(tensor: torch.Tensor) -> bool:
    return any(not step and n > 1 for step, n in zip(tensor.stride(), tensor.shape, strict=True))


def _is_pinned(tensor: torch.Tensor, device: Any = None) -> bool:
    if tensor.layout != torch.strided or not tensor.numel():
        return False
    return any(tensor.untyped_storage().data_ptr() == place for place, _ in _PINNED)


def _nothing(*_: Any) -> None:
    pass


tensor_class: Any = torch.Tensor
tensor_class.pin_memory = _pin
tensor_class.is_pinned = _is_pinned

cuda: Any = torch.cuda
cuda.is_available = lambda: True
cuda.device_count = lambda: 1
cuda.current_device = lambda: 0
cuda.set_device = _nothing

accelerator: Any = getattr(torch, "accelerator", None)
if accelerator is not None:
    accelerator.is_available = lambda: True
    accelerator.device_count = lambda: 1
    accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    accelerator.current_device_index = lambda: 0
    accelerator.set_device_index = _nothing
