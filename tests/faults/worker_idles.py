"""Wrong loaders whose workers are idle while the caller is at work.

Each class breaks one rule of `spec/workers.md`, on top of the reference's loader. `CAUGHT_BY` lists
the clauses that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reporting import Reporting

from reference import DataLoader
from reference.loader.crew_pass import CrewPass


class _Ahead(DataLoader[Any]):
    """Once a pass has begun, `ahead` says how many batches are under way."""

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._plan = made._plan._replace(ahead=self.ahead(made._plan.ahead))
        return made

    def ahead(self, right: int) -> int:
        return right


class _Demanded(CrewPass):
    def _deal(self, ahead: int) -> None:
        pass

    def _wait(self, deadline: float) -> None:
        if self._dealt == self._delivered:
            super()._deal(1)
        if self._dealt > self._delivered:
            super()._wait(deadline)


class FetchesOnDemand(Reporting):
    """What is under way at the start is delivered, and then each batch is made when it is asked."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"
    rule = _Demanded


class CountsForAll(_Ahead):
    """`prefetch_factor` is taken for the number of batches of all workers together."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"

    def ahead(self, right: int) -> int:
        return self.prefetch_factor or 0


class OneForEach(_Ahead):
    """`prefetch_factor` counts at the start of a pass only, and later each worker has one batch."""

    CAUGHT_BY = ("workers.prefetch",)
    ANOMALY = "late-prefetch"

    def ahead(self, right: int) -> int:
        return self.num_workers


class _Emptied(CrewPass):
    def _deal(self, ahead: int) -> None:
        if self._dealt <= self._delivered + 1:
            super()._deal(ahead)


class RefillsWhenEmpty(Reporting):
    """Batches are dealt anew when the last of those under way is delivered."""

    CAUGHT_BY = ("workers.busy", "workers.prefetch")
    ANOMALY = "late-workers"
    rule = _Emptied
