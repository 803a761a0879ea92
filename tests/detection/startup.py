"""How long a whole run takes from the start of its process to the first case that is judged.

As a pytest plugin (`-p detection.startup`) it ends a run at its first case; `startup_s` starts such
a run and says how long it took: the interpreter, torch, collection, fork servers, the first ranks.
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

from conformance.judge import Judge
from detection.cost import cpu_s

TESTS = Path(__file__).resolve().parents[1]
TOLD = "DETECTION_STARTUP"
RUN_S_MAX = 120


def pytest_configure() -> None:
    """Tell the time of the first judgement, and end the run there."""
    if TOLD in os.environ:
        Judge.judge = _first  # type: ignore[method-assign]


def _first(*_: Any) -> Any:
    told = json.dumps([time.time(), cpu_s()])
    Path(os.environ[TOLD]).write_text(told, encoding="utf-8")
    pytest.exit("the first case is judged")


def startup_s() -> tuple[float, float]:
    """Wall and CPU seconds from the start of a run's process to its first case."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", "--impl=reference"]
    command += ["-q", "-p", "no:cacheprovider", "-p", "detection.startup"]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        began = time.time()
        subprocess.run(
            command, cwd=folder, stdout=subprocess.DEVNULL, timeout=RUN_S_MAX, check=False,
            env={**os.environ, "PYTHONPATH": str(TESTS), TOLD: str(told)},
        )  # fmt: skip
        ended, used_s = json.loads(told.read_text(encoding="utf-8"))
        return ended - began, used_s
