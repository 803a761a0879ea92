"""Ctrl-C is not lost."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest

from conformance import interrupt
from conformance.conclusion import Check
from conformance.verdict import Verdict


@pytest.fixture(autouse=True)
def listening() -> Iterator[None]:
    """A process in which Ctrl-C is heeded as in a run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt.listen()
    yield
    interrupt._pressed.clear()
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_in_the_garbage_collector_is_heeded_later() -> None:
    """What is pressed while garbage is collected, where Python drops it, ends the next case."""

    def press(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(press)
        signal.raise_signal(signal.SIGINT)

    interrupt.heed()
    gc.callbacks.append(press)
    gc.collect()
    with pytest.raises(KeyboardInterrupt):
        interrupt.heed()


def test_ctrl_c_is_not_hidden_by_what_it_breaks() -> None:
    """A failure that follows upon Ctrl-C ends the run, too, and is none of the item."""

    def breaks() -> Verdict:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise OSError("handle is closed") from None
        raise AssertionError("Ctrl-C was not heard of")

    with pytest.raises(KeyboardInterrupt):
        Check(breaks)()
