"""Right loaders of streams that look unlike the reference: none of them may be accused.

They differ in what `spec/iterable.md` leaves free: lengths, warnings, which elements are dropped,
and what more a worker is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from honest_info import get_worker_info

import reference


class NoLengths(reference.DataLoader):  # type: ignore[type-arg]
    """No stream has a length, with workers or without."""

    def __len__(self) -> int:
        if self._iterable:
            raise TypeError("a stream has no length")
        return super().__len__()


class WarnsAtOnce(reference.DataLoader):  # type: ignore[type-arg]
    """It warns of every sized stream with several workers, before it has seen a repetition."""

    def __iter__(self) -> Iterator[Any]:
        if super()._declared() is not None and self.num_workers > 1:
            text = "a sized stream with several workers: does it divide itself?"
            warnings.warn(text, UserWarning, stacklevel=2)
        return super().__iter__()

    def _declared(self) -> None:
        return None


class TellsMore(get_worker_info):
    """What a worker is told has further attributes, and a seed of another kind."""

    @classmethod
    def told(cls, info: Any) -> Any:
        facts = cls.facts(info)
        seed = (info.seed - info.id) // 2 + info.id
        return SimpleNamespace(**facts | {"seed": seed}, rank=0, name=f"worker {info.id}")
