"""What this machine has, asked without importing torch where the answer is plain.

To import torch takes most of the time of a short run, and the process that draws and judges cases
has no other use for it.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

DEVICES = ("nvidiactl", "nvidia0", "kfd", "dxg", "dri", "accel")
"""Without any of these files in /dev, Linux knows no accelerator that torch could use: those of
NVIDIA, of AMD, under WSL, and of Intel and others."""


def accelerators() -> int:
    """How many GPUs torch can use by CUDA or ROCm."""
    torch = _torch()
    return torch.cuda.device_count() if torch else 0


def has_cuda() -> bool:
    """Whether torch can use a GPU by CUDA or ROCm."""
    torch = _torch()
    return bool(torch and torch.cuda.is_available())


def has_accelerator() -> bool:
    """Whether torch can use an accelerator of any kind."""
    torch = _torch()
    return bool(torch and getattr(torch, "accelerator", torch.cuda).is_available())


def torch_version() -> str:
    """The version of torch, with what its build adds ("2.13.0+cpu")."""
    if "torch" in sys.modules:
        return str(sys.modules["torch"].__version__)
    try:
        return version("torch")
    except PackageNotFoundError:
        return "unknown"


def _torch() -> Any:
    """torch, or None where it is not needed to know that there is nothing."""
    plain = sys.platform == "linux" and not any((Path("/dev") / name).exists() for name in DEVICES)
    if plain and "torch" not in sys.modules:
        return None
    import torch

    return torch
