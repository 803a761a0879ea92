"""Right: the extra places repeat the last real item of the order, and the module says so."""

from __future__ import annotations

from collections.abc import Iterator

from honest import DistributedSampler

CONFORMANCE = {"policies": {"pads": "repeat", "divides": "interleaved"}}


class RepeatsLast(DistributedSampler):
    """Pads with one index, as often as needed."""

    def __iter__(self) -> Iterator[int]:
        n, width = len(self.dataset), self.num_replicas
        order = self._order(n).tolist()
        places = [k * width + self.rank for k in range(len(self))]
        return iter([order[min(place, n - 1)] for place in places])
