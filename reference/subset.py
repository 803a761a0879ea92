"""Given indices in random order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from reference import arguments
from reference.sampler import Sampler, python_ints


class SubsetRandomSampler(Sampler[int]):
    """Yields each of the given indices once, in random order, as Python ints.

    indices: integers, shape (count,), as a sequence, array or tensor; copied into an int64 tensor,
    since the elements of a tensor would not do as list indices or as keys
    (https://github.com/pytorch/pytorch/issues/17466).
    For the same `generator` seed or `torch.manual_seed`, the sequence is that of torch.utils.data.

    Raises TypeError for indices that are not integers or that are not 1-D.
    """

    def __init__(self, indices: Sequence[int], generator: torch.Generator | None = None) -> None:
        checked = [arguments.integer("indices", i) for i in arguments.elements("indices", indices)]
        self.indices = torch.tensor(checked, dtype=torch.int64, device="cpu")
        self.generator = arguments.generator("generator", generator)

    def __iter__(self) -> Iterator[int]:
        order = torch.randperm(len(self.indices), generator=self.generator, device="cpu")
        yield from python_ints(self.indices[order])

    def __len__(self) -> int:
        return len(self.indices)
