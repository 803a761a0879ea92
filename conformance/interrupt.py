"""Ctrl-C, heeded once more where it was lost.

Python drops what a signal raises inside a finalizer or a callback of its garbage collector, and
Hypothesis has such a callback, in which a drawing process spends a part of its time.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_pressed = threading.Event()


def listen() -> None:
    """Remember Ctrl-C from now on, unless another handler than Python's own waits for it."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _pressed.clear()
        signal.signal(signal.SIGINT, _remember)


def heed() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and the run goes on all the same."""
    if _pressed.is_set():
        raise KeyboardInterrupt


def _remember(number: int, frame: FrameType | None) -> None:
    _pressed.set()
    raise KeyboardInterrupt
