"""Carry out a stored case, write its script, run the script: is the deviation confirmed?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.baseline import Deviation
from conformance.candidate import Description, Source
from conformance.clauses import clauses
from conformance.drawing import Found
from conformance.judge import with_oracle
from conformance.laws import Unmet, Violation, load_laws
from conformance.report.reproduction import Shelf, reproduction
from conformance.worlds.worlds import Worlds

TELLING = ("\nnow: ", "Timeout (")
"""What a script prints that has come to see what it was written for."""

SCRIPT_S = 90
"""Past the bound that each script keeps by itself."""


@dataclass(frozen=True)
class Confirmation:
    """An entry, its script, how that ended and what it printed."""

    deviation: Deviation
    path: Path | None
    code: int
    output: str

    @property
    def confirmed(self) -> bool:
        """An exit code of 1 alone might be the script's own mistake."""
        return self.code == 1 and any(word in self.output for word in TELLING)


def found_of(worlds: Worlds, candidate: Description, deviation: Deviation) -> Found | str:
    """The stored case as found again, or why it is not found."""
    clause = clauses()[deviation.clause]
    trace = worlds.run(candidate.source, deviation.case)
    if clause.profile == "torch":
        trace = with_oracle(worlds, candidate, trace)
    try:
        violation = load_laws()[clause.id](trace)
    except Unmet:
        violation = None
    if violation is None or not deviation.explains(violation.anomaly, violation.about):
        return f"the case shows {_told(violation)}"
    return Found(deviation.case, trace, violation)


def _told(violation: Violation | None) -> str:
    return violation.anomaly if violation else "no violation"


def scripts(
    worlds: Worlds, candidate: Description, deviations: Iterable[Deviation], folder: Path
) -> Iterator[tuple[Deviation, Path | str]]:
    """A script for each entry, or why there is none."""
    shelf = Shelf(folder)
    for deviation in deviations:
        found = found_of(worlds, candidate, deviation)
        if isinstance(found, str):
            yield deviation, found
            continue
        clause = clauses()[deviation.clause]
        what = candidate, clause, deviation.role
        yield deviation, shelf.put(*what, reproduction(*what, found))


def run_script(path: Path, bound_s: float = SCRIPT_S) -> tuple[int, str]:
    """Run a script apart from everything here; its exit code and what it printed."""
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [sys.executable, "-I", str(path.resolve())]
        try:
            done = subprocess.run(
                command, cwd=elsewhere, capture_output=True, text=True, timeout=bound_s
            )
        except subprocess.TimeoutExpired:
            return -1, f"did not end within {bound_s:.0f} s"
    return done.returncode, done.stdout + done.stderr


def confirm(
    candidate: Source, deviations: Iterable[Deviation], folder: Path, at_once: int = 2
) -> Iterator[Confirmation]:
    """Write and run the scripts of all entries, in their order."""
    worlds = Worlds()
    try:
        written = list(scripts(worlds, worlds.describe(candidate), deviations, folder))
    finally:
        worlds.close()
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(_confirmed, written)


def _confirmed(pair: tuple[Deviation, Path | str]) -> Confirmation:
    deviation, path = pair
    if isinstance(path, str):
        return Confirmation(deviation, None, -1, path)
    return Confirmation(deviation, path, *run_script(path))
