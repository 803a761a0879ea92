"""A random order of the data, or draws with replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sized

import torch

from reference import arguments
from reference.sampler import Sampler, python_ints


class RandomSampler(Sampler[int]):
    """Yields `num_samples` random indices (default: n, the length of the data).

    Without replacement, each block of n is a permutation, and the last block may be cut short.
    For the same `generator` seed or `torch.manual_seed`, the sequence is that of torch.utils.data.

    Raises TypeError for arguments of the wrong type, and ValueError for `num_samples` below 1 or
    when something has to be drawn from empty data.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.data_source = arguments.sized("data_source", data_source)
        self.replacement = arguments.boolean("replacement", replacement)
        self._num_samples = (
            None if num_samples is None else arguments.integer("num_samples", num_samples, 1)
        )
        self.generator = arguments.generator("generator", generator)
        if num_samples is not None:
            self._refuse_empty_data()

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        if count == 0:
            return
        self._refuse_empty_data()
        # One draw from the global generator per pass: what others draw meanwhile changes nothing.
        generator = self.generator or torch.Generator().manual_seed(_global_seed())
        if self.replacement:
            draws = torch.randint(n, (count,), generator=generator, device="cpu")
            yield from python_ints(draws)
            return
        # torch ends with a partial block even where it is empty, and the next pass shows it.
        starts = range(0, count + 1, n)
        blocks = [torch.randperm(n, generator=generator, device="cpu") for _ in starts]
        for start, block in zip(starts, blocks, strict=True):
            yield from python_ints(block[: count - start])

    def __len__(self) -> int:
        return self.num_samples

    def _refuse_empty_data(self) -> None:
        if not len(self.data_source):
            raise ValueError("data_source is empty: there is nothing to draw from")


def _global_seed() -> int:
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_().item())
