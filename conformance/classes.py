"""The classes of cases that matter: how far the examples of a property reach.

A counterexample may live only where n < W, only where n % W is W - 1, only from the third pass on,
only past 2^16 indices. A property that never visited such a class has not looked there, and its
"holds" is worth less than it seems; so each class is counted, and a test fails where one that a
scenario can reach is never reached.

In the names of classes W is the world size, b the batch size, k the number of samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Fault, Mapped, Order, Stream
from conformance.operations import (
    Epochs,
    Iterate,
    Look,
    Open,
    Operation,
    Passes,
    Rebuild,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import Data, Generator, Probe, Role, Sparse, Values

MAGNITUDES = (1, 10, 100, 1000, 10_000, 1 << 16)
"""The least size of each order of magnitude."""

UNSENT = ("held", "held-marked", "interrupting")
"""What a dataset gives that cannot be pickled, or not in peace."""

SHOWN = ("n < W", "n = 0", "W = 1")
"""The classes that the terminal shows; the result holds them all."""

Built = dict[str, Any]
"""The arguments of one construction."""


def length(case: Case) -> int:
    """n: the length of the dataset or sequence that the case is about, 0 if it has none."""
    return size_of(dict(case.arguments))


def work(case: Case) -> int:
    """How many items a process draws for the case, about: to compare cases by.

    Each rank orders all items, or one for each rank; simulated ranks share a process.
    """
    count = dict(case.arguments).get("num_samples")
    drawn = max(length(case), count if type(count) is int else 0, case.world_size)
    ranks = case.world_size if case.world == "simulated" else 1
    return ranks * drawn * max(1, sum(_passes(step) for step in case.plan))


def has_workers(case: Case) -> bool:
    """Whether the case's loader has workers, or one that it is built anew as."""
    rebuilt = (other.get("num_workers") for other in overrides(case))
    return any((case.argument("num_workers"), *rebuilt))


def is_forked(case: Case) -> bool:
    """Whether the workers of a loader are forks, and no new interpreters, each of which imports
    torch."""
    return case.argument("multiprocessing_context") in (None, "fork")


def is_sent(case: Case) -> bool:
    """Whether what the workers of a loader need can be pickled, and nothing happens meanwhile."""
    given = (case.argument(name) for name in ("collate_fn", "worker_init_fn"))
    lost = any(getattr(one, "how", "") == "lambda" for one in given)
    return not lost and getattr(case.argument("dataset"), "gives", "") not in UNSENT


def faults(case: Case) -> list[Fault]:
    """All that is planned to go wrong."""
    return [fault for value in _values(case) for fault in getattr(value, "faults", ())]


def _values(case: Case) -> Iterator[Any]:
    for _, value in case.arguments:
        yield value
        if isinstance(value, Role):
            yield from (inner for _, inner in value.arguments)


def overrides(case: Case) -> list[Built]:
    """The arguments that are others when the case builds anew."""
    return [dict(step.overrides) for step in case.plan if isinstance(step, Rebuild)]


def size_of(arguments: Built) -> int:
    """The same of the arguments of one construction."""
    for value in arguments.values():
        if isinstance(value, (Data, Sparse, Mapped, Stream, Order)):
            return value.n
        if isinstance(value, Values):
            return len(value.items)
        if isinstance(value, Probe):
            return value.count
        if isinstance(value, Role):
            return size_of(dict(value.arguments))
    return 0


def classes(case: Case) -> tuple[str, ...]:
    """The classes that a case belongs to, each once: sizes, ranks, passes, options, workers."""
    return tuple(dict.fromkeys(_classes(case)))


def _classes(case: Case) -> Iterator[str]:
    yield f"{case.world}" if case.passed else f"{case.world}, rank found"
    yield from _ranks(length(case), case.world_size)
    yield from _plan(case.plan)
    first = dict(case.arguments)
    for built in (first, *({**first, **other} for other in overrides(case))):
        yield from _size(size_of(built))
        yield from _options(built)
        yield from _batches(built)
        if isinstance(built.get("dataset"), (Mapped, Stream)):
            yield from _workers(built)


def _size(n: int) -> Iterator[str]:
    if n == 0:
        yield "n = 0"
    else:
        yield f"n >= {max(size for size in MAGNITUDES if size <= n)}"


def _ranks(n: int, width: int) -> Iterator[str]:
    yield f"W = {width}" if width < 5 else "W >= 5"
    if n < width:
        yield "n < W"
    elif width > 1:
        yield _rest(n, width, "W")


def _rest(n: int, size: int, name: str) -> str:
    """The class of n's remainder by a size."""
    rests = {0: "0", 1: "1", size - 1: f"{name}-1"}
    return f"n % {name} = {rests.get(n % size, 'other')}"


def _plan(plan: tuple[Operation, ...]) -> Iterator[str]:
    passes = _most(plan)
    yield "passes >= 3" if passes > 2 else f"passes = {passes}"
    epochs = [step.epoch for step in plan if isinstance(step, SetEpoch)]
    epochs += [step.start + step.count - 1 for step in plan if isinstance(step, Epochs)]
    if any(type(epoch) is int and epoch > 2 for epoch in epochs):
        yield "epoch > 2"


def _most(plan: tuple[Operation, ...]) -> int:
    """The most passes that are asked of one construction."""
    passes, most = 0, 0
    for step in plan:
        passes = 0 if isinstance(step, Rebuild) else passes + _passes(step)
        most = max(most, passes)
    return most


def _passes(step: Operation) -> int:
    if isinstance(step, (Passes, Epochs)):
        return step.count
    return int(isinstance(step, (Iterate, Open, Look)))


def _options(built: Built) -> Iterator[str]:
    """Flags by name, where they are given; seeds, a mode, zeros, and how many samples of n."""
    for name, value in built.items():
        if isinstance(value, bool):
            yield name if value else f"no {name}"
        elif isinstance(value, Generator):
            yield "generator"
            yield from _seed(value.seed)
        elif name == "seed" and isinstance(value, int):
            yield from _seed(value)
        elif name == "mode":
            yield f"mode = {value if isinstance(value, str) else 'a number'}"
        elif name == "weights" and isinstance(value, Values) and not all(value.items):
            yield "zero weight"
        elif name == "num_samples" and isinstance(value, int):
            n = size_of(built)
            yield f"k {'<' if value < n else '=' if value == n else '>'} n"


def _seed(seed: int) -> Iterator[str]:
    yield "seed = 0" if seed == 0 else "seed > 0"
    if seed >= 1 << 16:
        yield "seed >= 2^16"


def _batches(built: Built) -> Iterator[str]:
    n, size = size_of(built), built.get("batch_size")
    if type(size) is int and size > 0:
        yield "b = 1" if size == 1 else "b > n" if size > n else _rest(n, size, "b")
    elif "batch_size" in built:
        yield "no batches"


def _workers(built: Built) -> Iterator[str]:
    """What matters to a loader: who fetches what, and how the workers are started."""
    workers, size = built.get("num_workers", 0), built.get("batch_size", 1) or 1
    if type(workers) is not int or type(size) is not int:
        return  # a constructor that is refused
    yield f"workers = {max(0, workers)}" if workers < 3 else "workers >= 3"
    yield "iterable" if isinstance(built["dataset"], Stream) else "map"
    yield from (name for name in ("sampler", "batch_sampler") if name in built)
    if "batch_sampler" not in built and size_of(built) < workers * size:
        yield "n < workers x b"
    if workers:
        yield "prefetch = 1" if built.get("prefetch_factor") == 1 else "prefetch > 1"
        yield f"start = {built.get('multiprocessing_context', 'default')}"
