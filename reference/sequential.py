"""Every index once, in ascending order."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from reference import arguments
from reference.sampler import Sampler


class SequentialSampler(Sampler[int]):
    """Yields 0, 1, ..., n - 1, where n is the length of the data when the pass starts.

    Raises TypeError for data without a length.
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = arguments.sized("data_source", data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)
