"""How long a whole conformance run takes, as a person would start it.

    python tests/benchmarks/whole_run.py [--impl torch.utils.data] [--runs 3]
        [--beside CHECKOUT] [-- --on=DistributedSampler --effort=quick]

With another checkout beside it the two are run in turns. What stands after `--` is given to the
runs. Each run is a process of its own. CPU seconds and the peak are those of the run and of every
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


def measure(root: Path, impl: str, options: list[str]) -> Run:
    """Carry out one run of the suite that lies in a checkout."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance"]
    command += [f"--impl={impl}", "--baseline=torch", "-q", *options]
    with tempfile.TemporaryFile() as said:
        cpu_s, start = children_cpu_s(), time.perf_counter()
        process = subprocess.Popen(
            command, cwd=root, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        code = wait_s(process)
        wall_s, cpu_s = time.perf_counter() - start, children_cpu_s() - cpu_s
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    return Run(wall_s, cpu_s, code, lines[-1] if lines else "")


def row(name: str, values: list[float]) -> str:
    found = min(values), statistics.median(values), max(values)
    return f"| {name} | " + " | ".join(f"{value:.1f}" for value in found) + " |"


def print_runs(root: Path, runs: list[Run]) -> None:
    """What the runs of one checkout took, and how they ended."""
    print(f"\n| {root} | min | median | max |\n|---|---:|---:|---:|")
    print(row("wall seconds", [run.wall_s for run in runs]))
    print(row("CPU seconds, user and system", [run.cpu_s for run in runs]), end="\n\n")
    for run in runs:
        print(f"exit code {run.code}: {run.last}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impl", default="torch.utils.data", help="the candidate")
    parser.add_argument("--runs", type=int, default=3, help="how often to run it")
    parser.add_argument("--beside", type=Path, help="another checkout, for runs in turns")
    parser.add_argument("options", nargs="*", help="more options of the runs, after --")
    chosen = parser.parse_args()
    roots = [root.resolve() for root in (ROOT, chosen.beside) if root]
    runs: dict[Path, list[Run]] = {root: [] for root in roots}
    for _ in range(chosen.runs):
        for root in roots:
            runs[root].append(measure(root, chosen.impl, chosen.options))
    print(f"{chosen.impl}, {chosen.runs} runs, {os.cpu_count()} cores")
    for root, made in runs.items():
        print_runs(root, made)
    if len(roots) > 1:
        here, there = (statistics.median(run.wall_s for run in runs[root]) for root in roots)
        print(f"\nRatio of the medians of wall seconds: {here / there:.2f}")
    print(f"\nPeak of the largest process: {peak_mib():.0f} MiB")
    return max(run.code for run in runs[ROOT])


if __name__ == "__main__":
    sys.exit(main())
