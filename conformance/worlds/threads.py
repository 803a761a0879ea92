"""Who calls a loader: one thread all the time, or for each call another one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from conformance import operations as op
from conformance.loading import CALLS


class Caller:
    """The thread that calls.

    No thread of a `ThreadPoolExecutor`: a process that is forked in one exits with code 1, as at
    its end it tries to join the thread that it is (CPython 3.11).

    apart: each call comes from a thread of its own, which ends with it. ident: of the thread that
    calls now, or has called last.
    """

    def __init__(self) -> None:
        self.apart, self.ident = False, threading.get_ident()

    def call(self, operation: op.Operation | None, function: Callable[..., Any]) -> Any:
        """`function(operation)`, by whoever has to call it."""
        if not (self.apart and isinstance(operation, CALLS)):
            return function(operation)
        found = Future[Any]()
        thread = threading.Thread(target=self._noted, args=(operation, function, found))
        thread.start()
        try:
            return found.result()
        finally:  # a handler of signals may have raised here, while the thread goes on
            thread.join()

    def _noted(
        self, operation: op.Operation | None, function: Callable[..., Any], found: Future[Any]
    ) -> None:
        before, self.ident = self.ident, threading.get_ident()
        try:
            found.set_result(function(operation))
        except BaseException as error:
            found.set_exception(error)
        self.ident = before
