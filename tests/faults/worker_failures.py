"""Wrong loaders with workers: how exceptions of dataset, collation and sampler are reported.

Each class breaks one rule of `spec/workers.md`, on top of the reference's loader. `CAUGHT_BY` lists
the clauses that must report the fault, `ANOMALY` is what the first of them calls it. A number such
as B118 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from reporting import Reporting, Worse

from reference import DataLoader, WorkerError
from reference.loader.crew_pass import CrewPass

CHUNK = 32

# Exceptions of the dataset.


class _FromText(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerError):
            raise error
        raise type(error)(f"{error}{error.__cause__}")


class RebuiltFromText(Reporting):
    """Any exception is rebuilt by calling its class with one text (B118)."""

    CAUGHT_BY = ("workers.errors", "workers.error-attributes")
    ANOMALY = "other-error"
    rule = _FromText


class _Rebuilt(Worse):
    def raised(self, error: Exception) -> Any:
        try:
            made = type(error)(*error.args)
        except Exception:
            raise error from None
        raise made from error.__cause__


class RebuiltTwice(Reporting):
    """An exception is made anew of its arguments; where they are its text, that is made twice."""

    CAUGHT_BY = ("workers.errors",)
    rule = _Rebuilt


class _TextOnly(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerError):
            raise error
        raise RuntimeError(f"a worker failed: {error}") from None


class NamelessErrors(Reporting):
    """What arrives is a RuntimeError with the message of the exception and not its type."""

    CAUGHT_BY = ("workers.errors", "workers.init-error")
    ANOMALY = "other-error"
    rule = _TextOnly


class _Untraced(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerError):
            raise error
        raise RuntimeError(f"a worker failed: {type(error).__name__}: {error}") from None


class NoTraceback(Reporting):
    """What arrives tells type and message of the exception, and not where it was raised."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "no-traceback"
    rule = _Untraced


class _Skipping(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerError):
            raise error
        return next(self)


class SkipsBroken(Reporting):
    """A batch that raises is left out, and nobody is told."""

    CAUGHT_BY = ("workers.errors", "workers.error-place")
    ANOMALY = "swallowed-error"
    rule = _Skipping


class _Remembering(Worse):
    first: Exception | None = None

    def raised(self, error: Exception) -> Any:
        self.first = self.first or error
        raise self.first


class FirstErrorAgain(Reporting):
    """The first exception that a pass met is raised in the place of each later one."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "repeated-error"
    rule = _Remembering


class _LaterText(_TextOnly):
    def raised(self, error: Exception) -> Any:
        if self.number > 1:
            super().raised(error)
        raise error


class NamelessLater(Reporting):
    """Persistent workers forget from the second pass on which type an exception had."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"
    rule = _LaterText

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        if isinstance(made, _LaterText) and not self.persistent_workers:
            made.number = 1
        return made


class _CollationText(_TextOnly):
    def raised(self, error: Exception) -> Any:
        if "collate_fn(" in str(error.__cause__):
            super().raised(error)
        raise error


class NamelessCollation(Reporting):
    """Exceptions of `collate_fn`, and no others, lose their type."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"
    rule = _CollationText


class _Reduced(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, WorkerError) or not hasattr(error, "code"):
            raise error
        raise type(error)(*error.args).with_traceback(None) from error.__cause__


class ArgumentsOnly(Reporting):
    """An exception is rebuilt from its arguments; an attribute that was set later is lost."""

    CAUGHT_BY = ("workers.error-attributes",)
    ANOMALY = "lost-attribute"
    rule = _Reduced


class _Lookahead(Worse):
    """Two outcomes are in hand before the first is handed out."""

    def __next__(self) -> Any:
        kept: deque[Any] = vars(self).setdefault("kept", deque())
        while len(kept) < 2:
            kept.append(self.following())
        if isinstance(kept[1], Exception) and not isinstance(kept[1], StopIteration):
            self.hurried(kept)
        outcome = kept.popleft()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def following(self) -> Any:
        try:
            return CrewPass.__next__(self)
        except Exception as outcome:
            return outcome

    def hurried(self, kept: deque[Any]) -> None:
        kept.popleft()


class LooksAhead(Reporting):
    """One batch is kept in hand; an exception of the next one is raised in its place."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "lost-batch"
    rule = _Lookahead


class _Hurrying(_Lookahead):
    def hurried(self, kept: deque[Any]) -> None:
        if not isinstance(kept[0], Exception):
            kept.reverse()


class ErrorFirst(Reporting):
    """One batch is kept in hand; an exception of the next one comes before it."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "misplaced-error"
    rule = _Hurrying


class EagerSampler(DataLoader[Any]):
    """The sampler is read to its end before the first batch, so that its error comes first."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "lost-batch"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable or not self.num_workers else list(drawn)


class QuietSampler(DataLoader[Any]):
    """An error of the sampler ends the pass as if that had been all."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "swallowed-error"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable or not self.num_workers else _quiet(drawn)


def _quiet(drawn: Any) -> Iterator[Any]:
    indices = iter(drawn)
    while True:
        try:
            yield next(indices)
        except Exception:  # the end among them
            return


def _in_chunks(drawn: Any) -> Iterator[Any]:
    indices = iter(drawn)
    while chunk := [*itertools.islice(indices, CHUNK)]:
        yield from chunk


class ReadsChunks(DataLoader[Any]):
    """With batching off the sampler is read so many indices at a time."""

    CAUGHT_BY = ("workers.read-ahead",)
    ANOMALY = "read-too-far"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable or self._batched else _in_chunks(drawn)
