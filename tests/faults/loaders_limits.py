"""Wrong loaders: limits, types and exceptions that their authors had taken for their own.

Each class breaks one rule of `spec/loader.md` or `spec/workers.md` on top of the reference's
loader. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of
them calls it.
"""

from __future__ import annotations

import pickle
import queue
from collections.abc import Iterator
from typing import Any

import numpy as np
from reporting import Reporting, Worse, Wrapped

from reference import DataLoader

TEN = 10
PIECE = 128
TEXT_MAX = 32_000


class _Polling(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, (queue.Empty, queue.Full)):
            return next(self)
        raise error


class PollsOnEmpty(Reporting):
    """The dataset's own queue.Empty is taken for that of the loader's queue, and waited out."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "swallowed-error"
    rule = _Polling


class _WorkerFailed(RuntimeError):
    """What this loader raises for an exception of a worker."""


class _Cutting(Worse):
    def raised(self, error: Exception) -> Any:
        told = f"{type(error).__name__} in happen: {error}"
        if len(told) > TEXT_MAX:
            raise _WorkerFailed(told[:TEXT_MAX]) from None
        raise error


class CutsLongTexts(Reporting):
    """What a worker has to say of an exception is cut to the size of a buffer."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "changed-message"
    rule = _Cutting


class GivesUpAfterTen(DataLoader[Any]):
    """After ten errors in one pass nothing more is tried, and the pass is over."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "pass-ended"

    def __iter__(self) -> Iterator[Any]:
        return _Counting(super().__iter__())


class _Counting:
    def __init__(self, right: Iterator[Any]) -> None:
        self.right, self.errors = right, 0

    def __iter__(self) -> _Counting:
        return self

    def __next__(self) -> Any:
        if self.errors >= TEN:
            raise StopIteration
        try:
            return next(self.right)
        except StopIteration:
            raise
        except Exception:
            self.errors += 1
            raise


class _Retrying(Wrapped):
    """A dataset behind which a network is supposed."""

    def __getitem__(self, index: Any) -> Any:
        try:
            return self.dataset[index]
        except OSError:
            return self.dataset[index]


class TriesOnceMore(DataLoader[Any]):
    """An item that raises OSError is asked for again, and if it comes then nobody is told."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        plain = hasattr(dataset, "__getitem__") and not hasattr(dataset, "__getitems__")
        super().__init__(_Retrying(dataset) if plain else dataset, *args, **kwargs)


class EndsAtLeaks(DataLoader[Any]):
    """A RuntimeError that comes of a StopIteration is the end of the pass, whoever raised it."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"

    def __iter__(self) -> Iterator[Any]:
        return _Lenient(super().__iter__())


class _Lenient:
    def __init__(self, right: Iterator[Any]) -> None:
        self.right = right

    def __iter__(self) -> _Lenient:
        return self

    def __next__(self) -> Any:
        try:
            return next(self.right)
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):
                raise StopIteration from None
            raise


class _InPieces(Wrapped):
    """A dataset that is asked for a few items at a time."""

    def __getitems__(self, indices: Any) -> list[Any]:
        starts = range(0, len(indices), PIECE)
        return [x for k in starts for x in self.dataset.__getitems__(indices[k : k + PIECE])]


class AsksInPieces(DataLoader[Any]):
    """`__getitems__` of the dataset is called for 128 items at a time."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-otherwise"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        many = bool(getattr(dataset, "__getitems__", None)) and kwargs.get("batch_size", 1)
        super().__init__(_InPieces(dataset) if many else dataset, *args, **kwargs)


class _BareIndex(Wrapped):
    """A dataset that is asked for one index as if it were several."""

    def __getitem__(self, index: Any) -> Any:
        return self.dataset.__getitems__(index)


class ManyWithoutBatches(DataLoader[Any]):
    """`__getitems__` is preferred wherever it is, with batching off too: for a bare index."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        many = hasattr(dataset, "__getitems__") and kwargs.get("batch_size", 1) is None
        super().__init__(_BareIndex(dataset) if many else dataset, *args, **kwargs)


class IndicesAsArrays(DataLoader[Any]):
    """Indices travel as arrays, so that a pair of numbers comes to the dataset as a list."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        name = "sampler" if self.batch_sampler is None else "batch_sampler"
        order = getattr(self, name)
        object.__setattr__(self, name, map(_sent, order))
        try:
            return super().__iter__()
        finally:
            object.__setattr__(self, name, order)


def _sent(drawn: Any) -> Any:
    """An index, or a batch of them, as it comes out of an array of integers."""
    if isinstance(drawn, list) and any(isinstance(index, tuple) for index in drawn):
        return [_sent(index) for index in drawn]
    if not isinstance(drawn, tuple) or np.asarray(drawn).dtype.kind not in "iu":
        return drawn
    return np.asarray(drawn).tolist()


class KeepsUnpicklable(DataLoader[Any]):
    """With persistent workers a dataset that cannot be pickled stays as it was at first."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    first: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers):
            return super().__iter__()
        try:
            pickle.dumps(self.dataset)
        except Exception:
            now = dict(vars(self.dataset))
            self.first = self.first or now
            vars(self.dataset).update(self.first)
            try:
                return super().__iter__()
            finally:
                vars(self.dataset).update(now)
        return super().__iter__()
