"""Right: each rank reads one block of the global order, and says so nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from honest import DistributedSampler


class UndeclaredBlocks(DistributedSampler):
    """Reads the r-th block of the global order, continued from its own start."""

    def __iter__(self) -> Iterator[int]:
        n, share = len(self.dataset), len(self)
        order = self._order(n).tolist()
        return iter([order[(self.rank * share + k) % n] for k in range(share)])
