"""False accusations: right candidates of the zoo, under many seeds, must be accused of nothing.

    python tests/benchmarks/accusations.py [--seeds 5] [--effort ci] [--loaders] [-n 2]

Each run examines every clause about samplers, or with `--loaders` about loaders, up to the first
violation; of a loader that is not made from the reference's the chapter alone that it is about.
`seeds.py` does the same for whole runs of the reference, and of torch with its baseline.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from detect import Detection, own
from zoo import HONEST, RIGHT, SAMPLING, ZOO, classes

from conformance.clauses import CHAPTERS, clauses
from reference import DataLoader

WITHIN_S = 900.0

LOADING = CHAPTERS[len(SAMPLING) :]


class Run(NamedTuple):
    """A right candidate, the chapters that it is asked about, and a seed."""

    text: str
    chapters: tuple[str, ...]
    effort: str
    seed: int


def candidates(loaders: bool) -> list[tuple[str, tuple[str, ...]]]:
    """Every right class with the chapters that it is asked: of samplers, or of loaders."""
    found = [
        (
            f"{ZOO / module}.py:{kind.__name__}",
            LOADING if issubclass(kind, DataLoader) else chapters,
        )
        for module, chapters in RIGHT.items()
        for kind in classes(module)
    ]
    found += [(f"{ZOO / 'honest'}.py:{name}", SAMPLING) for name in HONEST]
    return [(text, chapters) for text, chapters in found if (chapters is not SAMPLING) == loaders]


def accused(run: Run) -> Detection | None:
    """The first violation, or None."""
    detector = own()
    detector.choose(run.effort, run.seed)
    detector.fresh()
    asked = [name for name, clause in clauses().items() if clause.chapter in run.chapters]
    return detector.first(run.text, asked, WITHIN_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--effort", default="ci")
    parser.add_argument("--loaders", action="store_true", help="right loaders, not samplers")
    parser.add_argument("-n", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    runs = [
        Run(text, chapters, chosen.effort, seed)
        for seed in range(chosen.first, chosen.first + chosen.seeds)
        for text, chapters in candidates(chosen.loaders)
    ]
    began, bad = time.monotonic(), 0
    with ProcessPoolExecutor(chosen.n, get_context("spawn")) as pool:
        futures = {pool.submit(accused, run): run for run in runs}
        for future in as_completed(futures):
            run, found = futures[future], future.result()
            if found is not None:
                bad += 1
                print(f"seed {run.seed}, {run.text}: {found.clause} {found.anomaly}", flush=True)
    took = time.monotonic() - began
    print(f"{len(runs)} runs of {len(candidates(chosen.loaders))} candidates, {bad} accused")
    print(f"{took:.0f} s with {chosen.n} processes, effort {chosen.effort}")
    return bad


if __name__ == "__main__":
    sys.exit(main())
