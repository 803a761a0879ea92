"""One pass over a loader: the iterator that the caller holds. Here, the one without workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from reference.loader.failure import Failure
from reference.loader.fetch import Batch, Ended, Fetcher, Outcome
from reference.loader.pin import pin_outcome
from reference.loader.producer import END, Producer


class Pass(Iterator[Any]):
    """What all passes have in common: how an outcome becomes a batch, an error or the end.

    A pass that has ended stays so, and a lasting failure is raised at each further call.
    """

    def __init__(self) -> None:
        self._last: Failure | None = None
        self._ended = False

    def __next__(self) -> Any:
        if self._last is not None:
            self._last.throw()
        outcome = None if self._ended else self._outcome()
        if outcome is None:
            self._finish()
            raise StopIteration
        if isinstance(outcome, Batch):
            if outcome.reused:
                _warn_of_reuse()
            return outcome.data
        if outcome.lasting:
            self._last = outcome
            self._finish()
        try:
            outcome.throw()
        finally:
            del outcome  # a traceback that holds its own error is garbage that only gc can find

    def _outcome(self) -> Batch | Failure | None:
        """The next outcome, or None at the end."""
        raise NotImplementedError

    def _finish(self) -> None:
        self._ended = True


class LonePass(Pass):
    """A pass without workers: each call draws, fetches and returns."""

    def __init__(self, producer: Producer, fetcher: Callable[[], Fetcher], pin: bool) -> None:
        super().__init__()
        self._producer = producer
        self._pin = pin
        try:
            self._fetch = fetcher()
        except Exception as error:
            failure = Failure(error, lasting=True)
            self._fetch = lambda task: failure

    def _outcome(self) -> Batch | Failure | None:
        indices = self._producer.draw()
        if indices is END:
            failure, self._producer.failure = self._producer.failure, None
            return failure
        outcome = self._fetch(indices)
        if isinstance(outcome, Ended):
            return None
        return pin_outcome(outcome) if self._pin else outcome  # type: ignore[return-value]

    def _finish(self) -> None:
        super()._finish()
        self._fetch = _refuse


def _refuse(task: Any) -> Outcome:
    raise AssertionError("an ended pass fetches nothing")


def _warn_of_reuse() -> None:
    text = (
        "different samples of one batch are the same tensor or array: the dataset has overwritten"
        " what it had returned before; it should return copies"
    )
    warnings.warn(text, UserWarning, stacklevel=3)
