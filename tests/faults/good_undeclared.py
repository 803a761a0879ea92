"""Right, and nowhere declared: blocks of the global order, data that must keep their length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from honest import DistributedSampler


class UndeclaredBlocks(DistributedSampler):
    """Reads the r-th block of the global order, continued from its own start."""

    def __iter__(self) -> Iterator[int]:
        n, share = len(self.dataset), len(self)
        order = self._order(n).tolist()
        return iter([order[(self.rank * share + k) % n] for k in range(share)])


class _OtherLengthError(RuntimeError):
    """The dataset is not as long as it was."""


class RefusesAnotherLength(DistributedSampler):
    """Refuses data that have become longer or shorter, in `len` as in a pass."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.n = len(self.dataset)

    def __len__(self) -> int:
        if len(self.dataset) != self.n:
            raise _OtherLengthError(f"dataset had {self.n} items, and has {len(self.dataset)} now")
        return super().__len__()

    def __iter__(self) -> Iterator[int]:
        len(self)
        return super().__iter__()
