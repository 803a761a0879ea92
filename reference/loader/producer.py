"""Batches of indices, drawn one at a time, with the sampler's error kept in its place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from reference.loader.failure import Failure

END = object()


class Producer:
    """One pass over a sampler. `iter` is called once, and an ended sampler is not asked again.

    The first batch is drawn at once, with workers and without: an epoch that is announced after
    the start belongs to the next pass, even if the sampler is a generator that looks at it late.
    Workers are started after that, and see what the sampler has done to the dataset.

    failure: why it ended, if the sampler raised. It belongs behind all batches drawn before.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        self.failure: Failure | None = None
        self._batches: Iterator[Any] | None = None
        try:
            self._batches = iter(batches)
        except Exception as error:
            self._fail(error)
        self._first = deque([self._next()])

    @property
    def ended(self) -> bool:
        return self._batches is None and not self._first

    def draw(self) -> Any:
        """The next batch of indices, or END."""
        return self._first.popleft() if self._first else self._next()

    def _next(self) -> Any:
        if self._batches is None:
            return END
        try:
            return next(self._batches)
        except StopIteration:
            self._batches = None
        except Exception as error:
            self._fail(error)
        return END

    def _fail(self, error: Exception) -> None:
        self._batches = None
        self.failure = Failure(error)
