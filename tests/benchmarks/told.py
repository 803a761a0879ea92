"""Which small case tells of each fault first, so that the test run can begin with it.

    python tests/benchmarks/told.py [--over 1] [--only REGEX] [-n 2] [--anew]

Looks at what `tests/test_faults.py` asks and has nothing kept for. Where it takes more than so many
seconds until a fault is told, and one small case alone tells of it, that is kept in
`tests/detection/told.json`. `--anew` forgets what was kept before.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import test_faults
from detection import told

Asked = tuple[str, str, str, str]
"""A fault, a clause that it names, the effort and the profile."""


def asked(only: str) -> Iterator[tuple[Asked, str]]:
    """All that the test run asks, and by which anomaly each must be told."""
    for param in test_faults.faults():
        text, clause, anomaly, profile = map(str, param.values)
        effort = "ci" if param.id in test_faults.THOROUGH else "quick"
        if re.search(only, told.name(text, clause)):
            yield (text, clause, effort, profile), anomaly


@cache
def bench(use: str) -> test_faults.Bench:
    """One for the search and one for the proof: in one the case may tell by what was before it."""
    return test_faults.Bench()


def work(over_s: float, given: tuple[Asked, str]) -> tuple[str, float, told.Told | None]:
    """The seconds until it is told, and the case that tells of it, if that took so long."""
    one, anomaly = given
    (search,), name = bench("search").searches(*one), told.name(*one[:2])
    if name in told.kept():
        return name, 0.0, told.kept()[name]
    began = time.monotonic()
    case = told.first(search, anomaly)
    took_s = time.monotonic() - began
    again = bench("proof").searches(*one)[0]
    proof = told.verdict(again, case) if case is not None and took_s > over_s else None
    good = proof is not None and anomaly in ("", proof.anomaly)
    return name, took_s, case if good else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--over", type=float, default=1.0, help="seconds until a fault is told")
    parser.add_argument("--only", default="", help="a regular expression: module.py:Class clause")
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--anew", action="store_true", help="forget what was kept before")
    chosen = parser.parse_args()
    if chosen.anew:
        told.keep({})
    with ProcessPoolExecutor(chosen.n, get_context("spawn")) as pool:
        for name, took_s, case in pool.map(partial(work, chosen.over), asked(chosen.only)):
            print(f"{name:60} {took_s:6.2f} s  {case}", flush=True)
            if case:
                told.keep({**told.kept(), name: case})
    return 0


if __name__ == "__main__":
    sys.exit(main())
