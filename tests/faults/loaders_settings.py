"""Loaders with one fault each in what they set for a process that is not theirs.

`CAUGHT_BY` names the clauses that must catch a fault, `ANOMALY` what the first of them calls it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
from typing import Any

import torch

import reference
from reference.loader.crew_pass import CrewPass


class OneThreadForAll(reference.DataLoader[Any]):
    """Without workers as with them, torch is told to use one thread before items are fetched."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if self.num_workers == 0:
            torch.set_num_threads(1)
        return super().__iter__()


class SharesByFiles(reference.DataLoader[Any]):
    """Tensors are shared by files from the first pass with workers on, to save descriptors."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if self.num_workers:
            torch.multiprocessing.set_sharing_strategy("file_system")
        return super().__iter__()


class TellsByEnvironment(reference.DataLoader[Any]):
    """Workers are told by the environment how many threads they may have, and so is the caller."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        os.environ["OMP_NUM_THREADS"] = "1"
        return super().__iter__()


class TellsNewInterpreters(reference.DataLoader[Any]):
    """The environment tells workers of their threads where they are not forked, and stays so."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if self.num_workers and self._context.get_start_method() != "fork":
            os.environ["OMP_NUM_THREADS"] = "1"
        return super().__iter__()


class TakesThreadsAway(reference.DataLoader[Any]):
    """What tells workers of their threads is taken away, though the caller had set it before."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if not self.num_workers:
            return super().__iter__()
        os.environ["OMP_NUM_THREADS"] = "1"
        try:
            return super().__iter__()
        finally:
            del os.environ["OMP_NUM_THREADS"]


class InterruptsByDefault(reference.DataLoader[Any]):
    """While workers start, SIGINT is ignored; then it has its default, and not what it had."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return super().__iter__()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


class TimeoutOfAllSockets(reference.DataLoader[Any]):
    """The timeout is set for all sockets of the process, too."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.timeout:
            socket.setdefaulttimeout(self.timeout)


class FreezesBeforeForking(reference.DataLoader[Any]):
    """All objects are frozen before workers are forked, so that collections copy no pages, and the
    caller's cycles are never collected."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if self.num_workers:
            gc.freeze()
        return super().__iter__()


class ThawsAfterForking(reference.DataLoader[Any]):
    """What was frozen for the forks is thawed afterwards, what the caller had frozen with it."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        if not self.num_workers:
            return super().__iter__()
        gc.freeze()
        try:
            return super().__iter__()
        finally:
            gc.unfreeze()


class _Alarmed(CrewPass):
    def _wait(self, deadline: float) -> None:
        if not self._plan.timeout_s or threading.current_thread() is not threading.main_thread():
            super()._wait(deadline)
            return
        before = signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, self._plan.timeout_s)
        try:
            super()._wait(deadline)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class ClearsTheAlarm(reference.DataLoader[Any]):
    """An alarm bounds each wait of a pass with a timeout, and takes the place of the caller's."""

    CAUGHT_BY = ("lifecycle.leftovers",)
    ANOMALY = "left-changed"

    def __iter__(self) -> Any:
        made = super().__iter__()
        if isinstance(made, CrewPass):
            made.__class__ = _Alarmed
        return made
