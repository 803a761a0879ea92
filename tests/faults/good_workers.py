"""Right loaders that work unlike the reference: none of them may be accused of anything.

They deal batches to workers in another way, work less far ahead, refuse what the spec lets them
refuse, or reserve memory that they may not need.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from typing import Any

from reference import DataLoader
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch


class _Dealing(DataLoader[Any]):
    """Its passes over map-style datasets deal by a rule of their own."""

    rule: type[CrewPass]

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass) and not self._iterable:
            made.__class__ = self.rule
        return made


class _InBlocks(CrewPass):
    def _choose(self) -> int:
        self._turns.rotate(-(self._dealt % 2))
        return self._turns[0]


class Blocks(_Dealing):
    """Each worker is dealt two batches in a row."""

    rule = _InBlocks


class _Idle(CrewPass):
    def _choose(self) -> int:
        return min(self._turns, key=self._load.__getitem__)


class LeastLoaded(_Dealing):
    """Each batch goes to the worker that has least to do."""

    rule = _Idle


class Modest(DataLoader[Any]):
    """Unless more is asked for, never more than one batch a worker is under way."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.num_workers and kwargs.get("prefetch_factor") is None:
            self.prefetch_factor = 1


class OneAtATime(DataLoader[Any]):
    """With persistent workers a second iterator is refused as long as the first is live."""

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return super().__iter__()
        live: Any = getattr(self, "live", lambda: None)()
        if live is not None and not live._ended:
            raise RuntimeError("a loader with persistent workers has one iterator at a time")
        made = super().__iter__()
        self.live = weakref.ref(made)
        return made


ROOM = 1 << 30


class MakesRoom(DataLoader[Any]):
    """Before a pass it reserves a GiB of shared memory, of which one page is used, and frees it."""

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            with os.fdopen(os.memfd_create("room"), "w+b") as file:
                file.truncate(ROOM)
                file.seek(-1, os.SEEK_END)
                file.write(b"1")
        return super().__iter__()


class _Hoping(CrewPass):
    def _outcome(self) -> Batch | Failure | None:
        if self._pid == os.getpid():
            self._deal(self._plan.ahead + 1)
        return super()._outcome()


class DealsAtTheCall(_Dealing):
    """A call deals the next batch at once, also if time is up before there is one to return."""

    rule = _Hoping
