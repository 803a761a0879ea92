"""Batches in pinned memory, which an accelerator copies from while the program goes on."""

from __future__ import annotations

import socket
import threading
import warnings
from collections import deque
from collections.abc import Callable
from multiprocessing.util import Finalize
from queue import SimpleQueue
from typing import Any

import torch

from reference.loader.collate import mapped
from reference.loader.failure import Failure
from reference.loader.fetch import Batch, Outcome

_warned = False


def accelerated() -> bool:
    """Whether there is an accelerator to pin memory for; if there is none, it is said once."""
    global _warned
    found = _device_module().is_available()
    if not found and not _warned:
        _warned = True
        text = "pin_memory=True has no effect, because no accelerator is found"
        warnings.warn(text, UserWarning, stacklevel=4)
    return bool(found)


def pinned(value: Any) -> Any:
    """A copy with every tensor in pinned memory; containers and all other leaves as they were."""
    if isinstance(value, torch.Tensor):
        return _apart(value).pin_memory()
    if hasattr(value, "pin_memory"):
        return value.pin_memory()
    return mapped(pinned, value)


def _apart(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor, its elements apart in memory: of an expanded one they cannot be pinned."""
    expanded = tensor.layout is torch.strided and not tensor.is_nested and 0 in tensor.stride()
    return tensor.contiguous() if expanded else tensor


def pin_outcome(outcome: Outcome) -> Outcome:
    """The same outcome with its batch pinned, or the failure to do so."""
    try:
        return (
            outcome._replace(data=pinned(outcome.data)) if isinstance(outcome, Batch) else outcome
        )
    except Exception as error:
        return Failure(error)


class Pinner:
    """A thread that pins outcomes; poll `fileno` to be told that one is done."""

    def __init__(self) -> None:
        wake, signal = socket.socketpair()
        wake.setblocking(False)
        self._wake = wake
        self._todo: SimpleQueue[tuple[int, Outcome] | None] = SimpleQueue()
        self._done: deque[tuple[int, Outcome]] = deque()
        self._count = 0
        arguments = (self._todo, self._done, signal, _current_device())
        thread = threading.Thread(target=_pin_all, args=arguments, name="loader pin", daemon=True)
        self.close = Finalize(self, _close, (self._todo, thread, wake), exitpriority=10)
        thread.start()

    def __bool__(self) -> bool:
        """Whether anything is under way."""
        return self._count > 0

    def fileno(self) -> int:
        return self._wake.fileno()

    def put(self, number: int, outcome: Outcome) -> None:
        self._count += 1
        self._todo.put((number, outcome))

    def collect(self) -> list[tuple[int, Outcome]]:
        """All that is done since the last call."""
        try:
            self._wake.recv(4096)
        except BlockingIOError:
            return []
        done = [self._done.popleft() for _ in range(len(self._done))]
        self._count -= len(done)
        return done


def _pin_all(
    todo: SimpleQueue[tuple[int, Outcome] | None],
    done: deque[tuple[int, Outcome]],
    signal: socket.socket,
    set_device: Callable[[], None],
) -> None:
    with signal:
        torch.set_num_threads(1)
        set_device()  # a new thread starts on device 0, and would open a context there
        while (item := todo.get()) is not None:
            number, outcome = item
            done.append((number, pin_outcome(outcome)))
            signal.send(b"!")
            del item, outcome


def _close(todo: SimpleQueue[Any], thread: threading.Thread, wake: socket.socket) -> None:
    todo.put(None)
    if thread.is_alive():
        thread.join()
    wake.close()


def _device_module() -> Any:
    return getattr(torch, "accelerator", torch.cuda)


def _current_device() -> Callable[[], None]:
    module = _device_module()
    if module is torch.cuda:
        index = torch.cuda.current_device()
        return lambda: torch.cuda.set_device(index)
    current = module.current_device_index()
    return lambda: module.set_device_index(current)
