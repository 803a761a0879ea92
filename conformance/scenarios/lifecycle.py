"""Cases of `spec/lifecycle.md`: loaders that end in every way, and those that cannot even start.

All of them run alone, since any may leave something behind; see `lifecycle_blows.py` for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import (
    Consume,
    Daemon,
    Describe,
    Drop,
    Journal,
    Leftovers,
    Limit,
    Memory,
    Printed,
    Settle,
)  # fmt: skip
from conformance.operations import (
    Drain,
    Iterate,
    Open,
    Operation,
    Rebuild,
    Surround,
    Take,
)  # fmt: skip
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import loader, takes

Steps = list[Operation]

PERSISTENT: dict[str, Any] = {"persistent_workers": True}


def alone(setting: Setting, dataset: Any, steps: Steps, **options: Any) -> Iterator[Case]:
    """A case in a process of its own, if the candidate takes the options."""
    options = {"num_workers": 2, **options}
    if takes(setting, **options):
        yield loader(dataset, steps, world="alone", **options)


def _repeated(steps: Steps, times: int = 4) -> Steps:
    """What is left after one round, after two, and after many."""
    return [*steps, Leftovers(), *steps, Leftovers(), *steps * times, Leftovers()]


def _ends(setting: Setting) -> Iterator[Case]:
    """Exhaustion, break, the loss of the loader; few workers and more."""
    leave: Steps = [Open("a"), Take("a"), Drop("a")]
    two: Steps = [Open("a"), Open("b"), Take("a", 2), Take("b"), Drop("a"), Drop("b")]
    whole: Steps = [Iterate()]
    for dataset, steps in (
        (Mapped(8), whole), (Mapped(8), leave), (Mapped(8), two),
        (Mapped(8, gives="bulk"), leave), (Mapped(8, gives="large"), leave), (Stream(8), leave),
    ):  # fmt: skip
        yield from alone(setting, dataset, _repeated(steps))
    yield from alone(setting, Mapped(8), _repeated(whole), num_workers=3, prefetch_factor=4)
    for steps in (whole, leave):
        yield from alone(setting, Mapped(8), _repeated(steps, 1), timeout=60)
    late: Steps = [Open("a"), Take("a"), Settle(), Drop("a")]
    yield from alone(setting, Mapped(8), _repeated(late, 1), num_workers=0)
    threads: Steps = [Surround(), Rebuild(), *whole, Drop(), Leftovers()]
    yield from alone(setting, Mapped(8), threads, num_workers=0)
    others = Surround(spare=True, launched=(0, 2))
    spare: Steps = [others, Rebuild(), *whole, Drop(), Leftovers()]
    for workers in (0, 2):
        yield from alone(setting, Mapped(8), spare, num_workers=workers)
    steps = [Rebuild(), Iterate(), Iterate(), Drop()]
    yield from alone(setting, Mapped(8), _repeated(steps), **PERSISTENT)
    yield from alone(setting, Mapped(8, gives="stored"), _repeated(steps, 1), **PERSISTENT)
    steps = [Rebuild(), *leave, Iterate(), Drop()]
    yield from alone(setting, Mapped(8), _repeated(steps), num_workers=3, **PERSISTENT)
    # Large results are under way, or have come and are not delivered, when the caller breaks off.
    steps = [Rebuild(), Open("a"), Take("a"), Settle(), Drop("a"), Iterate(), Drop()]
    large = Mapped(12, gives="bulk")
    yield from alone(setting, large, _repeated(steps, 2), batch_size=2, **PERSISTENT)
    steps = [Rebuild(), Open("a"), Take("a"), Settle(), Drop("a"), Drop()]
    tensors = Mapped(6, gives="large")
    yield from alone(setting, tensors, _repeated(steps, 2), prefetch_factor=1, **PERSISTENT)
    # Workers whose streams have ended are as idle as any.
    steps = [Rebuild(), Iterate(), Drop()]
    yield from alone(setting, Stream(8), _repeated(steps, 1), num_workers=3, **PERSISTENT)
    # A large batch cannot be unpickled.
    torn = Mapped(6, gives="wide", faults=(Fault("item", 2, "bursting"),))
    steps = [Open("a"), Drain("a"), Drop("a")]
    listed: dict[str, Any] = {"batch_size": 2, "collate_fn": Collate("list"), "num_workers": 1}
    yield from alone(setting, torn, _repeated(steps, 1), **listed)
    # Whoever has read it to the end may hold an iterator for long.
    held: Steps = [Open("a"), Drain("a")]
    for dataset in (Mapped(8), Stream(8)):
        yield from alone(setting, dataset, [*held, Leftovers(), Drop("a"), *held, Leftovers()])
    for start in ("spawn", "forkserver"):
        anew: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": start}
        yield from alone(setting, Mapped(4), [*whole, Drop(), Leftovers()], **anew)


BROKEN = Order(4, faults=(Fault("sampler", 1, "ValueError"),))

REFUSED: tuple[dict[str, Any], ...] = (
    {"num_workers": -1}, {"batch_size": 0}, {"timeout": -1}, {"prefetch_factor": 0},
    {"multiprocessing_context": "no such"}, {"sampler": BROKEN},
)  # fmt: skip


def _refused(setting: Setting) -> Iterator[Case]:
    """Constructions that are refused, or pass and fail at iter()."""
    for options in REFUSED:
        if takes(setting, **options):
            steps: Steps = [Rebuild(tuple(options.items())), Open("a"), Drop()]
            yield from alone(setting, Mapped(4), [*_repeated(steps), Printed()])


NO_WORKERS = (("num_workers", 0), ("multiprocessing_context", None))


def _unsendable(setting: Setting) -> Iterator[Case]:
    """What cannot be sent, workers that may not be started, and too few descriptors for all."""
    given: dict[str, Any]
    for start in ("spawn", "forkserver"):
        for given in ({"collate_fn": Collate("lambda")}, {"worker_init_fn": Init("lambda")}, {}):
            dataset = Mapped(4, gives="number" if given else "held")
            steps: Steps = [Open("a"), Drain("a"), Describe(), Journal(), Drop(), Leftovers()]
            steps += [Printed(), Rebuild(NO_WORKERS), Iterate(), Describe()]
            yield from alone(setting, dataset, steps, multiprocessing_context=start, **given)
    steps = [Rebuild(), Open("a"), Drop()]
    given = {"collate_fn": Collate("lambda"), "multiprocessing_context": "spawn"}
    yield from alone(setting, Mapped(4), _repeated(steps, 1), **given)
    yield from alone(setting, Mapped(4), [Daemon(), Open("a"), Drain("a"), Drop(), Printed()])
    # Who asks the fork server for a worker, and then runs out of descriptors, cannot take it back.
    named = takes(setting, multiprocessing_context="fork")
    forked = {"multiprocessing_context": "fork"} if named else {}
    short = [step for spare in range(0, 16, 2) for step in _short_of(spare)]
    yield from alone(setting, Mapped(4), [*short, Leftovers(), Printed()], **forked)
    begun: Steps = [Open("a"), Drain("a"), Drop("a"), Leftovers(), Leftovers()]
    for spare in (5, 8, 11):
        begun += [*_short_of(spare), Leftovers()]
    yield from alone(setting, Mapped(4), begun, **forked)
    # What was set for the workers to come is set back, though none came.
    steps = [Surround(), Rebuild(), Open("a"), Drop(), Leftovers()]
    yield from alone(setting, Mapped(4), steps, **given)
    yield from alone(setting, Mapped(4), [Daemon(), *steps])


def _short_of(spare: int) -> Steps:
    """A start with so few descriptors to spare."""
    return [Limit("descriptors", spare), Open("a"), Limit("descriptors", -1), Drop("a")]


def _growth(setting: Setting) -> Iterator[Case]:
    """Twelve MiB a pass, again and again."""
    steps: Steps = [*[Iterate()] * 4, *[Memory(), *[Iterate()] * 6] * 3, Memory()]
    yield from alone(setting, Mapped(12, gives="bulk"), steps, batch_size=4)
    yield from alone(setting, Mapped(12, gives="bulk"), steps, batch_size=4, **PERSISTENT)


def _consumed(setting: Setting) -> Iterator[Case]:
    """Batches that nobody wants any more, without workers and with them."""
    for options in ({"num_workers": 0}, {"num_workers": 2}, {"num_workers": 1, **PERSISTENT}):
        if takes(setting, **options):
            yield loader(Mapped(24), [Open("a"), Consume("a"), Open("b"), Consume("b")], **options)


ENDS = Scenario("ends", _ends)
CONSUMED = Scenario("consumed", _consumed)
REFUSALS = Scenario("refused-starts", _refused)
UNSENDABLE = Scenario("unsendable-starts", _unsendable)
GROWTH = Scenario("growth", _growth, slow=True)
