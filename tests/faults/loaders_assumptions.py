"""Wrong loaders: what their authors took for granted of elements, batches, seeds and texts.

Each class breaks one rule of `spec/loader.md`, `spec/workers.md`, `spec/iterable.md` or
`spec/lifecycle.md`. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the
first of them calls it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import plain_loader
import torch
from loaders import _Collates
from plain_loader import Crew
from reporting import Reporting, Worse
from stream_turns import _Around, _Wrapping
from torch.utils.data import IterableDataset
from worker_streams import _seed_all, _Seeding

from reference import DataLoader, RandomSampler, default_collate

# Elements and batches.


class FirstDecides(_Collates):
    """The type of the first number of a batch is that of all."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        if type(samples[0]) is int:
            return torch.tensor([int(sample) for sample in samples])
        return default_collate(samples)


class ShortMeansEnd(DataLoader[Any]):
    """A batch of fewer than `batch_size` samples is the last one."""

    CAUGHT_BY = ("loader.batches", "iterable.once")
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            yield batch
            if isinstance(batch, list) and len(batch) < (self.batch_size or 0):
                return


class _UntilNone(_Around):
    def __iter__(self) -> Iterator[Any]:
        elements = iter(self.dataset)
        while (element := next(elements, None)) is not None:
            yield element


class NoneIsTheEnd(_Wrapping):
    """A stream has ended where it gives None."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"
    around = _UntilNone


class ResumesStreams(DataLoader[Any]):
    """Without workers a pass over a stream goes on where the last one was broken off."""

    CAUGHT_BY = ("iterable.once",)
    ANOMALY = "element-lost"

    kept: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if not self._iterable or self.num_workers:
            yield from super().__iter__()
            return
        self.kept = self.kept or super().__iter__()
        yield from self.kept
        self.kept = None


# Seeds.


class SeedsOfWholePasses(_Seeding):
    """The seed advances at the end of a pass: after one that was broken off it is the same."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "passes-alike"

    def __iter__(self) -> Iterator[Any]:
        begun = super().__iter__()
        self.passes -= 1
        yield from begun
        self.passes += 1

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(1000 * given + 100 * passes + worker)


class EightSeeds(_Seeding):
    """There are seeds for eight workers; the ninth has that of the first."""

    CAUGHT_BY = ("workers.seeds",)
    ANOMALY = "workers-alike"

    @staticmethod
    def seed(worker: int, passes: int, given: int) -> None:
        _seed_all(1000 * given + 8 * passes + worker % 8)


# Texts and threads.


class _Encoding(Worse):
    def raised(self, error: Exception) -> Any:
        str(error).encode()
        raise error


class EncodesTexts(Reporting):
    """The text of an exception is sent as UTF-8, which not every text can be."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"
    rule = _Encoding


class WatchdogLeft(DataLoader[Any]):
    """A timer that watches over `timeout` is started for each pass, and runs on after it."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-alive"

    def __iter__(self) -> Iterator[Any]:
        if self.timeout:
            watchdog = threading.Timer(self.timeout, print, ("late",))
            watchdog.daemon = True
            watchdog.start()
        return super().__iter__()


# Passes.


class _OneOrder(RandomSampler):
    order: list[int] | None = None

    def __iter__(self) -> Iterator[int]:
        self.order = [] if self.order is None else self.order
        self.order[:] = super().__iter__()
        return iter(self.order)


class OneOrderForAll(DataLoader[Any]):
    """Each pass shuffles the list of indices that the passes before it still read."""

    CAUGHT_BY = ("loader.independent",)
    ANOMALY = "iterators-entangled"

    def _own_sampler(self, shuffled: bool) -> Any:
        if shuffled:
            return _OneOrder(self.dataset, generator=self.generator)
        return super()._own_sampler(shuffled)


class DrawsForStreams(DataLoader[Any]):
    """Workers of a stream get a seed of their own, for which one more number is drawn."""

    CAUGHT_BY = ("loader.draws-alike",)
    ANOMALY = "draws-otherwise"

    def __iter__(self) -> Iterator[Any]:
        if self._iterable and self.num_workers:
            torch.randint(1 << 30, (), generator=self.generator)
        return super().__iter__()


class _Clearing(Worse):
    def raised(self, error: Exception) -> Any:
        while self._buffer and not self._plan.in_order:
            self._delivered += 1
            self._buffer.pop()
        raise error


class LosesWhatCameWithIt(Reporting):
    """With `in_order=False`, batches that have come when an error is raised are lost."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "other-batches"
    rule = _Clearing


class _SinceDelivery(Worse):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        finally:
            self.last = time.monotonic()

    def _wait(self, deadline: float) -> None:
        super()._wait(getattr(self, "last", deadline) + self._plan.timeout_s)


class TimesTheCaller(Reporting):
    """`timeout` counts from the last delivery: what the caller does meanwhile counts, too."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "early-timeout"
    rule = _SinceDelivery


class _Skipping(Crew):
    def work(self, worker: int, pipe: Any) -> None:
        while True:
            try:
                super().work(worker, pipe)
            except OSError:
                raise
            except Exception:
                continue


class SkipsUnreadable(plain_loader.DataLoader):
    """A worker gives no answer to an index that it cannot unpickle, and is waited for."""

    CAUGHT_BY = ("workers.no-hang",)
    ANOMALY = "hang"
    crews = _Skipping


class CopiesTheTop(DataLoader[Any]):
    """Where batching is off, a tensor is copied, but not one that an item holds."""

    CAUGHT_BY = ("loader.reused-buffer",)
    ANOMALY = "overwritten"

    def __init__(self, dataset: Any, batch_size: int | None = 1, **options: Any) -> None:
        if batch_size is None and options.get("collate_fn") is None:
            options["collate_fn"] = _top_copied
        super().__init__(dataset, batch_size, **options)


def _top_copied(sample: Any) -> Any:
    return sample.clone() if isinstance(sample, torch.Tensor) else sample


class _OneAhead(IterableDataset[Any]):
    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        elements = iter(self.dataset)
        held = [*itertools.islice(elements, 1)]
        for element in elements:
            yield held.pop()
            held.append(element)
        yield from held


class LooksForTheEnd(DataLoader[Any]):
    """A worker reads one element more of its stream, to know whether there is another."""

    CAUGHT_BY = ("workers.backpressure",)
    ANOMALY = "fetched-too-far"

    def __init__(self, dataset: Any, *args: Any, **options: Any) -> None:
        ahead = isinstance(dataset, IterableDataset) and options.get("num_workers")
        super().__init__(_OneAhead(dataset) if ahead else dataset, *args, **options)
