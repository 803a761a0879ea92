"""A right `get_worker_info` as a class, made to be broken by those that derive from it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from torch.utils import data


class get_worker_info:
    """Calling it tells what torch tells; `told` is what a fault replaces."""

    def __new__(cls) -> Any:
        info = data.get_worker_info()
        return cls.main() if info is None else cls.told(info)

    @classmethod
    def main(cls) -> Any:
        """What is told in the main process."""
        return None

    @classmethod
    def told(cls, info: Any) -> Any:
        """What is told in a worker."""
        return SimpleNamespace(**cls.facts(info))

    @staticmethod
    def facts(info: Any) -> dict[str, Any]:
        """The four facts, by name."""
        names = ("id", "num_workers", "seed", "dataset")
        return {name: getattr(info, name) for name in names}
