"""Cases of `spec/lifecycle.md`: loaders that are struck, interrupted, forked, starved and orphaned.

All of them run alone, since any may hang or kill. Those processes run side by side, so the cases
that take longest with a loader that waits for its workers come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped, Order, Stream
from conformance.loading import (
    Drop,
    End,
    Fork,
    Free,
    Interrupt,
    Journal,
    Leftovers,
    Limit,
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
    Rebuild,
    SetEpoch,
    Take,
    Threads,
)  # fmt: skip
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.lifecycle import PERSISTENT, Steps, alone
from conformance.scenarios.loading import parcels, takes

OFTEN = 5
"""More deaths than somebody may want to see before he gives up."""


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
    yield from alone(setting, fails, ended)
    left: Steps = [Open("a"), Take("a"), Drop("a"), Leftovers()]
    bound = {"timeout": 60} if takes(setting, timeout=60) else {}
    yield from alone(setting, fails, [*left, *ended, *ended], num_workers=1, **bound)
    busy: Steps = [Shut(), Open("a"), Settle(), Drop("a"), Leftovers()]
    yield from alone(setting, Mapped(8, gated=1), busy, num_workers=3)
    many = 8  # to give each of them a second takes too long
    yield from alone(setting, Mapped(16, gated=1), busy, num_workers=many)
    yield from alone(setting, Mapped(8, gated=1), [Preempt(), *busy])
    stopped: Steps = [Open("a"), Take("a"), Strike(0, "SIGSTOP"), Drop("a"), Leftovers()]
    yield from alone(setting, Mapped(8), stopped)
    forked: Steps = [Open("a"), Take("a"), Settle(), Fork(), Drain("a"), Printed()]
    yield from alone(setting, Mapped(8), forked)
    full: Steps = [Limit("memory", 1 << 20), Iterate(), Limit("memory", -1)]
    yield from alone(setting, Mapped(8, gives="large"), full, collate_fn=Collate("list"))
    for gives in ("bulk", "number"):
        yield from alone(setting, Mapped(16, gives=gives), [Orphan()])
    queue = {"num_workers": 1, "prefetch_factor": 6}
    yield from alone(setting, Mapped(16, gives="slow"), [Orphan()], **queue)


def _deaths(setting: Setting) -> Iterator[Case]:
    """A worker that is killed between two items, in the midst of one, or between two passes."""
    for data, worker in ((Mapped(8), 1), (Stream(8), 0)):
        idle: Steps = [Iterate(), Strike(worker), Ponder(), Iterate(), Iterate()]
        yield from alone(setting, data, idle, **PERSISTENT)
    both: Steps = [Open("a"), Take("a"), Strike(0), Strike(1), Ponder(), Drain("a"), Drop("a")]
    yield from alone(setting, Mapped(8), [*both, Iterate(), Iterate()], num_workers=3, **PERSISTENT)
    for options in (PERSISTENT, {}):
        dies: Steps = [Schedule((0, 1), dies=1), Iterate(), Iterate(), Iterate(), Journal()]
        yield from alone(setting, **parcels(8, **options), steps=dies)
        struck: Steps = [Open("a"), Take("a"), Strike(0), Ponder(), Drain("a"), Drop("a")]
        yield from alone(setting, Mapped(8), [*struck, Iterate(), Drop(), Leftovers()], **options)
    yield from alone(setting, Mapped(8), [*struck, Iterate(), Iterate()], num_workers=1)
    often: Steps = [Open("a"), Take("a"), Strike(0), Ponder(0.1), Drain("a"), Drop("a")]
    yield from alone(setting, Mapped(8), [*often * OFTEN, Iterate(), Iterate()], num_workers=1)


def _interrupts(setting: Setting) -> Iterator[Case]:
    """Ctrl-C while the workers are busy, and one of three has nothing to do.

    What they print of it they print before the user's code goes on, and may kill them.
    """
    yield from alone(
        setting, Mapped(4, gated=1),
        [Shut(), Open("a"), Interrupt("a"), Free(), Take("a"), Drop("a"), Leftovers()],
    )  # fmt: skip
    for everybody in (True, False):
        steps: Steps = [Shut(), Open("a"), Interrupt("a", everybody), Ponder(), Free()]
        steps = [*steps, Drop("a"), Leftovers(), Printed()]
        yield from alone(setting, Mapped(2, gated=1), steps, num_workers=3)
    starting: Steps = [Interrupt("a", everybody=False, starting=True), Ponder(0.1)]
    yield from alone(
        setting, Mapped(4, gives="interrupting"), starting, multiprocessing_context="spawn"
    )


def _forks(setting: Setting) -> Iterator[Case]:
    """A child that ends as a script does; workers of the next pass that inherit garbage."""
    steps: Steps = [Open("a"), Take("a"), Settle(), Fork("exit"), Drain("a"), Printed()]
    yield from alone(setting, Mapped(8), steps)
    if takes(setting, **PERSISTENT):
        yield from alone(setting, Mapped(8), [Iterate(), *steps], **PERSISTENT)
    steps = [Open("a"), Take("a"), Drop("a", collected=False), Iterate(), Printed()]
    yield from alone(setting, Mapped(8, gives="swept"), steps)


def _starved(setting: Setting) -> Iterator[Case]:
    """Too few descriptors to start with, or to keep what is delivered; too little shared memory."""
    few: Steps = [Limit("descriptors", 2), Iterate(), Limit("descriptors", -1)]
    yield from alone(setting, Mapped(8), few)
    single: Steps = [Limit("processes", 1), Iterate(), Limit("processes", -1), Iterate()]
    yield from alone(setting, Mapped(8), single, multiprocessing_context="fork")
    keeps: Steps = [Open("a"), Limit("descriptors", 12), Drain("a"), Limit("descriptors", -1)]
    yield from alone(setting, Mapped(64, gives="large"), keeps)
    yield from alone(setting, Mapped(64, gives="tensor"), keeps, collate_fn=Collate("list"))
    full: Steps = [Limit("memory", 1 << 20), Iterate(), Limit("memory", -1)]
    yield from alone(setting, Mapped(8, gives="large"), full)


def _resting(setting: Setting) -> Iterator[Case]:
    """Between two passes: a worker has died, and the other has done what it was about, before the
    next one, of another order, begins; then the main process is killed."""
    busy: Steps = [Shut(), Open("a"), Settle(), Strike(1), Free(), Take("a", 9), Settle()]
    other: Steps = [SetEpoch(3), Iterate(), SetEpoch(1), Iterate()]
    turned: dict[str, Any] = {"sampler": Order(8, "epochs"), **PERSISTENT}
    yield from alone(setting, Mapped(8, gated=1), [*busy, Drop("a"), *other], **turned)
    yield from alone(setting, Mapped(8), [Orphan(between=True)], **PERSISTENT)
    again: Steps = [Shut(), Open("a"), Settle(), Drop("a"), Free(), Iterate()]
    yield from alone(setting, Mapped(8, gated=1), again, **PERSISTENT)
    for options in ({}, PERSISTENT):
        yield from alone(setting, Mapped(8), [End()], **options)


def _threads(setting: Setting) -> Iterator[Case]:
    """A thread for each call: they begin and go on with a pass, and hear of a death."""
    steps: Steps = [Threads(), Open("a"), Take("a"), Settle(), Drain("a"), Drop("a"), Iterate()]
    yield from alone(setting, Mapped(8), steps)
    yield from alone(setting, Mapped(8), steps, **PERSISTENT)
    yield from alone(setting, Stream(8), steps, num_workers=1)
    yield from alone(setting, Mapped(8), steps, num_workers=0)
    yield from alone(setting, Mapped(8), steps, timeout=60)
    yield from alone(setting, Mapped(8), steps, in_order=False, num_workers=1)
    anew: Steps = [Threads(), Rebuild(), Iterate(), Iterate(), Drop(), Leftovers()]
    yield from alone(setting, Mapped(8), anew, num_workers=3, **PERSISTENT)
    dies: Steps = [Threads(), Open("a"), Take("a"), Strike(0), Drain("a"), Drop("a"), Iterate()]
    yield from alone(setting, Mapped(8), dies, collate_fn=Collate("list"))


BLOWS = Scenario("blows", _blows)
THREADS = Scenario("threads", _threads)
