"""How long somebody waits who runs the suite on a wrong implementation: a process for each fault.

    python tests/benchmarks/end_to_end.py [--every 10] [--only REGEX]

It is `pytest -x --strict-should --impl=FAULT`, with a `--baseline` where the fault is made from
torch's own class, from the start of the process to the first violation, one fault after the other.
`detection.py` searches all faults in one process, which is cheaper; this tells whether its seconds
and those of a start-up add up to what a user sees.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from detection.faults import key, scored
from detection.known import baseline
from detection.startup import RUN_S_MAX, told_s
from zoo import Fault

BOUNDS_S = (2, 5, 15)


def waited_s(fault: Fault) -> float | None:
    """Seconds up to the first violation; None if there was none within the bound."""
    try:
        found = told_s(fault.text, baseline(fault))
    except subprocess.TimeoutExpired:
        found = None
    what = f"nothing within {RUN_S_MAX} s"
    if found:
        what = f"{found[0]:6.2f} s  {found[2].partition(fault.text)[0].rstrip('-')}"
    print(f"{key(fault):45} {what}", flush=True)
    return found[0] if found else None


def summary(name: str, seconds: list[float | None]) -> str:
    """A line on some faults."""
    told = sorted(one for one in seconds if one is not None)
    if not told:
        return f"{name}: none of {len(seconds)} told"
    within = ", ".join(
        f"{sum(one <= bound for one in told) / len(seconds):.0%} within {bound} s"
        for bound in BOUNDS_S
    )
    middle, mean = statistics.median(told), statistics.mean(told)
    return (
        f"{name}: {len(told)} of {len(seconds)} told, median {middle:.2f} s, mean {mean:.1f} s,"
        f" {within}, slowest {told[-1]:.1f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=10, help="every so many faults")
    parser.add_argument("--only", default="", help="a regular expression for module.Class")
    chosen = parser.parse_args()
    faults = [f for f in scored() if f.here and f.profile == "core"][:: chosen.every]
    found = {f: waited_s(f) for f in faults if re.search(chosen.only, key(f))}
    print(summary("samplers", [s for f, s in found.items() if f.samples]))
    print(summary("loaders", [s for f, s in found.items() if not f.samples]))
    print(summary("all", [*found.values()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
