"""Wrong loaders with workers: how a failed start of a worker is reported, and what follows.

Each class breaks one rule of `spec/workers.md`, on top of the reference's loader. `CAUGHT_BY` lists
the clauses that must report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from typing import Any

from reporting import Reporting, Worse, wait_for_ever
from worker_shortcuts import _Benched

from reference import DataLoader
from reference.loader.bench import Bench
from reference.loader.crew import Crew
from reference.loader.worker import Job


class _Once(Worse):
    def raised(self, error: Exception) -> Any:
        lasting, self._last = self._last, None
        if lasting is not None:
            self._ended = True
        raise error


class ReportsStartOnce(Reporting):
    """A failed start is reported once, and the pass is then at its end."""

    CAUGHT_BY = ("workers.init-error", "workers.dead-iterator")
    ANOMALY = "ends"
    rule = _Once


class _Vague(Worse):
    told = False

    def raised(self, error: Exception) -> Any:
        if self._last is None or not self.told:
            self.told = self._last is not None
            raise error
        raise RuntimeError("this iterator has failed")


class VagueLater(Reporting):
    """A failed start is reported as itself once, and later by a word without a reason."""

    CAUGHT_BY = ("workers.init-error",)
    ANOMALY = "changed-error"
    rule = _Vague


class _Greeted(Worse):
    spawned = False

    def raised(self, error: Exception) -> Any:
        if self.spawned and "exit code" in str(error):
            wait_for_ever()
        raise error


class WaitsForGreetings(Reporting):
    """A spawned worker that ends before it has begun is waited for, as it has not said a word."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    rule = _Greeted

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, _Greeted):
            made.spawned = self.multiprocessing_context is not None
        return made


class TakesTheStartForTheCaller(DataLoader[Any]):
    """Tensors that the start of a worker has shared are taken for the caller's, and not sent."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._bench._shared = True


class IgnoresInit(DataLoader[Any]):
    """A `worker_init_fn` that fails is taken for one that has nothing to do."""

    CAUGHT_BY = ("workers.init-error",)
    ANOMALY = "swallowed-error"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.worker_init_fn is not None:
            self.worker_init_fn = _Forgiving(self.worker_init_fn)


class _Forgiving:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, worker: int) -> None:
        with contextlib.suppress(Exception):
            self.function(worker)


class KnowsNamesOnly(DataLoader[Any]):
    """A `multiprocessing_context` that is no name of a start method is refused."""

    CAUGHT_BY = ("workers.start-method",)
    ANOMALY = "refused"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = kwargs.get("multiprocessing_context")
        if given is not None and given not in multiprocessing.get_all_start_methods():
            raise ValueError(f"there is no start method {given!r}")
        super().__init__(*args, **kwargs)


class ForksForContexts(DataLoader[Any]):
    """A context that is given instead of a name is dropped, and workers start as by default."""

    CAUGHT_BY = ("workers.start-method",)
    ANOMALY = "forked"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if isinstance(kwargs.get("multiprocessing_context"), BaseContext):
            del kwargs["multiprocessing_context"]
        super().__init__(*args, **kwargs)


class _ForksInNeed(Bench):
    def begin(self, job: Job, context: BaseContext, seed: int) -> Crew:
        try:
            return super().begin(job, context, seed)
        except TypeError:
            return super().begin(job, multiprocessing.get_context("fork"), seed)


class ForksWhatCannotBeSent(_Benched):
    """Workers for whom an argument cannot be sent are forked, whatever start method was asked."""

    CAUGHT_BY = ("workers.start-method",)
    ANOMALY = "forked"
    bench = _ForksInNeed


class AlwaysForks(DataLoader[Any]):
    """`multiprocessing_context` is taken and looked at, and workers are forked whatever it says."""

    CAUGHT_BY = ("workers.start-method",)
    ANOMALY = "forked"

    @property
    def _context(self) -> BaseContext:
        return multiprocessing.get_context("fork")


class SpawnsForContexts(DataLoader[Any]):
    """Of a context no more is taken than that it was given: workers are spawned then."""

    CAUGHT_BY = ("workers.start-method",)
    ANOMALY = "not-forked"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if isinstance(kwargs.get("multiprocessing_context"), BaseContext):
            kwargs["multiprocessing_context"] = "spawn"
        super().__init__(*args, **kwargs)


class NeverKeeps(DataLoader[Any]):
    """`persistent_workers` is checked and noted, and each pass starts workers of its own."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"

    def __iter__(self) -> Iterator[Any]:
        self._bench = Bench(False)
        return super().__iter__()


class KeepsSeveral(DataLoader[Any]):
    """A single worker is not worth keeping: only two or more live on."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 1:
            self._bench = Bench(False)
        return super().__iter__()


class RenewsEachSecond(DataLoader[Any]):
    """Workers serve for two passes, and are then replaced against leaks."""

    CAUGHT_BY = ("workers.kept",)
    ANOMALY = "started-anew"
    passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        if self.passes % 2 and self.persistent_workers:
            self._bench = Bench(True)
        return super().__iter__()
