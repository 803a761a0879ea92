"""Right: each rank reads one block of the global order, and the module says so."""

from __future__ import annotations

from collections.abc import Iterator

from honest import DistributedSampler

CONFORMANCE = {"policies": {"pads": "wrap", "divides": "contiguous"}}


class Blocks(DistributedSampler):
    """Reads the r-th block of the global order, continued from its own start."""

    def __iter__(self) -> Iterator[int]:
        n, share = len(self.dataset), len(self)
        order = self._order(n).tolist()
        return iter([order[(self.rank * share + k) % n] for k in range(share)])
