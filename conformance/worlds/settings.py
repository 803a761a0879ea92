"""Settings of a process that are the caller's: a loader leaves them as they are."""

from __future__ import annotations

import copyreg
import faulthandler
import gc
import multiprocessing
import os
import pathlib
import resource
import signal
import socket
import sys
import threading
from typing import Any

import numpy
import torch


class Frozen:
    """Equal to another as long as `gc.freeze()` has kept neither from garbage collection, and
    `gc.unfreeze()` between them has not given back what was kept, this class among it.

    To count what is frozen takes 20 ms where torch is.
    """

    def __init__(self) -> None:
        self.thawed = self._collected(Frozen)

    @staticmethod
    def _collected(*marks: object) -> bool:
        found = {id(one) for one in gc.get_objects()}
        return all(id(mark) in found for mark in marks)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Frozen) and self.thawed == other.thawed
        return same and self._collected(self, other)

    __hash__ = None  # type: ignore[assignment]


def settings() -> dict[str, Any]:
    """What is set now, by what it is called."""
    start = multiprocessing.get_start_method(allow_none=True)
    shared = torch.multiprocessing.get_sharing_strategy()  # type: ignore[no-untyped-call]
    return {
        "torch.get_num_threads()": torch.get_num_threads(),
        "torch.get_default_dtype()": torch.get_default_dtype(),
        "torch.is_grad_enabled()": torch.is_grad_enabled(),
        "get_sharing_strategy() of torch": shared,
        "multiprocessing.get_start_method()": start or multiprocessing.get_all_start_methods()[0],
        "socket.getdefaulttimeout()": socket.getdefaulttimeout(),
        "sys.getrecursionlimit()": sys.getrecursionlimit(),
        "signal.pthread_sigmask()": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "sys.getswitchinterval()": sys.getswitchinterval(),
        "gc.isenabled(), gc.get_threshold()": (gc.isenabled(), gc.get_threshold()),
        "gc.freeze(), gc.unfreeze()": Frozen(),
        "os.getpriority()": os.getpriority(os.PRIO_PROCESS, 0),
        "os.sched_getaffinity()": getattr(os, "sched_getaffinity", lambda _: set())(0),
        "the working directory": pathlib.Path().stat().st_ino,
        "os.environ": dict(os.environ),
        "resource.getrlimit(RLIMIT_NOFILE)": resource.getrlimit(resource.RLIMIT_NOFILE),
        "resource.getrlimit(RLIMIT_CORE)": resource.getrlimit(resource.RLIMIT_CORE),
        "resource.getrlimit(RLIMIT_STACK)": resource.getrlimit(resource.RLIMIT_STACK),
        "signal.getsignal() of all but SIGCHLD": {
            which: signal.getsignal(which) for which in signal.valid_signals() - {signal.SIGCHLD}
        },
        "sys.excepthook, threading.excepthook": (sys.excepthook, threading.excepthook),
        "numpy.geterr()": numpy.geterr(),
        "signal.setitimer(ITIMER_REAL)": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "faulthandler.is_enabled()": faulthandler.is_enabled(),
        "copyreg.dispatch_table": dict(copyreg.dispatch_table),
        "deterministic algorithms of torch": torch.are_deterministic_algorithms_enabled(),
    }


def changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is set otherwise now."""
    return sorted(name for name, value in before.items() if now[name] != value)
