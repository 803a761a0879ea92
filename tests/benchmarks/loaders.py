"""Speed, start-up and memory of the reference loader beside torch's, as Markdown tables.

    python tests/benchmarks/loaders.py [--quick]

Speed: batches per second, without the first 1 + 2 * workers, which may have been made before the
first was asked for. Both loaders run in one process, in turns, each turn with fresh workers; the
tables show the medians, and the median of the ratios of neighbours.
The bare limit is what no loader can beat by much: W processes collate the same batches, each its
share, and put them into one queue of torch (shared memory, no order, no errors); without workers,
a plain loop. Start-up: from iter() to the first batch, then that of a second pass when workers
persist. Memory: the largest sum of proportional set sizes of all processes, seen at every tenth
batch, each loader in a fresh process (Linux only).
"""

import argparse
import gc
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
import torch
from torch import multiprocessing
from torch.utils import data
from torch.utils.data._utils import worker as torch_worker

import reference

MODULES = {"reference": reference, "torch": data}


class Images:
    """Tensors in memory: an image and a label."""

    def __init__(self, count: int, side: int) -> None:
        self.images = torch.zeros(count, 3, side, side)
        self.labels = torch.arange(count)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Any:
        return self.images[index], self.labels[index]


class Busy(Images):
    """Takes 1 ms of the CPU for each item."""

    def __getitem__(self, index: int) -> Any:
        end_s = time.thread_time() + 0.001
        while time.thread_time() < end_s:
            pass
        return super().__getitem__(index)


class Waiting(Images):
    """Waits 10 ms for each item, as for a disk."""

    def __getitem__(self, index: int) -> Any:
        time.sleep(0.01)
        return super().__getitem__(index)


# name: dataset, batch size; a pass has the items of the dataset
CASES: dict[str, Callable[[int], tuple[Images, int]]] = {
    "labels only, 64": lambda scale: (Images(64 * 200 * scale, 1), 64),
    "3x32x32, 64": lambda scale: (Images(64 * 80 * scale, 32), 64),
    "3x224x224, 32": lambda scale: (Images(32 * 10 * scale, 224), 32),
    "1 ms CPU, 16": lambda scale: (Busy(16 * 25 * scale, 32), 16),
    "10 ms wait, 8": lambda scale: (Waiting(8 * 15 * scale, 32), 8),
}
WORKERS = (0, 1, 2, 4)


def loader(module: str, dataset: Images, size: int, workers: int, **options: Any) -> Any:
    return MODULES[module].DataLoader(dataset, size, num_workers=workers, **options)


def put_share(dataset: Images, size: int, worker: int, workers: int, queue: Any, done: Any) -> None:
    torch.set_num_threads(1)
    # torch collates straight into shared memory where it believes to be in a worker
    torch_worker._worker_info = object()
    for batch in collated(dataset, size, worker, workers):
        queue.put(batch)
    done.wait()  # the queue's tensors are lost if their process ends


def collated(dataset: Images, size: int, worker: int, workers: int) -> Iterator[Any]:
    for start in range(worker * size, len(dataset), workers * size):
        yield data.default_collate([dataset[k] for k in range(start, start + size)])


def bare(dataset: Images, size: int, workers: int) -> Iterator[Any]:
    if not workers:
        yield from collated(dataset, size, 0, 1)
        return
    queue, done = multiprocessing.SimpleQueue(), multiprocessing.Event()
    processes = [
        multiprocessing.Process(
            target=put_share, args=(dataset, size, worker, workers, queue, done), daemon=True
        )
        for worker in range(workers)
    ]
    for process in processes:
        process.start()
    for _ in range(0, len(dataset), size):
        yield queue.get()
    done.set()
    for process in processes:
        process.join()


def batches_per_s(iterator: Iterator[Any], workers: int) -> float:
    for _ in range(1 + 2 * workers):  # made while the workers were being started
        next(iterator)
    start, count = time.perf_counter(), 0
    for _ in iterator:
        count += 1
        end = time.perf_counter()
    return count / (end - start)


def compare_speed(case: str, workers: int, turns: int, scale: int) -> str:
    dataset, size = CASES[case](scale)
    ways: dict[str, Callable[[], Iterator[Any]]] = {
        "reference": lambda: iter(loader("reference", dataset, size, workers)),
        "torch": lambda: iter(loader("torch", dataset, size, workers)),
        "bare": lambda: bare(dataset, size, workers),
    }
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns):
        for name in sorted(ways, reverse=turn % 2 == 0):
            gc.collect()
            seen[name].append(batches_per_s(ways[name](), workers))
    return row(case, workers, seen)


def row(case: str, workers: int, seen: dict[str, list[float]]) -> str:
    speeds = [f"{statistics.median(seen[name]):.0f}" for name in ("reference", "torch", "bare")]
    ratios = [
        statistics.median(a / b for a, b in zip(seen["reference"], seen[other], strict=True))
        for other in ("torch", "bare")
    ]
    cells = [case, str(workers), *speeds, *(f"{ratio:.2f}" for ratio in ratios)]
    return "| " + " | ".join(cells) + " |"


def first_batch_ms(source: Any) -> float:
    start = time.perf_counter()
    iterator = iter(source)
    next(iterator)
    taken = 1000 * (time.perf_counter() - start)
    for _ in iterator:
        pass
    return taken


def compare_start(workers: int, turns: int) -> str:
    dataset = Images(64, 1)
    seen: dict[tuple[str, int], list[float]] = {}
    for turn in range(turns):
        for module in sorted(MODULES, reverse=turn % 2 == 0):
            kept = loader(module, dataset, 8, workers, persistent_workers=True)
            for number in range(2):
                seen.setdefault((module, number), []).append(first_batch_ms(kept))
    cells = [f"{statistics.median(times):.1f}" for _, times in sorted(seen.items())]
    return f"| {workers} | " + " | ".join(cells) + " |"


def measure_memory(module: str, case: str, workers: int) -> None:
    """Print the largest sum of the proportional set sizes, in MiB."""
    dataset, size = CASES[case](2)
    largest = 0
    for number, _ in enumerate(loader(module, dataset, size, workers)):
        if number % 10 == 0:
            me = psutil.Process()
            family = [me, *me.children(recursive=True)]
            largest = max(largest, sum(one.memory_full_info().pss for one in family))
    print(largest >> 20)


def memory_mib(module: str, case: str, workers: int) -> str:
    command = [sys.executable, __file__, "--memory", module, case, str(workers)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short passes, few turns")
    parser.add_argument("--memory", nargs=3, metavar=("MODULE", "CASE", "W"), help="internal")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # torch finds more workers than cores remarkable
    torch.set_num_threads(1)
    if chosen.memory:
        module, case, workers = chosen.memory
        measure_memory(module, case, int(workers))
        return
    turns, scale = (3, 1) if chosen.quick else (5, 2)
    print(f"torch {torch.__version__}, {multiprocessing.cpu_count()} cores; batches per second\n")
    print("| items, batch | workers | reference | torch | bare | ref / torch | ref / bare |")
    print("|---|" + "---:|" * 6)
    for case in CASES:
        for workers in WORKERS:
            print(compare_speed(case, workers, turns, scale), flush=True)
    print("\nms to the first batch, of a first and of a second pass (persistent workers)\n")
    print("| workers | reference, 1st | reference, 2nd | torch, 1st | torch, 2nd |")
    print("|---|" + "---:|" * 4)
    for workers in WORKERS[1:]:
        print(compare_start(workers, turns), flush=True)
    print("\nMiB of all processes\n\n| items, batch | workers | reference | torch |")
    print("|---|---:|---:|---:|")
    for case in list(CASES)[:3]:
        sizes = [memory_mib(module, case, 2) for module in MODULES]
        print(f"| {case} | 2 | " + " | ".join(sizes) + " |", flush=True)


if __name__ == "__main__":
    main()
