"""Right loaders that report failures unlike the reference: none may be accused of anything.

They wrap exceptions, tell a death in other words or at once, or start a dead worker again.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reporting import Reporting, Worse

from reference import DataLoader, WorkerDied


class _LoaderFailure(RuntimeError):
    """One error for all that goes wrong in a worker; the original is its cause."""


class _Wrapping(Worse):
    def raised(self, error: Exception) -> Any:
        if error.__cause__ is None:
            raise error
        told = f"{type(error).__name__}: {error}\n{error.__cause__}"
        raise _LoaderFailure(f"a worker failed with {told}") from error


class OneErrorForAll(Reporting):
    """What arrives is one error that holds type, message, traceback, and the exception itself."""

    rule = _Wrapping


class _OtherWords(Worse):
    def raised(self, error: Exception) -> Any:
        if not isinstance(error, WorkerDied):
            raise error
        worker, _, rest = str(error).partition(" (pid ")
        killed = re.search(r"signal (\d+)|(SIG\w+)", rest)
        if killed:
            number = killed[1] or signal.Signals[killed[2]].value
            raise OSError(f"{worker.replace(' ', ' number ')} got signal {number}")
        raise OSError(f"{worker.replace(' ', '-')}: exit status {rest.rpartition(' ')[2]}")


class TellsByNumber(Reporting):
    """A death is an OSError with the worker's number and that of the signal, or the status."""

    rule = _OtherWords


class _Abrupt(Worse):
    def __next__(self) -> Any:
        death = self._crew.death
        if death is not None:
            self._finish()
            raise death
        return super().__next__()


class AtOnce(Reporting):
    """A death is reported by the next call, though finished batches wait."""

    rule = _Abrupt


class StartsAgain(DataLoader[Any]):
    """A worker that died is started again; if the same batch kills it again, that is reported.

    What was drawn from the sampler is kept: another pass over it may have another order. Batches
    that come as they are ready are another pass the second time: no worker starts again.
    """

    drawn: Iterable[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers or not self.in_order:
            return super().__iter__()
        draws = _Remembered(super()._draws())
        return _Resuming(lambda: self._over(draws))

    def _over(self, draws: Iterable[Any]) -> Iterator[Any]:
        self.drawn = draws
        try:
            return super().__iter__()
        finally:
            self.drawn = None

    def _draws(self) -> Iterable[Any]:
        return super()._draws() if self.drawn is None else self.drawn


class _Remembered(Iterable[Any]):
    """One pass over a sampler, from its start each time; its error keeps its place."""

    def __init__(self, draws: Iterable[Any]) -> None:
        self.draws, self.so_far = draws, list[Any]()
        self.rest: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count():
            if place == len(self.so_far):
                self.so_far.append(self._next())
            if isinstance(self.so_far[place], StopIteration):
                return
            if isinstance(self.so_far[place], Exception):
                raise self.so_far[place]
            yield self.so_far[place]

    def _next(self) -> Any:
        try:
            self.rest = iter(self.draws) if self.rest is None else self.rest
            return next(self.rest)
        except Exception as error:
            return error


class _Resuming(Iterator[Any]):
    """A pass that is begun again when a worker has died, and goes on behind what it gave."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self.items, self.begin, self.calls, self.tried = begin(), begin, 0, -1

    def __next__(self) -> Any:
        try:
            item = next(self.items)
        except WorkerDied:
            if self.tried == self.calls:
                raise
            self.tried = self.calls
            self.items = _past(self.begin(), self.calls)
            return next(self)
        except StopIteration:
            raise
        except Exception:
            self.calls += 1
            raise
        self.calls += 1
        return item


def _past(items: Iterator[Any], calls: int) -> Iterator[Any]:
    """An iterator without its first outcomes, errors among them."""
    for _ in range(calls):
        with contextlib.suppress(Exception):
            next(items)
    return items
