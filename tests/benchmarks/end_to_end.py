"""How long somebody waits who runs the suite on a wrong implementation: a process for each fault.

    python tests/benchmarks/end_to_end.py [--every 10] [--first 0] [--only REGEX] [--beside ROOT]

It is `pytest -x --strict-should --impl=FAULT`, with a `--baseline` where the fault is made from
torch's own class, from the start of the process to the first violation, one fault after the other.
`detection.py` searches all faults in one process, which is cheaper; this tells whether its seconds
and those of a start-up add up to what a user sees. `--beside` asks another checkout about the same
faults in turns, since a machine is not always as fast.
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
from detection.startup import ROOT, RUN_S_MAX, told_s
from zoo import Fault

BOUNDS_S = (2, 5, 15)

Times = list[float | None]


def waited_s(fault: Fault, root: Path) -> float | None:
    """Seconds up to the first violation; None if there was none within the bound."""
    try:
        found = told_s(fault.text, baseline(fault), root)
    except subprocess.TimeoutExpired:
        found = None
    what = f"nothing within {RUN_S_MAX} s"
    if found:
        what = f"{found[0]:6.2f} s  {found[2].partition(fault.text)[0].rstrip('-')}"
    print(f"{key(fault):45} {what}", flush=True)
    return found[0] if found else None


def summary(name: str, seconds: Times) -> str:
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


def compared(here: Times, there: Times) -> str:
    """How the times of this checkout compare with those of another."""
    pairs = [(a, b) for a, b in zip(here, there, strict=True) if a and b]
    if not pairs:
        return "here / there: nothing to compare"
    ratios = sorted(a / b for a, b in pairs)
    total = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    cut = len(ratios) // 10
    return (
        f"here / there: median {statistics.median(ratios):.2f}, of the sums {total:.2f},"
        f" 80 % of them in {ratios[cut]:.2f} to {ratios[-1 - cut]:.2f}"
    )


def measured(faults: list[Fault], roots: list[Path]) -> dict[Path, Times]:
    """What each checkout takes for each fault; they take turns in going first."""
    found: dict[Path, Times] = {root: [] for root in roots}
    for number, fault in enumerate(faults):
        for root in roots[:: 1 if number % 2 else -1]:
            found[root].append(waited_s(fault, root))
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=10, help="every so many faults")
    parser.add_argument("--first", type=int, default=0, help="the place of the first of them")
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--only", default="", help="a regular expression for module.Class")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    faults = [f for f in scored() if f.here and f.profile == "core"][chosen.first :: chosen.every]
    faults = [fault for fault in faults if re.search(chosen.only, key(fault))]
    found = measured(faults, [ROOT, *([chosen.beside.resolve()] if chosen.beside else [])])
    for name, kinds in (("samplers", (True,)), ("loaders", (False,)), ("all", (True, False))):
        some = [number for number, fault in enumerate(faults) if fault.samples in kinds]
        times = {root: [seconds[number] for number in some] for root, seconds in found.items()}
        for root, seconds in times.items():
            print(summary(f"{name} of {root.name}", seconds))
        if chosen.beside:
            print(compared(*times.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
