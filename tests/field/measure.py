"""What the suite says of one published class, and whether its scripts show it too."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.report.result import Result, read
from conformance.verdict import NOT_PROVIDED, VIOLATED
from field.packages import HERE, Candidate

RUN_S = 900.0
SCRIPT_S = 120.0
TIMED_OUT = 124


@dataclass(frozen=True)
class Done:
    """How a process ended, and what it said."""

    code: int
    told: str


class MeasureFailed(RuntimeError):
    """A run that has no result; the message says what the run said."""


@dataclass
class Measured:
    """A result, and by "clause role" how the script of each violation ended: 1 if it shows it."""

    document: Result
    ended: dict[str, int] = field(default_factory=dict)


def measure(candidate: Candidate, python: Path, seed: int = 0) -> Measured:
    """Examine a candidate in its environment, and run the script of each violation there."""
    with tempfile.TemporaryDirectory(prefix="field-") as folder:
        written = Path(folder) / "result.json"
        effort = "quick" if candidate.slow else "ci"
        told = _suite(
            python, folder, candidate.text, f"--effort={effort}",
            f"--conformance-seed={seed}", f"--conformance-json={written}",
            *(f"--baseline={name}" for name in candidate.baselines),
            *(f"--clause={name}" for name in candidate.clauses), bound_s=RUN_S,
        )  # fmt: skip
        if not written.exists():
            raise MeasureFailed(f"{candidate.text}: {_last(told)}")
        document = stored(json.loads(written.read_text(encoding="utf-8")))
        return Measured(document, ended(python, Path(folder), document))


def renewed(candidate: Candidate, python: Path) -> Measured:
    """The kept result with the scripts that the suite writes today, and how they ended.

    Raises MeasureFailed if a violation does not occur again.
    """
    with tempfile.TemporaryDirectory(prefix="field-") as folder:
        replay, copy = str(HERE / "replay.py"), shutil.copy(candidate.result, folder)
        told = _run(python, folder, replay, "--renew", copy, bound_s=RUN_S)
        if told.code:
            raise MeasureFailed(f"{candidate.text}: {_last(told)}")
        document = read(Path(copy))
        return Measured(document, ended(python, Path(folder), document))


def without_code(text: str, python: Path, mended: Sequence[str] = ()) -> str:
    """Why a class does not run without code for it, "" if it does: its smoke run.

    mended: what each process does before it imports the package.
    """
    with tempfile.TemporaryDirectory(prefix="field-") as folder:
        first = Path(folder) / "first"
        first.mkdir()
        (first / "sitecustomize.py").write_text("\n".join(mended), encoding="utf-8")
        path = str(first) if mended else ""
        told = _suite(python, folder, text, "--smoke", bound_s=SCRIPT_S, path=path)
    came = [line for line in told.told.splitlines() if line.startswith(("  came", "ERROR"))]
    return (came or [_last(told)])[0].strip() if told.code else ""


def _suite(
    python: Path, folder: str, text: str, *options: str, bound_s: float, path: str = ""
) -> Done:
    """A run of the suite on one candidate."""
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "conformance")
    return _run(python, folder, *command, f"--impl={text}", *options, bound_s=bound_s, path=path)


def _run(python: Path, folder: str, *arguments: str, bound_s: float, path: str = "") -> Done:
    """A process of an environment, in a folder of its own; it ends with all that it has started."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "GITHUB_ACTIONS")}
    clean |= {"PYTHONPATH": path} if path else {}
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(
            [str(python), *arguments], cwd=folder, env=clean, stdout=told, stderr=told,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(bound_s)
        except subprocess.TimeoutExpired:
            code = TIMED_OUT
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told.seek(0)
        return Done(code, told.read())


def _last(done: Done) -> str:
    """The line that says what was wrong."""
    lines = [line for line in done.told.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "E "))]
    return (errors or lines or ["it said nothing"])[-1]


def stored(document: Result) -> Result:
    """The result as it is kept: what is not provided is left out."""
    (candidate,) = document["candidates"]
    verdicts = [v for v in candidate["verdicts"] if v["outcome"] != NOT_PROVIDED]
    named = {verdict["clause"] for verdict in verdicts}
    kept = {name: clause for name, clause in document["clauses"].items() if name in named}
    return {**document, "clauses": kept, "candidates": [{**candidate, "verdicts": verdicts}]}


def kept_text(document: Result) -> str:
    """The text of a result's file."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def violations(document: Result) -> list[dict[str, Any]]:
    """The violated clauses of a result."""
    (candidate,) = document["candidates"]
    return [v for v in candidate["verdicts"] if v["outcome"] == VIOLATED]


def subject(verdict: dict[str, Any]) -> str:
    """What a verdict is about, within one candidate."""
    return f"{verdict['clause']} {verdict['role']}"


def ended(python: Path, folder: Path, document: Result) -> dict[str, int]:
    """How the script of each violation ended; 124 for one that did not."""
    codes = {}
    for verdict in violations(document):
        script = folder / "shown.py"
        script.write_text(verdict["evidence"]["script"], encoding="utf-8")
        codes[subject(verdict)] = _run(python, str(folder), str(script), bound_s=SCRIPT_S).code
    return codes
