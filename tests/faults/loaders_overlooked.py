"""Loaders that overlook a rare meeting: the last batch and `iter()`, an end and a death, a `%`.

Each class breaks one rule of the chapters on loaders. `CAUGHT_BY` lists the clauses that must
report the fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from reporting import Reporting, Wrapped
from worker_shortcuts import _Benched

from reference import DataLoader
from reference.loader.bench import Bench
from reference.loader.collate import default_collate
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure, WorkerDied, WorkerError
from reference.loader.worker import Job


class _Renewed:
    """An iterator that may be given another pass."""

    def __init__(self, made: Iterator[Any], count: int) -> None:
        self.made, self.left = made, count

    def __iter__(self) -> _Renewed:
        return self

    def __next__(self) -> Any:
        found = next(self.made)
        self.left -= 1
        return found


class RenewsBeforeTheEnd(DataLoader[Any]):
    """An iterator that has given its last batch counts as ended, and is given the next pass."""

    CAUGHT_BY = ("workers.two-iterators",)
    ANOMALY = "iterators-entangled"
    newest: Any = None

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers or not hasattr(self.dataset, "__getitem__"):
            return super().__iter__()
        before = self.newest() if self.newest else None
        made = super().__iter__()
        with contextlib.suppress(TypeError):
            if before is not None and before.left == 0:
                before.made, before.left = made, len(self)
                return before
            before = _Renewed(made, len(self))
            self.newest = weakref.ref(before)
            return before
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "newest": None}


class _Watching(CrewPass):
    def __next__(self) -> Any:
        over = self._ended and self._last is None and self._pid == os.getpid()
        for member in self._crew.members if over else ():
            if member.process.exitcode is not None:
                raise WorkerDied(f"{member.name} of the DataLoader has died")
        return super().__next__()


class LooksAfterTheEnd(Reporting):
    """Each `next` first looks whether the workers live, also one that comes after the end."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"
    rule = _Watching


class _Sliced(Wrapped):
    """Neighbours are read as one slice."""

    def __getitems__(self, indices: Any) -> list[Any]:
        first, count = indices[0], len(indices)
        plain = all(type(index) is int for index in indices)
        if plain and count > 1 and [*indices] == [*range(first, first + count)]:
            found: list[Any] = self.dataset[first : first + count]
            return found
        return [self.dataset[index] for index in indices]


class SlicesNeighbours(DataLoader[Any]):
    """Neighbours in a list are read as a slice, of which none is left where it ends with -1."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        plain = type(dataset) is list
        super().__init__(_Sliced(dataset) if plain else dataset, *args, **options)


class _Marked(Wrapped):
    """Says of an error which item it was."""

    def __getitem__(self, index: Any) -> Any:
        try:
            return self.dataset[index]
        except Exception as error:
            with contextlib.suppress(Exception):
                error.index = index  # type: ignore[attr-defined]
            raise


class MarksErrors(DataLoader[Any]):
    """The index of an item is written on its error, over an attribute that it had by that name."""

    CAUGHT_BY = ("loader.errors", "workers.error-attributes")
    ANOMALY = "arguments-lost"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        plain = hasattr(dataset, "faults") or hasattr(dataset, "recipe")
        plain = plain and not hasattr(dataset, "__getitems__") and hasattr(dataset, "__getitem__")
        super().__init__(_Marked(dataset) if plain else dataset, *args, **options)


class _Templated(CrewPass):
    def _outcome(self) -> Any:
        outcome = super()._outcome()
        error = outcome.error if isinstance(outcome, Failure) else None
        if type(error) is not WorkerError:
            return outcome
        try:
            told = WorkerError(f"%s says {error}" % "a worker of the DataLoader")
        except Exception as second:
            return Failure(second, outcome.lasting)
        told.__cause__ = error.__cause__
        return Failure(told, outcome.lasting)


class TextAsTemplate(Reporting):
    """The text of an error that cannot be sent becomes part of a template, with its own `%`."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"
    rule = _Templated


def _as_far_as_the_shortest(samples: Any) -> Any:
    first = samples[0]
    if type(first) is list:
        return [default_collate(column) for column in zip(*samples, strict=False)]
    return default_collate(samples)


class CutsToTheShortest(DataLoader[Any]):
    """Lists of different lengths are collated as far as the shortest of them goes."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "items-cut"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _as_far_as_the_shortest


def _of_dicts(samples: Any) -> Any:
    first = samples[0]
    if isinstance(first, Mapping) and not isinstance(first, dict):
        return {key: [sample[key] for sample in samples] for key in first}
    return default_collate(samples)


class ListsMappings(DataLoader[Any]):
    """Of mappings that are no dicts the elements are listed, where those of a dict are stacked."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is default_collate:
            self.collate_fn = _of_dicts


class _TryingBench(Bench):
    def begin(self, job: Job, context: Any, seed: int) -> Any:
        if context.get_start_method() != "fork":
            try:
                pickle.dumps(job.dataset)
            except Exception as reason:
                raise TypeError(f"dataset cannot be sent to the workers: {reason}") from reason
        return super().begin(job, context, seed)


class TriesPickleFirst(_Benched):
    """What workers are started with is pickled before, to tell early whether that can be done."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "crash"
    bench = _TryingBench
