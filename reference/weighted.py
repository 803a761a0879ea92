"""Indices drawn by weight.

torch.multinomial would do, but for three things: it fails beyond 2**24 weights, it gives zero
weights when the others run out (https://github.com/pytorch/pytorch/issues/50034), and it finds
faults with the weights only in the first pass. Its two methods take a line each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from reference import arguments
from reference.sampler import Sampler, python_ints


class WeightedRandomSampler(Sampler[int]):
    """Yields `num_samples` indices, each with a probability proportional to its weight.

    weights: shape (n,), any numeric type; copied into a float64 tensor, scaled by a power of two.
    An index of weight 0 is never yielded. Without replacement all indices of a pass are distinct,
    and heavy ones come early, so that only the first draw has the given proportions.
    For the same `generator` seed or `torch.manual_seed`, the sequence is that of torch.utils.data.

    Raises ValueError for weights that are empty, not 1-D, negative, NaN, infinite or all zero, and
    for more samples without replacement than there are weights above 0.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        self.weights = arguments.weights("weights", weights)
        self.num_samples = arguments.integer("num_samples", num_samples, 1)
        self.replacement = arguments.boolean("replacement", replacement)
        self.generator = arguments.generator("generator", generator)
        positive = int(self.weights.count_nonzero())
        if not replacement and self.num_samples > positive:
            raise ValueError(
                f"num_samples is {self.num_samples}, but without replacement it can be at most"
                f" {positive}, the number of weights above 0"
            )

    def __iter__(self) -> Iterator[int]:
        yield from python_ints(self._search() if self._independent() else self._race())

    def __len__(self) -> int:
        return self.num_samples

    def _independent(self) -> bool:
        return self.replacement and self.num_samples > 1  # torch lets a single draw race

    def _search(self) -> torch.Tensor:
        """Independent draws: index i where a uniform variate falls into the i-th interval."""
        upper = self.weights.cumsum(0)
        upper /= upper[-1].clone()
        uniform = torch.rand(
            self.num_samples, generator=self.generator, dtype=torch.double, device="cpu"
        )
        # Intervals are closed on the left, or 0.0 would fall into a leading one of no width.
        return torch.searchsorted(upper, uniform, right=True)

    def _race(self) -> torch.Tensor:
        """Distinct draws: index i arrives after an exponential time of rate weights[i].

        The order of arrival is that of drawing one by one and renormalising (Efraimidis and
        Spirakis, Weighted random sampling with a reservoir, 2006).
        """
        times = torch.empty_like(self.weights).exponential_(generator=self.generator)
        times.clamp_(min=2.0**-1000)  # exactly 0 may be drawn, and 0 / 0 would come first
        return torch.div(self.weights, times, out=times).topk(self.num_samples).indices
