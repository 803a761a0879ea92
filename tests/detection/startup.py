"""How long a whole run that ends at its first violation takes, from the start of its process.

As a pytest plugin (`-p detection.startup`) it tells when the first case is judged, and ends the run
there, or when the first violation has been told. `startup_s` starts a run of the first kind, which
takes the interpreter, torch, collection, a fork server and its first rank; `told_s` one of the
second, which is all that a user waits for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from detection.cost import cpu_s

ROOT = Path(__file__).resolve().parents[2]
TOLD, UNTIL = "DETECTION_TOLD", "DETECTION_UNTIL"
CASE, VIOLATION = "case", "violation"
RUN_S_MAX = 240

Told = tuple[float, float, str]
"""Wall and CPU seconds from the start of a run's process, and what was told."""


def pytest_configure() -> None:
    """Tell the time of the first judgement, and end the run there."""
    if os.environ.get(UNTIL) == CASE:
        from conformance.judge import Judge  # not sooner: it takes part in what is measured

        Judge.judge = _first  # type: ignore[method-assign]


def _first(*_: Any) -> Any:
    _tell("")
    pytest.exit("the first case is judged")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell the time of the first verdict that is a failure: `-x` ends the run there."""
    if report.failed and os.environ.get(UNTIL) == VIOLATION:
        _tell(report.nodeid.partition("[")[2])


def _tell(what: str) -> None:
    told = json.dumps([time.time(), cpu_s(), what])
    Path(os.environ[TOLD]).write_text(told, encoding="utf-8")


def startup_s() -> tuple[float, float]:
    """Wall and CPU seconds from the start of a run's process to its first case."""
    found = _told("reference", CASE)
    assert found is not None
    return found[:2]


def told_s(text: str, baseline: str = "", root: Path = ROOT) -> Told | None:
    """The same to the first violation, and the clause; None if there is none.

    root: the checkout whose suite is asked, about its own copy of a fault of this one.
    """
    return _told(text.replace(str(ROOT), str(root)), VIOLATION, baseline, root)


def _told(text: str, until: str, baseline: str = "", root: Path = ROOT) -> Told | None:
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", f"--impl={text}", "-x"]
    command += ["--strict-should", "-q", "-p", "no:cacheprovider", "-p", "detection.startup"]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        if baseline:
            (Path(folder) / "known.toml").write_text(baseline, encoding="utf-8")
            command += ["--baseline", "known.toml"]
        began = time.time()
        subprocess.run(
            command, cwd=folder, stdout=subprocess.DEVNULL, timeout=RUN_S_MAX, check=False,
            env={**os.environ, "PYTHONPATH": _path(root), TOLD: str(told), UNTIL: until},
        )  # fmt: skip
        if not told.exists():
            return None
        ended, used_s, what = json.loads(told.read_text(encoding="utf-8"))
        return ended - began, used_s, what


def _path(root: Path) -> str:
    """Where a run finds this module and the suite, before where it would look anyway."""
    found = (str(root / "tests"), str(root), os.environ.get("PYTHONPATH"))
    return os.pathsep.join(filter(None, found))
