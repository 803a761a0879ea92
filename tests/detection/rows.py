"""The data of the detection score: one row for each fault, effort and seed, kept as JSON.

The file accumulates: a run replaces the rows that it makes anew and keeps all others. Each row
keeps the digests of the fault and of the suite that made it, so that old ones can be told.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "detection.json"

CAUGHT, MISSED = "caught", "missed"
NEEDS_ACCELERATOR = "needs an accelerator"
LATE = "out of time"
FAILED = "the suite failed"

Times = tuple[float, float]
"""Wall seconds, and CPU seconds of all processes."""


@dataclass(frozen=True)
class Row:
    """What one search came to.

    fault: module and class. outcome: one of the constants above. told: the clauses it names that
    told of it, of those that were asked. clause, role, anomaly, cases, seconds: of the first
    violation of a whole run, "" and 0 where only the named clauses were asked; seconds are wall
    seconds, cpu_s those of all processes together, without start-up. named_s: CPU seconds of the
    first named clause that told, by itself. load: the machine's load average. source, suite:
    digests of the fault and of the suite.
    """

    fault: str
    effort: str
    seed: int
    outcome: str
    told: tuple[str, ...] = ()
    clause: str = ""
    role: str = ""
    anomaly: str = ""
    cases: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    named_s: float = 0.0
    load: float = 0.0
    source: str = ""
    suite: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        return self.fault, self.effort, self.seed

    @property
    def whole(self) -> bool:
        """Whether all clauses were examined in order, up to the first violation."""
        return bool(self.clause)


@dataclass
class Rows:
    """All rows by their key; startups: wall and CPU seconds from the start of a
    run to its first case."""

    by_key: dict[tuple[str, str, int], Row] = field(default_factory=dict)
    startups: list[Times] = field(default_factory=list)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.by_key.values())

    def grouped(self) -> dict[tuple[str, str], list[Row]]:
        """The rows of each fault at each effort, by seed."""
        held: dict[tuple[str, str], list[Row]] = {}
        for row in sorted(self, key=lambda row: row.seed):
            held.setdefault((row.fault, row.effort), []).append(row)
        return held


def read(path: Path = DATA) -> Rows:
    """The rows of the file; none if there is no file."""
    if not path.exists():
        return Rows()
    held = json.loads(path.read_text(encoding="utf-8"))
    names = [entry.name for entry in fields(Row)]
    rows = (Row(**_tuples(dict(zip(names, values, strict=True)))) for values in held["rows"])
    return Rows({row.key: row for row in rows}, [(wall, cpu) for wall, cpu in held["startups"]])


def add(new: Iterable[Row], startups: Sequence[Times] = (), path: Path = DATA) -> Rows:
    """Put new rows into the file, and new start-ups in the place of the old; returns all.

    Another command may be writing at the same time: both end up with the rows of both.
    """
    with _locked(path):
        held = read(path)
        held.by_key |= {row.key: row for row in new}
        held.startups = list(startups) or held.startups
        _write(held, path)
    return held


def keep(faults: Collection[str], path: Path = DATA) -> None:
    """Drop the rows of all other faults: those are gone, or have another name."""
    with _locked(path):
        held = read(path)
        held.by_key = {row.key: row for row in held if row.fault in faults}
        _write(held, path)


def _write(rows: Rows, path: Path) -> None:
    lines = ",\n".join(
        json.dumps(list(asdict(row).values())) for row in sorted(rows, key=lambda row: row.key)
    )
    startups = json.dumps([[round(value, 2) for value in pair] for pair in rows.startups])
    text = f'{{"startups": {startups},\n"rows": [\n{lines}\n]}}\n'
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"told": tuple(values["told"])}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file's folder, which no other process then holds."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
