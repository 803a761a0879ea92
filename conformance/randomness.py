"""torch's global generator, managed by Hypothesis as those of `random` and numpy are.

Hypothesis seeds what it manages before each case that it draws, and puts it back afterwards.
"""

from __future__ import annotations

import sys
from typing import Any

import hypothesis


class TorchRandom:
    """torch's global generator in the shape that Hypothesis manages.

    The CPU's alone: torch.manual_seed would remember a stack trace for every absent accelerator.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def seed(self, seed: int) -> None:
        self.torch.default_generator.manual_seed(seed)

    def getstate(self) -> Any:
        return self.torch.get_rng_state()

    def setstate(self, state: Any) -> None:
        self.torch.set_rng_state(state)


_MANAGED: list[TorchRandom] = []
"""Hypothesis holds what is registered weakly."""


def manage_torch() -> None:
    """Have it managed from now on, if this process has imported torch; else nothing can use it."""
    if "torch" in sys.modules and not _MANAGED:
        _MANAGED.append(TorchRandom(sys.modules["torch"]))
        hypothesis.register_random(_MANAGED[0])
