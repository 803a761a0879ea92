"""Which cases tell of faults of loaders late, and would better go sooner.

    python tests/benchmarks/telling.py [--over 8] [--only REGEX] [-n 2] [--anew]

Looks again for the faults that took a whole run more than so many seconds, by their rows, and for
those that have no row. Where a late part of the cases was the first to tell, the case is added to
`conformance/telling.txt`. `--anew` forgets what was kept before.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from detect import own
from detection import rows as data
from detection.cases import digests
from detection.faults import key, scored
from detection.known import known
from zoo import Fault

from conformance import telling
from conformance.examine import Examiner

LATE, LATE_ALONE = 3, 1
"""The number of the first part that is not soon looked at; of cases that each take a process."""

WITHIN_S = 90.0

Told = tuple[str, float, tuple[str, str, bool] | None]
"""A fault, the seconds, and the case: its scenario, its digest, and whether its part is late."""


def work(fault: Fault) -> Told:
    """The case that tells of it first."""
    detector = own()
    detector.choose("ci", 0, fault.profile)
    detector.deviations = known(fault)
    detector.fresh()
    began = time.monotonic()
    try:
        detector.first(fault.text, within_s=WITHIN_S)
    except TimeoutError:
        return key(fault), WITHIN_S, None
    return key(fault), round(time.monotonic() - began, 2), next(_shown(detector.examiner), None)


def _shown(examiner: Examiner) -> Iterator[tuple[str, str, bool]]:
    """The case that the glance saw, or the one that a role did not come back from."""
    seen = [case for _, (case, _) in examiner.shown.values()]
    seen += [trace.case for trace in examiner.worlds.losses.first.values()]
    for (source, role, name), small in examiner.small.items():
        parts = examiner.divided.get((source, role, name), [])
        for at in (at for at, pair in small.found.items() if pair and pair[0] in seen):
            made = next(islice(small.made, at, None))
            part = next((n for n, one in enumerate(parts) if at in one), 0)
            first_late = LATE_ALONE if made.world == "alone" else LATE
            yield name, telling.digest(made), part >= first_late


def late(over_s: float, only: str) -> list[Fault]:
    """Faults of loaders without a row, or with one of so many seconds."""
    held = data.read().by_key
    found = [f for f in scored() if not f.samples and f.here and re.search(only, key(f))]
    rows = [(fault, held.get((key(fault), "ci", 0))) for fault in found]
    return [fault for fault, row in rows if row is None or row.seconds > over_s]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--over", type=float, default=8.0, help="seconds of a whole run")
    parser.add_argument("--only", default="", help="a regular expression for module.Class")
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--anew", action="store_true", help="forget what was kept before")
    chosen = parser.parse_args()
    if chosen.anew:
        telling.keep(())
    there = digests()
    telling.keep(there & telling.kept())
    with ProcessPoolExecutor(chosen.n, get_context("spawn")) as pool:
        for name, seconds, shown in pool.map(work, late(chosen.over, chosen.only)):
            print(f"{name:45} {seconds:6.2f} s  {shown}", flush=True)
            if shown and shown[2]:
                telling.keep(there & {*telling.kept(), shown[:2]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
