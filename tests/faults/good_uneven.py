"""Right: nothing is padded, counts differ by one, and the module says so."""

from __future__ import annotations

from collections.abc import Iterator

from honest import DistributedSampler

CONFORMANCE = {"policies": {"pads": "none", "divides": "interleaved"}}


class Uneven(DistributedSampler):
    """The first ranks have one item more; with `drop_last=True` all have the same."""

    def __iter__(self) -> Iterator[int]:
        order = self._order(len(self.dataset)).tolist()
        return iter(order[self.rank :: self.num_replicas][: len(self)])

    def __len__(self) -> int:
        n, width = len(self.dataset), self.num_replicas
        return n // width + (not self.drop_last and self.rank < n % width)
