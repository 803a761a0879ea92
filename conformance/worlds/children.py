"""The handler of SIGCHLD that a loader may install: it is called in operations, not in between.

torch's handler raises in the main thread, wherever that is. While an operation runs, that is a
finding, and part of its event. Between two operations it would strike the suite itself: it would
end the run of the plan, or take the place of what was about to be recorded.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from conformance.loading import Free, Hold, Journal, Schedule, Shut
from conformance.operations import Operation

OURS = (Free, Hold, Journal, Schedule, Shut)
"""Operations of the suite, in which no code of the user's or of the loader's runs."""


class Children:
    """Stands before the loader's own handler, and holds the signal back where nobody may call."""

    def __init__(self) -> None:
        self.handler: Callable[..., Any] | None = None
        self.heard = self.waiting = False

    def __call__(self, number: int, frame: Any) -> None:
        """A child has ended, or stopped."""
        if not self.heard:
            self.waiting = True
        elif self.handler is not None:
            self.handler(number, frame)

    @contextlib.contextmanager
    def hear(self, operation: Operation | None) -> Iterator[None]:
        """Meanwhile the handler is called; at first for what was held back."""
        self.heard = not isinstance(operation, OURS)
        try:
            if self.waiting and self.heard:
                self.waiting = False
                self(signal.SIGCHLD, None)
            yield
        finally:
            self.heard = False
            self.stand_before()

    def stand_before(self) -> None:
        """Take the place of a handler that was installed."""
        found = signal.getsignal(signal.SIGCHLD)
        if callable(found) and found is not self and _in_main_thread():
            self.handler = found
            signal.signal(signal.SIGCHLD, self)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


CHILDREN = Children()
"""Of this process."""
