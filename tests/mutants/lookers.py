"""Detectors side by side: many mutants are looked at, none is lost.

Each looker is a process with a detector of its own. One that dies, or is silent for too long, is
ended with all its children and replaced; its mutant is then "not told", never forgotten.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from detect import Detection, Detector

from conformance import drawing
from mutants.copies import remove, write
from mutants.operators import Mutant
from mutants.targets import Stage, Target

CAUGHT, SURVIVED, NOT_TOLD = "caught", "survived", "not told"

WITHIN_S = 300.0
"""The bound for all clauses; what is then still under way gets as long again."""

SHARED_MAX = 60
"""Mutants of samplers that share standing ranks: each of them stays imported there. Loaders leave
more behind, such as a handler of SIGCHLD that calls the one before it: each gets ranks of its own.
"""


class Job(NamedTuple):
    """One mutant and the stages of the search for what is wrong with it, "all" or "first"."""

    target: Target
    mutant: Mutant
    depth: str = "all"


class Outcome(NamedTuple):
    """What came of a mutant. found: the first violation; profile and effort: those that told.

    seconds: until the first violation, of the whole search if there is none.
    """

    outcome: str
    profile: str = ""
    effort: str = ""
    found: Detection | None = None
    reason: str = ""
    seconds: float = 0.0


@dataclass
class _Looker:
    """A process, the pipe to it, and the job it has at hand."""

    process: Any
    connection: Connection
    job: Job | None = None
    deadline: float = field(default=float("inf"))


def looked(
    jobs: Iterable[Job], count: int, seed: int, within_s: float = WITHIN_S
) -> Iterator[tuple[Job, Outcome]]:
    """Look at every mutant with `count` processes; the outcomes come as they are known."""
    waiting = deque(jobs)
    lookers = [_started(seed, within_s) for _ in range(min(count, len(waiting)))]
    try:
        while waiting or any(looker.job for looker in lookers):
            for looker in lookers:
                if looker.job is None and waiting:
                    _hand_over(looker, waiting.popleft(), within_s)
            for place, outcome in _answers(lookers):
                job, lookers[place].job = lookers[place].job, None
                if not lookers[place].process.is_alive():
                    lookers[place] = _started(seed, within_s)
                assert job is not None
                yield job, outcome
    finally:
        for looker in lookers:
            _end(looker)


def _started(seed: int, within_s: float) -> _Looker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seed, within_s))
    process.start()
    theirs.close()
    return _Looker(process, ours)


def _hand_over(looker: _Looker, job: Job, within_s: float) -> None:
    mutant = job.mutant
    with contextlib.suppress(OSError):
        stages = job.target.stages(job.target.touched(mutant), job.depth)
        looker.connection.send((job.target, mutant.source(), job.target.touched(mutant), stages))
    looker.job, looker.deadline = job, time.monotonic() + 2 * within_s


def _answers(lookers: list[_Looker]) -> Iterator[tuple[int, Outcome]]:
    """What lookers say, those that died or are overdue included; waits for the first of them."""
    busy = {place: looker for place, looker in enumerate(lookers) if looker.job}
    ready = wait([looker.connection for looker in busy.values()], timeout=5.0)
    for place, looker in busy.items():
        if looker.connection in ready:
            try:
                yield place, looker.connection.recv()
            except (EOFError, OSError):
                _kill(looker)
                yield place, Outcome(NOT_TOLD, reason="the detector ended")
        elif time.monotonic() > looker.deadline:
            _kill(looker)
            yield place, Outcome(NOT_TOLD, reason="the detector did not return")


def _end(looker: _Looker) -> None:
    with contextlib.suppress(OSError):
        looker.connection.send(None)
    looker.process.join(0 if looker.job else 30)
    _kill(looker)


def _kill(looker: _Looker) -> None:
    """End a looker with all that it has started."""
    with contextlib.suppress(psutil.Error):
        found = psutil.Process(looker.process.pid)
        for process in [*found.children(recursive=True), found]:
            with contextlib.suppress(psutil.Error):
                process.kill()
    looker.process.join()


def _serve(connection: Connection, seed: int, within_s: float) -> None:
    """Look at mutants until the pipe says None or closes."""
    drawing.SHRINK_S = 0.0  # nobody reads the counterexample
    detector, gone = Detector(seed=seed), contextlib.suppress(EOFError, OSError)
    try:
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder, gone:
            number = 0
            while (request := connection.recv()) is not None:
                if request[0].loads or number % SHARED_MAX == 0:
                    detector.fresh()
                number += 1
                name = f"mutant_{number}"
                connection.send(_outcome(detector, Path(folder), name, within_s, *request))
                remove(Path(folder), name)
    finally:
        detector.close()  # or the process would wait for its ranks at exit


def _outcome(
    detector: Detector, folder: Path, name: str, within_s: float,
    target: Target, source: str, roles: tuple[str, ...], stages: tuple[Stage, ...],
) -> Outcome:  # fmt: skip
    """Search stage by stage, until one finds a violation."""
    began = time.monotonic()
    detector.deviations = target.deviations()
    for stage in stages:
        text = str(write(target, source, folder, name, roles, stage.profile))
        detector.options = stage.changed(detector.options)
        try:
            found = detector.first(text, stage.clauses, within_s)
        except TimeoutError as error:
            return Outcome(NOT_TOLD, reason=str(error), seconds=time.monotonic() - began)
        if found:
            took = time.monotonic() - began
            return Outcome(CAUGHT, stage.profile, stage.effort, found, seconds=took)
    return Outcome(SURVIVED, seconds=time.monotonic() - began)
