"""Wrong loaders of streams: workers that have unequal parts, or whose stream raises.

Each class breaks a rule of `spec/iterable.md` or of `spec/workers.md`, on top of the reference's
loader. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of
them calls it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from reporting import Reporting, Worse
from torch.utils.data import IterableDataset

from reference import DataLoader
from reference.loader import worker
from reference.loader.crew_pass import CrewPass
from reference.loader.worker import WorkerInfo

# Parts of unequal length.


class _Hasty(Worse):
    def _arrived(self, member: Any, message: Any) -> None:
        super()._arrived(member, message)
        if member.id not in self._turns and not self._items:
            self._turns.clear()


class NobodyElse(Reporting):
    """If the first answer of a pass is that a worker has no data, nobody is asked any more."""

    CAUGHT_BY = ("iterable.no-data", "iterable.once")
    ANOMALY = "ended-with-it"
    rule = _Hasty


class _Backwards(Worse):
    def _arrived(self, member: Any, message: Any) -> None:
        turns = len(self._turns)
        super()._arrived(member, message)
        if len(self._turns) < turns:
            self._turns.reverse()


class TurnsBackwards(Reporting):
    """When a worker has ended, the others take turns in the opposite direction from then on."""

    CAUGHT_BY = ("iterable.order",)
    rule = _Backwards


class _GoesOn(Worse):
    def _deal(self, ahead: int) -> None:
        super()._deal(ahead)
        self._crew.first = self._turns[0] if self._turns else 0  # type: ignore[attr-defined]


class TurnOfTheLastPass(Reporting):
    """Once they are under way, standing workers go on with the turn at which the last pass was
    left."""

    CAUGHT_BY = ("iterable.order",)
    rule = _GoesOn

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made._turns.rotate(-vars(made._crew).get("first", 0))
        return made


class _IdleFirst(Worse):
    def _choose(self) -> int:
        if self._plan.recipe.iterable and len(self._turns) < len(self._load):
            self._turns.rotate(-self._turns.index(min(self._turns, key=self._load.__getitem__)))
        return super()._choose()


class IdleOnesFirst(Reporting):
    """Once a worker has ended, the turn is that of the one of the others that has least to do."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"
    rule = _IdleFirst


class _OneForAll(Worse):
    def _merged_tails(self) -> Iterator[Any]:
        return itertools.islice(super()._merged_tails(), 1)


class OneTailForAll(Reporting):
    """With drop_last, what is left over of all workers makes one batch, however much it is."""

    CAUGHT_BY = ("iterable.drop-total",)
    rule = _OneForAll


class _AsTheyCame(Worse):
    def _merged_tails(self) -> Iterator[Any]:
        self._tails = dict(enumerate(self._tails.values()))
        return super()._merged_tails()


class TailsAsTheyCome(Reporting):
    """With drop_last, what is left over of the workers is put together in the order of arrival."""

    CAUGHT_BY = ("iterable.order",)
    rule = _AsTheyCame


# Streams that raise.


class _Around(IterableDataset[Any]):
    """A dataset around the caller's; `size` is the loader's batch size."""

    def __init__(self, dataset: Any, size: int | None) -> None:
        self.dataset, self.size = dataset, size or 1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dataset" not in vars(self):
            raise AttributeError(name)
        return getattr(self.dataset, name)


class _Wrapping(DataLoader[Any]):
    around: type[_Around]

    def __init__(self, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
        if isinstance(dataset, IterableDataset):
            dataset = self.around(dataset, batch_size)
        super().__init__(dataset, batch_size, *args, **kwargs)


class _Quiet(_Around):
    def __iter__(self) -> Iterator[Any]:
        given, elements = 0, iter(self.dataset)
        while True:
            try:
                element = next(elements)
            except StopIteration:
                return
            except Exception:
                if given % self.size:
                    return
                raise
            given += 1
            yield element


class QuietMidBatch(_Wrapping):
    """An error of a stream in the midst of a batch is taken for the stream's end."""

    CAUGHT_BY = ("workers.errors", "loader.errors")
    ANOMALY = "swallowed-error"
    around = _Quiet


class _Again(_Around):
    def __iter__(self) -> Iterator[Any]:
        return _Restarting(self.dataset)


class _Restarting(Iterator[Any]):
    def __init__(self, dataset: Any) -> None:
        self.dataset, self.elements = dataset, iter(dataset)

    def __next__(self) -> Any:
        try:
            return next(self.elements)
        except StopIteration:
            raise
        except Exception:
            self.elements = iter(self.dataset)
            raise


class StreamsAgain(_Wrapping):
    """After an error of a stream its `__iter__` is called again, and it begins anew."""

    CAUGHT_BY = ("iterable.ends", "iterable.once")
    ANOMALY = "iterated-again"
    around = _Again


# What standing workers are told.


class _ToldOnce:
    """Keeps the dataset of the first pass, and says again in each pass that this is it."""

    def __init__(self, init: Any) -> None:
        self.init, self.first = init, None

    def __call__(self, number: int) -> None:
        told = worker._info
        assert told is not None
        self.first = told.dataset if self.first is None else self.first
        worker._info = WorkerInfo(told.id, told.num_workers, told.seed, self.first)
        if self.init is not None:
            self.init(number)


class InfoOfTheFirstPass(DataLoader[Any]):
    """Standing workers are told of the copy that they had in the first pass."""

    CAUGHT_BY = ("iterable.worker-info",)
    ANOMALY = "not-its-copy"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.num_workers:
            self.worker_init_fn = _ToldOnce(self.worker_init_fn)


# What is left over.


class TailsOfTheLoader(DataLoader[Any]):
    """What the workers had too little of for a batch is kept by the loader, for all its passes."""

    CAUGHT_BY = ("loader.independent",)
    ANOMALY = "iterators-entangled"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tails: dict[int, list[Any]] = {}

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            self.tails.clear()
            made._tails = self.tails
        return made
