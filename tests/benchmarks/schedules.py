"""How many completion orders are tried a second, and whether each of them was followed.

python tests/benchmarks/schedules.py [--impl torch.utils.data] [--repeat 5]

Kept workers go through every order of a size, as `workers.same-order` does. Fresh ones are started
for each order, so that they cost what starting processes costs. The last line is the same passes
without a schedule: what the loader itself takes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

from conformance.candidate import Source
from conformance.case import Case
from conformance.loading import Journal, Schedule
from conformance.operations import Iterate
from conformance.scenarios.loading import ROLE, interleavings, parcels
from conformance.trace import Trace
from conformance.worlds.worlds import Worlds

TOGETHER = 140
BOUND_S = 120.0


def orders(workers: int, batches: int, most: int) -> list[tuple[int, ...]]:
    """At most so many orders, spread over all of them."""
    found = list(interleavings(workers, batches))
    return found[:: max(1, len(found) // most)][:most]


def case(workers: int, batches: int, turns: list[tuple[int, ...]], **options: Any) -> Case:
    """One pass for each order."""
    arguments = parcels(workers * batches, num_workers=workers, prefetch_factor=batches, **options)
    plan = [step for order in turns for step in (Schedule(order), Iterate())]
    return Case(ROLE, arguments, [*plan, Journal()])


def lost(trace: Trace) -> int:
    """How many orders could not be followed."""
    return sum(record.kind == "unfollowed" for record in trace.ranks[0].events[-1].value)


def ways() -> Iterator[tuple[str, list[Case]]]:
    """What is measured, by name."""
    kept = {"persistent_workers": True}
    for workers, batches in ((2, 4), (3, 3)):
        every = orders(workers, batches, 10_000)
        chunks = [every[k : k + TOGETHER] for k in range(0, len(every), TOGETHER)]
        name = f"{workers} workers x {batches} batches, kept, {len(every)} orders"
        yield name, [case(workers, batches, chunk, **kept) for chunk in chunks]
    for workers in (2, 3):
        few = orders(workers, 3, 40)
        yield f"{workers} workers x 3 batches, fresh, {len(few)} orders", [case(workers, 3, few)]
    free = [()] * TOGETHER
    yield f"3 workers x 3 batches, kept, no order, {len(free)} passes", [case(3, 3, free, **kept)]


def measure(worlds: Worlds, source: Source, cases: list[Case]) -> tuple[float, int]:
    """Seconds for all cases, and how many orders were not followed."""
    began = time.perf_counter()
    traces = [trace for _, trace in worlds.run_many(source, cases)]
    return time.perf_counter() - began, sum(map(lost, traces))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impl", default="torch.utils.data")
    parser.add_argument("--repeat", type=int, default=5)
    chosen = parser.parse_args()
    worlds, source = Worlds("simulated", BOUND_S), Source(chosen.impl)
    worlds.describe(source)
    collected: list[tuple[str, float, float, int]] = []
    for name, cases in ways():
        passes = sum(isinstance(step, Iterate) for made in cases for step in made.plan)
        found = [measure(worlds, source, cases) for _ in range(chosen.repeat)]
        seconds = statistics.median(taken for taken, _ in found)
        collected.append((name, seconds, passes / seconds, sum(missed for _, missed in found)))
    for name, seconds, rate, missed in collected:
        print(f"{name:48} {seconds:7.2f} s {rate:7.0f} a second, {missed} not followed")
    worlds.close()


if __name__ == "__main__":
    main()
