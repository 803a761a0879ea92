"""A module whose declared policies are not what it does (`distributed.policy`)."""

from __future__ import annotations

import torch
from honest import DistributedSampler

CONFORMANCE = {"policies": {"pads": "wrap", "divides": "contiguous"}}


class SaysContiguous(DistributedSampler):
    """Declares blocks and reads interleaved places."""

    CAUGHT_BY = ("distributed.policy", "distributed.order")
    ANOMALY = "policy-not-kept"


class SaysWrap(DistributedSampler):
    """Declares padding from the start of the sequence and pads with its end."""

    CAUGHT_BY = ("distributed.policy",)
    ANOMALY = "policy-not-kept"

    def _places(self, n: int) -> torch.Tensor:
        own = torch.arange(self._share(n)) + self.rank * self._share(n)
        return torch.where(own < n, own, max(n, 1) - 1 - own % max(n, 1))
