"""How long a whole conformance run takes, as a person would start it.

    python tests/benchmarks/whole_run.py [--impl torch.utils.data] [--runs 3]

Each run is a process of its own. CPU seconds and the peak are those of the run and of every
process that it started and waited for, ranks included; the peak is that of the largest process.
"""

import argparse
import contextlib
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN_S_MAX = 1800.0


@dataclass(frozen=True)
class Run:
    """What one run took, how it ended, and the last line that it printed."""

    wall_s: float
    cpu_s: float
    code: int
    last: str


def children_cpu_s() -> float:
    """User and system seconds of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_mib() -> float:
    """The largest resident set that any of them had."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit


def wait_s(process: subprocess.Popen[bytes]) -> int:
    """Wait within the bound; whatever is left of the run's session is killed."""
    try:
        return process.wait(RUN_S_MAX)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def measure(impl: str) -> Run:
    """Carry out one run."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance"]
    command += [f"--impl={impl}", "--baseline=torch", "-q"]
    with tempfile.TemporaryFile() as said:
        cpu_s, start = children_cpu_s(), time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        code = wait_s(process)
        wall_s, cpu_s = time.perf_counter() - start, children_cpu_s() - cpu_s
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    return Run(wall_s, cpu_s, code, lines[-1] if lines else "")


def row(name: str, values: list[float]) -> str:
    found = min(values), statistics.median(values), max(values)
    return f"| {name} | " + " | ".join(f"{value:.1f}" for value in found) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impl", default="torch.utils.data", help="the candidate")
    parser.add_argument("--runs", type=int, default=3, help="how often to run it")
    chosen = parser.parse_args()
    runs = [measure(chosen.impl) for _ in range(chosen.runs)]
    print(f"{chosen.impl}, {len(runs)} runs, {os.cpu_count()} cores\n")
    print("| | min | median | max |\n|---|---:|---:|---:|")
    print(row("wall seconds", [run.wall_s for run in runs]))
    print(row("CPU seconds, user and system", [run.cpu_s for run in runs]))
    print(f"\nPeak of the largest process: {peak_mib():.0f} MiB")
    for run in runs:
        print(f"exit {run.code}: {run.last}")
    return max(run.code for run in runs)


if __name__ == "__main__":
    sys.exit(main())
