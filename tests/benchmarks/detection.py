"""The detection score: which faults of the zoo the suite catches, how surely and how soon.

    python tests/benchmarks/detection.py [--effort quick ci] [--seeds 20] [--whole 2]
        [--only REGEX] [--loaders-seeds 1] [--loaders-whole 0] [-n 2] [--again]
        [--table | --tidy | --check]

Rows that are there already are not made again, so a run may be interrupted and taken up, or done in
portions; a fault that has changed since is done anew. Results go to `tests/detection/`.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from detect import own
from detection import rows as data
from detection.faults import key, scored, source_digest
from detection.rows import NEEDS_ACCELERATOR, Row, Rows
from detection.search import Job, search
from detection.startup import startup_s
from detection.table import EFFORTS, PAGE, page, stale

WITHIN_S = 120.0
"""The bound on one search; a loader that hangs costs 10 s at each clause that hears of it."""

SAVED_EVERY_S = 20.0
STARTUPS = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", nargs="+", choices=EFFORTS, default=["quick", "ci"])
    parser.add_argument("--seeds", type=int, default=20, help="seeds for each fault of samplers")
    parser.add_argument("--whole", type=int, default=2, help="how many of them are whole runs")
    parser.add_argument("--loaders-seeds", type=int, default=0, help="seeds for faults of loaders")
    parser.add_argument("--loaders-whole", type=int, default=0, help="how many are whole runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="a regular expression for module.Class")
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--again", action="store_true", help="make rows anew that are there")
    parser.add_argument("--table", action="store_true", help="write the page, search nothing")
    parser.add_argument("--tidy", action="store_true", help="drop the rows of faults that are gone")
    parser.add_argument("--check", action="store_true", help="tell which rows are stale or missing")
    return parser.parse_args()


def wanted(chosen: argparse.Namespace) -> Iterator[Job]:
    """Every search that was asked for: whole runs first, then seed by seed."""
    faults = {f: source_digest(f) for f in scored() if re.search(chosen.only, key(f))}
    for number in range(max(chosen.seeds, chosen.loaders_seeds)):
        for effort in chosen.effort:
            for fault, source in faults.items():
                seeds = chosen.seeds if fault.samples else chosen.loaders_seeds
                whole = chosen.whole if fault.samples else chosen.loaders_whole
                if number < seeds:
                    seed, complete = chosen.first + number, number < whole
                    yield Job(fault, effort, seed, complete, WITHIN_S, source)


def missing(jobs: list[Job], held: Rows) -> list[Job]:
    """Those of the searches that have no row, or one of a fault that was another then."""

    def done(job: Job) -> bool:
        row = held.by_key.get((key(job.fault), job.effort, job.seed))
        if row is None or row.source != job.source:
            return False
        return row.whole or not job.whole or row.outcome == NEEDS_ACCELERATOR

    return [job for job in jobs if not done(job)]


def work(job: Job) -> Row:
    return search(own(), job)


def run(jobs: list[Job], processes: int) -> None:
    """Carry out searches side by side; the rows are saved as they come."""
    began = saved = time.monotonic()
    new: list[Row] = []
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        futures: list[Future[Row]] = [pool.submit(work, job) for job in jobs]
        try:
            for count, future in enumerate(as_completed(futures), 1):
                new.append(future.result())
                if time.monotonic() - saved > SAVED_EVERY_S:
                    save(new)
                    new, saved = [], time.monotonic()
                    print(f"{count} of {len(jobs)}, {saved - began:.0f} s", flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
            save(new)


def save(new: list[Row]) -> None:
    """Add rows to the data, and make the page of all."""
    PAGE.write_text(page(data.add(new)), encoding="utf-8")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # `run` ends its processes and saves
    chosen = arguments()
    if chosen.check:
        print(*stale(data.read()), sep="\n")
        return 0
    if chosen.tidy:
        data.keep({key(fault) for fault in scored()})
    elif not chosen.table:
        jobs = list(wanted(chosen))
        jobs = jobs if chosen.again else missing(jobs, data.read())
        if any(job.whole for job in jobs):
            data.add([], [startup_s() for _ in range(STARTUPS)])
        run(jobs, chosen.n)
    save([])
    return 0


if __name__ == "__main__":
    sys.exit(main())
