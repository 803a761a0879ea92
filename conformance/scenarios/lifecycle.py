"""Cases of `spec/lifecycle.md`: loaders that end in every way, are struck, forked and starved.

All of them run alone, since any may hang, kill or leave something behind. Those processes run side
by side, so the cases that take longest with a loader that waits for its workers come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import (
    Daemon,
    Describe,
    Drop,
    Fork,
    Free,
    Interrupt,
    Journal,
    Leftovers,
    Limit,
    Memory,
    Orphan,
    Ponder,
    Preempt,
    Printed,
    Schedule,
    Settle,
    Shut,
    Strike,
)  # fmt: skip
from conformance.operations import (
    Drain,
    Iterate,
    Open,
    Operation,
    Rebuild,
    SetEpoch,
    Surround,
    Take,
    Threads,
)  # fmt: skip
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import loader, parcels, takes

Steps = list[Operation]

PERSISTENT: dict[str, Any] = {"persistent_workers": True}

OFTEN = 5
"""More deaths than somebody may want to see before he gives up."""


def _alone(setting: Setting, dataset: Any, steps: Steps, **options: Any) -> Iterator[Case]:
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
        yield from _alone(setting, dataset, _repeated(steps))
    yield from _alone(setting, Mapped(8), _repeated(whole), num_workers=3, prefetch_factor=4)
    for steps in (whole, leave):
        yield from _alone(setting, Mapped(8), _repeated(steps, 1), timeout=60)
    late: Steps = [Open("a"), Take("a"), Settle(), Drop("a")]
    yield from _alone(setting, Mapped(8), _repeated(late, 1), num_workers=0)
    threads: Steps = [Surround(), Rebuild(), *whole, Drop(), Leftovers()]
    yield from _alone(setting, Mapped(8), threads, num_workers=0)
    others = Surround(spare=True, launched=(0, 2))
    spare: Steps = [others, Rebuild(), *whole, Drop(), Leftovers()]
    for workers in (0, 2):
        yield from _alone(setting, Mapped(8), spare, num_workers=workers)
    steps = [Rebuild(), Iterate(), Iterate(), Drop()]
    yield from _alone(setting, Mapped(8), _repeated(steps), **PERSISTENT)
    yield from _alone(setting, Mapped(8, gives="stored"), _repeated(steps, 1), **PERSISTENT)
    steps = [Rebuild(), *leave, Iterate(), Drop()]
    yield from _alone(setting, Mapped(8), _repeated(steps), num_workers=3, **PERSISTENT)
    # Large results are under way, or have come and are not delivered, when the caller breaks off.
    steps = [Rebuild(), Open("a"), Take("a"), Settle(), Drop("a"), Iterate(), Drop()]
    large = Mapped(12, gives="bulk")
    yield from _alone(setting, large, _repeated(steps, 2), batch_size=2, **PERSISTENT)
    steps = [Rebuild(), Open("a"), Take("a"), Settle(), Drop("a"), Drop()]
    tensors = Mapped(6, gives="large")
    yield from _alone(setting, tensors, _repeated(steps, 2), prefetch_factor=1, **PERSISTENT)


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
            yield from _alone(setting, Mapped(4), [*_repeated(steps), Printed()])


NO_WORKERS = (("num_workers", 0), ("multiprocessing_context", None))


def _unsendable(setting: Setting) -> Iterator[Case]:
    """What cannot be sent, workers that may not be started, and too few descriptors for all."""
    given: dict[str, Any]
    for start in ("spawn", "forkserver"):
        for given in ({"collate_fn": Collate("lambda")}, {"worker_init_fn": Init("lambda")}, {}):
            dataset = Mapped(4, gives="number" if given else "held")
            steps: Steps = [Open("a"), Drain("a"), Describe(), Journal(), Drop(), Leftovers()]
            steps += [Printed(), Rebuild(NO_WORKERS), Iterate(), Describe()]
            yield from _alone(setting, dataset, steps, multiprocessing_context=start, **given)
    steps = [Rebuild(), Open("a"), Drop()]
    given = {"collate_fn": Collate("lambda"), "multiprocessing_context": "spawn"}
    yield from _alone(setting, Mapped(4), _repeated(steps, 1), **given)
    yield from _alone(setting, Mapped(4), [Daemon(), Open("a"), Drain("a"), Drop(), Printed()])
    short: Steps = [
        step for spare in range(0, 16, 2)
        for step in (Limit("descriptors", spare), Open("a"), Limit("descriptors", -1), Drop("a"))
    ]  # fmt: skip
    yield from _alone(setting, Mapped(4), [*short, Leftovers(), Printed()])


def _blows(setting: Setting) -> Iterator[Case]:
    """All cases that may hang or kill."""
    yield from _late(setting)
    yield from _deaths(setting)
    yield from _interrupts(setting)
    yield from _forks(setting)
    yield from _starved(setting)
    yield from _resting(setting)


def _late(setting: Setting) -> Iterator[Case]:
    """Those that take longest with a loader that waits for its workers or for ever."""
    fails = Mapped(8, faults=(Fault("item", 3, "ValueError"),))
    ended: Steps = [Open("a"), Drain("a"), Drop("a"), Leftovers()]
    yield from _alone(setting, fails, ended)
    left: Steps = [Open("a"), Take("a"), Drop("a"), Leftovers()]
    bound = {"timeout": 60} if takes(setting, timeout=60) else {}
    yield from _alone(setting, fails, [*left, *ended, *ended], num_workers=1, **bound)
    busy: Steps = [Shut(), Open("a"), Settle(), Drop("a"), Leftovers()]
    yield from _alone(setting, Mapped(8, gated=1), busy, num_workers=3)
    many = 8  # to give each of them a second takes too long
    yield from _alone(setting, Mapped(16, gated=1), busy, num_workers=many)
    yield from _alone(setting, Mapped(8, gated=1), [Preempt(), *busy])
    stopped: Steps = [Open("a"), Take("a"), Strike(0, "SIGSTOP"), Drop("a"), Leftovers()]
    yield from _alone(setting, Mapped(8), stopped)
    forked: Steps = [Open("a"), Take("a"), Settle(), Fork(), Drain("a"), Printed()]
    yield from _alone(setting, Mapped(8), forked)
    full: Steps = [Limit("memory", 1 << 20), Iterate(), Limit("memory", -1)]
    yield from _alone(setting, Mapped(8, gives="large"), full, collate_fn=Collate("list"))
    for gives in ("bulk", "number"):
        yield from _alone(setting, Mapped(16, gives=gives), [Orphan()])
    queue = {"num_workers": 1, "prefetch_factor": 6}
    yield from _alone(setting, Mapped(16, gives="slow"), [Orphan()], **queue)


def _deaths(setting: Setting) -> Iterator[Case]:
    """A worker that is killed between two items, in the midst of one, or between two passes."""
    for data, worker in ((Mapped(8), 1), (Stream(8), 0)):
        idle: Steps = [Iterate(), Strike(worker), Ponder(), Iterate(), Iterate()]
        yield from _alone(setting, data, idle, **PERSISTENT)
    both: Steps = [Open("a"), Take("a"), Strike(0), Strike(1), Ponder(), Drain("a"), Drop("a")]
    yield from _alone(
        setting, Mapped(8), [*both, Iterate(), Iterate()], num_workers=3, **PERSISTENT
    )
    for options in (PERSISTENT, {}):
        dies: Steps = [Schedule((0, 1), dies=1), Iterate(), Iterate(), Iterate(), Journal()]
        yield from _alone(setting, **parcels(8, **options), steps=dies)
        struck: Steps = [Open("a"), Take("a"), Strike(0), Ponder(), Drain("a"), Drop("a")]
        yield from _alone(setting, Mapped(8), [*struck, Iterate(), Drop(), Leftovers()], **options)
    yield from _alone(setting, Mapped(8), [*struck, Iterate(), Iterate()], num_workers=1)
    often: Steps = [Open("a"), Take("a"), Strike(0), Ponder(0.1), Drain("a"), Drop("a")]
    yield from _alone(setting, Mapped(8), [*often * OFTEN, Iterate(), Iterate()], num_workers=1)


def _interrupts(setting: Setting) -> Iterator[Case]:
    """Ctrl-C while the workers are busy, and one of three has nothing to do.

    What they print of it they print before the user's code goes on, and may kill them.
    """
    yield from _alone(
        setting, Mapped(4, gated=1),
        [Shut(), Open("a"), Interrupt("a"), Free(), Take("a"), Drop("a"), Leftovers()],
    )  # fmt: skip
    for everybody in (True, False):
        steps: Steps = [Shut(), Open("a"), Interrupt("a", everybody), Ponder(), Free()]
        steps = [*steps, Drop("a"), Leftovers(), Printed()]
        yield from _alone(setting, Mapped(2, gated=1), steps, num_workers=3)
    starting: Steps = [Interrupt("a", everybody=False, starting=True), Ponder(0.1)]
    yield from _alone(
        setting, Mapped(4, gives="interrupting"), starting, multiprocessing_context="spawn"
    )


def _forks(setting: Setting) -> Iterator[Case]:
    """A child that ends as a script does; workers of the next pass that inherit garbage."""
    steps: Steps = [Open("a"), Take("a"), Settle(), Fork("exit"), Drain("a"), Printed()]
    yield from _alone(setting, Mapped(8), steps)
    if takes(setting, **PERSISTENT):
        yield from _alone(setting, Mapped(8), [Iterate(), *steps], **PERSISTENT)
    steps = [Open("a"), Take("a"), Drop("a", collected=False), Iterate(), Printed()]
    yield from _alone(setting, Mapped(8, gives="swept"), steps)


def _starved(setting: Setting) -> Iterator[Case]:
    """Too few descriptors to start with, or to keep what is delivered; too little shared memory."""
    few: Steps = [Limit("descriptors", 2), Iterate(), Limit("descriptors", -1)]
    yield from _alone(setting, Mapped(8), few)
    alone: Steps = [Limit("processes", 1), Iterate(), Limit("processes", -1), Iterate()]
    yield from _alone(setting, Mapped(8), alone, multiprocessing_context="fork")
    keeps: Steps = [Open("a"), Limit("descriptors", 12), Drain("a"), Limit("descriptors", -1)]
    yield from _alone(setting, Mapped(64, gives="large"), keeps)
    yield from _alone(setting, Mapped(64, gives="tensor"), keeps, collate_fn=Collate("list"))
    full: Steps = [Limit("memory", 1 << 20), Iterate(), Limit("memory", -1)]
    yield from _alone(setting, Mapped(8, gives="large"), full)


def _resting(setting: Setting) -> Iterator[Case]:
    """Between two passes: a worker has died, and the other has done what it was about, before the
    next one, of another order, begins; then the main process is killed."""
    busy: Steps = [Shut(), Open("a"), Settle(), Strike(1), Free(), Take("a", 9), Settle()]
    other: Steps = [SetEpoch(3), Iterate(), SetEpoch(1), Iterate()]
    turned: dict[str, Any] = {"sampler": Order(8, "epochs"), **PERSISTENT}
    yield from _alone(setting, Mapped(8, gated=1), [*busy, Drop("a"), *other], **turned)
    yield from _alone(setting, Mapped(8), [Orphan(between=True)], **PERSISTENT)


def _threads(setting: Setting) -> Iterator[Case]:
    """A thread for each call: they begin and go on with a pass, and hear of a death."""
    steps: Steps = [Threads(), Open("a"), Take("a"), Settle(), Drain("a"), Drop("a"), Iterate()]
    yield from _alone(setting, Mapped(8), steps)
    yield from _alone(setting, Mapped(8), steps, **PERSISTENT)
    yield from _alone(setting, Stream(8), steps, num_workers=1)
    yield from _alone(setting, Mapped(8), steps, num_workers=0)
    yield from _alone(setting, Mapped(8), steps, timeout=60)
    yield from _alone(setting, Mapped(8), steps, in_order=False, num_workers=1)
    anew: Steps = [Threads(), Rebuild(), Iterate(), Iterate(), Drop(), Leftovers()]
    yield from _alone(setting, Mapped(8), anew, num_workers=3, **PERSISTENT)
    dies: Steps = [Threads(), Open("a"), Take("a"), Strike(0), Drain("a"), Drop("a"), Iterate()]
    yield from _alone(setting, Mapped(8), dies, collate_fn=Collate("list"))


def _growth(setting: Setting) -> Iterator[Case]:
    """Twelve MiB a pass, again and again."""
    steps: Steps = [*[Iterate()] * 4, *[Memory(), *[Iterate()] * 6] * 3, Memory()]
    yield from _alone(setting, Mapped(12, gives="bulk"), steps, batch_size=4)
    yield from _alone(setting, Mapped(12, gives="bulk"), steps, batch_size=4, **PERSISTENT)


ENDS = Scenario("ends", _ends)
REFUSALS = Scenario("refused-starts", _refused)
BLOWS = Scenario("blows", _blows)
UNSENDABLE = Scenario("unsendable-starts", _unsendable)
THREADS = Scenario("threads", _threads)
GROWTH = Scenario("growth", _growth, slow=True)
