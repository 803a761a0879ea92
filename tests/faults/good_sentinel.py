"""Right: the extra places hold -1, and the module says so."""

from __future__ import annotations

from collections.abc import Iterator

from honest import DistributedSampler

CONFORMANCE = {"policies": {"pads": "sentinel", "sentinel": -1, "divides": "interleaved"}}


class Sentinel(DistributedSampler):
    """Pads with -1, so that an evaluation can tell what is real."""

    def __iter__(self) -> Iterator[int]:
        n, width = len(self.dataset), self.num_replicas
        order = self._order(n).tolist()
        places = [k * width + self.rank for k in range(len(self))]
        return iter([order[place] if place < n else -1 for place in places])
