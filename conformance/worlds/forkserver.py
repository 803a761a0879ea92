"""Processes started from preloaded fork servers.

A rank of a real training job is its own interpreter: it took seconds to import torch, and it hashes
strings its own way. We want both truths and no seconds. So two fork servers import torch once, each
under another PYTHONHASHSEED, and every rank is forked from the one that its parity names: to fork
costs 10 ms, and neighbours order a set of strings differently, as real ranks do.

The standard library keeps one server in a global and has every child import `__main__` again (here
that would be pytest). `Process` below differs from multiprocessing's in these two points only.

A candidate may leave processes behind that belong to no rank any more. All that descends from a
fork server carries the server's mark in its environment, and ends with the servers.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import uuid
from collections.abc import Iterator
from multiprocessing import context, popen_forkserver, reduction, resource_tracker, spawn, util
from multiprocessing.forkserver import ForkServer, read_signed
from typing import Any

import psutil

PRELOAD = ["conformance.worlds.preload"]

MARK = "CONFORMANCE_MARK"

QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"

_MARK = uuid.uuid4().hex
_SERVERS: dict[int, Any] = {}
_RANKS: list[Any] = []
_COMPACT: list[Any] = []
_HOLDERS: list[object] = []


HASH_SEEDS = (1, 2)
"""Of ranks with even numbers, and of those with odd ones."""


def server(hash_seed: int) -> Any:
    """The fork server whose interpreters hash with `hash_seed`; started if it is not there.

    It then still imports torch, and whoever first asks it for a process waits for that.
    """
    if hash_seed not in _SERVERS:
        found = _SERVERS[hash_seed] = ForkServer()
        found.set_forkserver_preload(PRELOAD)
        with _environment(PYTHONWARNINGS=QUIET):  # it unlinks what the killed have left
            resource_tracker.ensure_running()  # serves this whole process: it must not be marked
        with _environment(PYTHONHASHSEED=str(hash_seed), **{MARK: _MARK}), _blocked():
            found.ensure_running()
    return _SERVERS[hash_seed]


@contextlib.contextmanager
def _environment(**changes: str) -> Iterator[None]:
    """Change the environment for those who are started meanwhile."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """What is started meanwhile is not asked for huge pages before it heeds the signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def compact() -> None:
    """Many processes will be forked: the server of most of them moves into huge pages, once, and
    forks none meanwhile."""
    found = _SERVERS.get(HASH_SEEDS[0])
    if found is not None and found not in _COMPACT:
        _COMPACT.append(found)
        os.kill(found._forkserver_pid, signal.SIGUSR1)


@contextlib.contextmanager
def servers_stay() -> Iterator[None]:
    """No fork server ends meanwhile: whoever closes worlds and opens others spares the imports."""
    _HOLDERS.append(holder := object())
    try:
        yield
    finally:
        _HOLDERS.remove(holder)
        stop_servers()


def stop_servers() -> None:
    """End every fork server, unless ranks still live or somebody holds them; kill what candidates
    have left behind.

    A server ends when nobody holds its pipe any more, and every descendant holds it: so those that
    are left go first.
    """
    _RANKS[:] = [rank for rank in _RANKS if rank.poll() is None]
    if _RANKS or _HOLDERS or not _SERVERS:
        return
    servers = {found._forkserver_pid for found in _SERVERS.values()}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid not in servers and process.environ().get(MARK) == _MARK:
                process.kill()
    for found in _SERVERS.values():
        os.kill(found._forkserver_pid, signal.SIGKILL)  # to end by itself takes it half a second
        found._stop()
    for known in (_SERVERS, _COMPACT):
        known.clear()


class _Popen(popen_forkserver.Popen):
    def __init__(self, process: Any) -> None:
        self.server = server(process.hash_seed)
        super().__init__(process)

    def _launch(self, process: Any) -> None:
        data = spawn.get_preparation_data(process._name)
        data = {key: value for key, value in data.items() if not key.startswith("init_main")}
        buffer = io.BytesIO()
        context.set_spawning_popen(self)
        try:
            reduction.dump(data, buffer)
            reduction.dump(process, buffer)
        finally:
            context.set_spawning_popen(None)
        self.sentinel, pipe = self.server.connect_to_new_process(self._fds)  # type: ignore[attr-defined]
        parent = os.dup(pipe)
        self.finalizer = util.Finalize(self, util.close_fds, (parent, self.sentinel))  # type: ignore[attr-defined]
        with os.fdopen(pipe, "wb") as stream:
            stream.write(buffer.getbuffer())
        self.pid = read_signed(self.sentinel)
        _RANKS.append(self)


class Process(context.ForkServerProcess):
    """A daemonic-free process forked from the server of `hash_seed`."""

    def __init__(self, hash_seed: int, **options: Any) -> None:
        super().__init__(**options)
        self.hash_seed = hash_seed

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _Popen(process_obj)
