"""Ctrl-C is not lost."""

from __future__ import annotations

import gc
import signal

import pytest

from conformance import interrupt


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_in_the_garbage_collector_is_heeded_later() -> None:
    """What is pressed while garbage is collected, where Python drops it, ends the next case."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = interrupt._pressed

    def press(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(press)
        signal.raise_signal(signal.SIGINT)

    try:
        interrupt.listen()
        interrupt.heed()
        gc.callbacks.append(press)
        gc.collect()
        with pytest.raises(KeyboardInterrupt):
            interrupt.heed()
    finally:
        pressed.clear()
        signal.signal(signal.SIGINT, before)
