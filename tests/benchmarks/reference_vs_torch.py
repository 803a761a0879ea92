"""Time and memory of the reference samplers beside torch.utils.data, as a Markdown table.

    python tests/benchmarks/reference_vs_torch.py [--quick]

Time: both run in one process, in turns, and the table shows the median of the ratios of
neighbours; a pass is consumed by a C loop, so that nothing but the sampler is measured.
Memory: each sampler runs alone in a fresh process; what is compared is by how much construction
and one pass raise the peak resident set (Linux only; small lengths drown in noise and show "-").
"""

import argparse
import gc
import os
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from torch.utils import data

import reference
from reference import drop_in

WEIGHTS: dict[int, torch.Tensor] = {}


def weights(n: int) -> torch.Tensor:
    if n not in WEIGHTS:
        WEIGHTS[n] = torch.rand(n, dtype=torch.double)
    return WEIGHTS[n]


def batches(m: ModuleType, n: int, size: int, drop_last: bool) -> Iterable[Any]:
    return m.BatchSampler(m.RandomSampler(range(n)), size, drop_last)


CASES: dict[str, Callable[[ModuleType, int], Iterable[Any]]] = {
    "Sequential": lambda m, n: m.SequentialSampler(range(n)),
    "Random": lambda m, n: m.RandomSampler(range(n)),
    "Random, generator": lambda m, n: m.RandomSampler(range(n), generator=torch.Generator()),
    "Random, num_samples=2n": lambda m, n: m.RandomSampler(range(n), num_samples=2 * n),
    "Random, replacement": lambda m, n: m.RandomSampler(range(n), replacement=True),
    "Subset": lambda m, n: m.SubsetRandomSampler(range(n)),
    "Weighted": lambda m, n: m.WeightedRandomSampler(weights(n), n),
    "Weighted, distinct": lambda m, n: m.WeightedRandomSampler(weights(n), n // 2, False),
    "Batch of 32": lambda m, n: batches(m, n, 32, False),
    "Batch of 32, drop_last": lambda m, n: batches(m, n, 32, True),
    "Batch of 32, Sequential": lambda m, n: m.BatchSampler(
        m.SequentialSampler(range(n)), 32, False
    ),
    "Distributed, 1 rank": lambda m, n: m.DistributedSampler(range(n), 1, 0),
    "Distributed, 8 ranks": lambda m, n: m.DistributedSampler(range(n), 8, 3),
    "Distributed, 8, in order": lambda m, n: m.DistributedSampler(range(n), 8, 3, shuffle=False),
}
MODULES = {"reference": reference, "drop_in": drop_in, "torch": data}


def time_s(sampler: Iterable[Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        deque(sampler, maxlen=0)
    return time.perf_counter() - start


def time_ratio(case: str, n: int, pairs: int) -> float:
    ours, theirs = CASES[case](reference, n), CASES[case](data, n)
    repeats = max(1, 100_000 // n)
    ratios = []
    gc.collect()
    gc.disable()
    for turn in range(pairs + 1):
        # Who goes first changes, and the first pair only warms up.
        first, second = (ours, theirs) if turn % 2 else (theirs, ours)
        times_s = {id(first): time_s(first, repeats), id(second): time_s(second, repeats)}
        ratios.append(times_s[id(ours)] / times_s[id(theirs)])
    gc.enable()
    return statistics.median(ratios[1:])


def peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def measure_memory(module: str, case: str, n: int) -> None:
    """Print by how many KiB a pass of n raises this process's peak resident set."""
    torch.manual_seed(0)
    deque(CASES[case](MODULES[module], 100), maxlen=0)
    weights(n)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = peak_kib()
    deque(CASES[case](MODULES[module], n), maxlen=0)
    print(peak_kib() - before)


def memory_kib(module: str, case: str, n: int) -> int:
    command = [sys.executable, __file__, "--memory", module, case, str(n)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return int(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def memory_ratio(case: str, n: int) -> str:
    ours, theirs = memory_kib("reference", case, n), memory_kib("torch", case, n)
    return f"{max(ours, 1) / theirs:.2f}" if theirs >= 4096 else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="lengths up to 10^5, few repeats")
    parser.add_argument("--memory", nargs=3, metavar=("MODULE", "CASE", "N"), help="internal")
    chosen = parser.parse_args()
    if chosen.memory:
        module, case, n = chosen.memory
        measure_memory(module, case, int(n))
        return
    exponents = range(3, 6) if chosen.quick else range(3, 8)
    in_memory = [5] if chosen.quick else [6, 7]
    heads = [f"time 10^{e}" for e in exponents] + [f"memory 10^{e}" for e in in_memory]
    torch.set_num_threads(1)  # what else the machine does shall not decide
    print(f"torch {torch.__version__}, one thread; reference / torch\n")
    print("| sampler | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    for case in CASES:
        pairs = {e: 3 if e > 6 else 9 if chosen.quick or e > 5 else 31 for e in exponents}
        cells = [f"{time_ratio(case, 10**e, pairs[e]):.2f}" for e in exponents]
        cells += [memory_ratio(case, 10**e) for e in in_memory]
        print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
