"""Whether verdicts depend on the seed: whole runs under many seeds must say the same.

After each run, whatever it has left behind is told too: processes, shared memory, folders.

python tests/benchmarks/seeds.py --impl reference --runs 50 [--effort ci]
python tests/benchmarks/seeds.py --impl torch.utils.data --baseline torch --runs 50
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from conformance.worlds.forkserver import MARK
from conformance.worlds.leftovers import named_segments

LINE = re.compile(r"^([a-z]+\.[a-z-]+)\s+(MUST|SHOULD)\s+(.{19})(.*)$")
BOUND_S = 900


def verdicts(text: str) -> tuple[str, ...]:
    """Clause, outcome and roles of every line of the summary, without the counts."""
    found = (LINE.match(line) for line in text.splitlines())
    return tuple(
        f"{m[1]} {m[3].strip()} {re.sub(r'.*cases [(].*?[)]', '', m[4]).strip()}"
        for m in found
        if m
    )


def strays(folder: str) -> set[str]:
    """What runs with this folder for temporary files have left behind, by name.

    Shared memory is named after its maker, which other runs on this machine may still be using.
    """
    found = {str(path) for path in Path(folder).glob("conformance-*")}
    found |= {str(path) for path, pid in named_segments() if not psutil.pid_exists(pid)}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            about = process.environ()
            if MARK in about and about.get("TMPDIR") == folder:
                found.add(f"process {process.pid}: {' '.join(process.cmdline())[:60]}")
    return found


def run(impl: str, seed: int, options: list[str], folder: str) -> tuple[int, tuple[str, ...]]:
    """One whole run: its exit code and its verdicts."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--impl={impl}", f"--conformance-seed={seed}", "--strict-should", *options],
        capture_output=True, text=True, timeout=BOUND_S, env={**os.environ, "TMPDIR": folder},
    )  # fmt: skip
    return done.returncode, verdicts(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impl", default="reference")
    parser.add_argument("--baseline")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--effort", default="ci")
    parser.add_argument("--clause", action="append", default=[], help="only clauses like this")
    chosen = parser.parse_args()
    options = [f"--effort={chosen.effort}"]
    options += [f"--baseline={chosen.baseline}"] if chosen.baseline else []
    options += [f"--clause={pattern}" for pattern in chosen.clause]
    folder = tempfile.mkdtemp(prefix="seeds-")
    seen: Counter[tuple[int, tuple[str, ...]]] = Counter()
    lost = 0
    began, before = time.monotonic(), strays(folder)
    for seed in range(chosen.first, chosen.first + chosen.runs):
        found = run(chosen.impl, seed, options, folder)
        if seen and found not in seen:
            first = next(iter(seen))
            print(f"seed {seed} differs:", found[0], set(found[1]) ^ set(first[1]), flush=True)
        seen[found] += 1
        if left := strays(folder) - before:
            print(f"seed {seed} left behind:", *sorted(left), sep="\n  ", flush=True)
            before |= left
            lost += 1
    shutil.rmtree(folder, ignore_errors=True)
    told = ", ".join(f"{count} runs with exit code {code}" for (code, _), count in seen.items())
    print(f"{chosen.impl}: {told}; {time.monotonic() - began:.0f} s", flush=True)
    return len(seen) - 1 + lost


if __name__ == "__main__":
    sys.exit(main())
