"""What a standing rank process does: guard itself, join its group, and answer requests.

A candidate may exit, crash, hang, print gigabytes or ask for all memory. Here the rank limits what
such a candidate can cost: it leads a session of its own (one signal ends it and its children), its
output goes to a nameless file of bounded size, its memory is bounded, and it dies with its parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import math
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  (preloaded for the candidate's sake)
import torch
import torch.distributed as dist

from conformance.candidate import CandidateError, describe, load
from conformance.case import Case
from conformance.classes import work
from conformance.roles import LOADERS
from conformance.trace import RankTrace
from conformance.worlds.loader import LoaderRank
from conformance.worlds.place import Place
from conformance.worlds.rank import Rank

with torch.autograd.profiler.record_function("preload"):
    pass  # its first use imports more, and an error that strikes during that is lost to a log

DRAWS_MIN = 1000
"""Nobody is slow who has to draw less: for that, such a time is one in which nothing comes back."""

OUTPUT_BYTES_MAX = 64 << 20
MEMORY_BYTES_MAX = 4 << 30


def serve(connection: Connection, place: Place) -> None:
    """Answer requests until the connection closes."""
    output = _guard(place.backend)
    tempfile.tempdir = str(Path(place.store).parent)  # goes with the pool, whoever is killed
    if place.grouped:
        _join(place)
    gc.freeze()
    connection.send_bytes(b"ready")
    with contextlib.suppress(EOFError, OSError):
        while True:
            kind, *request = pickle.loads(connection.recv_bytes())
            if kind == "end":
                break
            answer = _answer(kind, request, place, output, connection)
            connection.send_bytes(pickle.dumps(answer))
    if place.grouped:
        dist.destroy_process_group()


def _answer(
    kind: str, request: list[Any], place: Place, output: int, connection: Connection
) -> Any:
    if kind == "barrier":
        dist.barrier()
        return True
    try:
        if kind == "describe":
            return describe(request[0])
        roles = load(request[0])
        _printed(output)  # what an import prints belongs to no case
        return [_run(roles, case, place, output, connection) for case in request[1]]
    except CandidateError as error:
        return error


def _run(
    roles: dict[str, Any], case: Case, place: Place, output: int, connection: Connection
) -> list[RankTrace]:
    """The rank traces of a case: this rank's own, or those of all ranks if they are simulated."""
    ranks = range(case.world_size) if place.backend == "simulated" else [place.rank]
    before = _collectives() if place.grouped else 0
    until = time.process_time() + place.slow_s if work(case) >= DRAWS_MIN else math.inf
    traces = [_rank(roles, case, rank, place, connection, until).run() for rank in ranks]
    after = _collectives() if place.grouped else 0
    printed = _printed(output)
    return [replace(trace, collectives=after - before, printed=printed) for trace in traces]


def _rank(
    roles: dict[str, Any], case: Case, rank: int, place: Place, connection: Connection, until: float
) -> Rank:
    """The rank for a case; one outside a group answers by itself when its main thread hangs."""
    if case.role not in LOADERS:
        return Rank(roles, case, rank, until)

    def give_up(trace: RankTrace) -> None:
        connection.send_bytes(pickle.dumps([[trace]]))

    alone = place.backend == "alone"
    return LoaderRank(roles, case, rank, give_up if alone or not place.grouped else None, alone)


def _collectives() -> int:
    group: Any = dist.distributed_c10d._get_default_group()
    return int(group._get_sequence_number_for_group())


def _join(place: Place) -> None:
    os.environ |= place.environment
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if place.backend == "nccl":
        torch.cuda.set_device(place.rank)
    store: Any = torch._C._distributed_c10d.FileStore(place.store, place.world_size)
    dist.init_process_group(
        place.backend, store=store, rank=place.rank,
        world_size=place.world_size, timeout=timedelta(minutes=10),
    )  # fmt: skip


def _guard(backend: str) -> int:
    """Bound what this process can do; returns the descriptor that its output goes to."""
    os.setsid()
    _start_afresh()
    signal.signal(
        signal.SIGINT, signal.default_int_handler if backend == "alone" else signal.SIG_IGN
    )
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    torch.set_num_threads(1)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: grandchildren stay in the family
        if backend != "nccl":  # a CUDA context maps far more than it uses
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]  # see `device.make_room`
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    output = _bounded_output()
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    return output


def _bounded_output() -> int:
    """A file that takes so many bytes and no more.

    Where Linux has it, it is memory that is sealed against growth: a limit on all files would bind
    what a candidate shares between its processes, too.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # not every sandbox knows seals
            made = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(made, OUTPUT_BYTES_MAX)
            fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
            # Opened anew: of what memfd_create gives, Linux does not guard the position, and
            # workers who print at one moment overwrite each other.
            output = os.open(f"/proc/self/fd/{made}", os.O_RDWR | os.O_CLOEXEC)
            os.close(made)
            return output
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX))
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _start_afresh() -> None:
    """Workers start as they would in a process that a user has started.

    A child of a fork server would have its own children forked from that same server.
    """
    multiprocessing.set_start_method(None, force=True)
    server: Any = forkserver._forkserver
    vars(server).update(vars(forkserver.ForkServer()))


def _printed(output: int) -> int:
    """Bytes printed since the last call; the next ones take their place."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    count = os.lseek(output, 0, os.SEEK_CUR)
    os.lseek(output, 0, os.SEEK_SET)
    return count
