"""Runs of the suite, as a user types them.

A process of its own needs seconds, most of them to import torch. What is asked of verdicts, reports
and usage errors is the same within the process of the tests, whose fork servers have it already.
"""

from __future__ import annotations

import contextlib
import gc
import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def command(*arguments: str) -> list[str]:
    """The suite, on what lies in the current folder or is installed."""
    return [sys.executable, "-m", "pytest", "--pyargs", "conformance", *arguments]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite in `folder`, within this process."""
    # The plugin that is left out looks for garbage twice, through all that the tests hold.
    given = command("-p", "no:cacheprovider", "-p", "no:unraisableexception", *arguments)
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as after,
    ):  # fmt: skip
        after.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        after.callback(gc.unfreeze)  # the end of a run is not that of this process
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        code = pytest.main(given[3:])
    return subprocess.CompletedProcess(given, code, out.getvalue(), err.getvalue())
