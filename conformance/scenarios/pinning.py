"""Cases of other chapters once more, with pinned memory, where there is an accelerator.

Nowhere else does a thread of the loader's own stand between the workers and the caller. Every so
many of their small cases is enough: what they differ in mostly happens before a batch is pinned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from conformance.case import Case
from conformance.loading import Fork, Limit
from conformance.machine import has_accelerator
from conformance.scenarios import (
    Scenario,
    Setting,
    iterable,
    lifecycle,
    lifecycle_blows,
    loader,
    loader_passes,
    worker_deaths,
    worker_failures,
    worker_kept,
    worker_state,
    workers,
)
from conformance.scenarios.loading import takes

PREFIX = "pinned-"
"""What the names of these scenarios begin with."""

UNFIT = (Fork, Limit)
"""What CUDA does not survive itself: a fork, and less memory or fewer descriptors."""


def _pinned(scenario: Scenario, every: int) -> Scenario:
    """Each so many of its small cases that may pin and do not."""

    def small(setting: Setting) -> Iterator[Case]:
        if not has_accelerator() or scenario.small is None or not takes(setting, pin_memory=1):
            return
        for case in islice(filter(_may_pin, scenario.small(setting)), None, None, every):
            yield case.changed(arguments={**dict(case.arguments), "pin_memory": True})

    return Scenario(f"{PREFIX}{scenario.name}", small, slow=scenario.slow)


def _may_pin(case: Case) -> bool:
    return "pin_memory" not in dict(case.arguments) and not any(
        isinstance(step, UNFIT) for step in case.plan
    )


MODES = _pinned(loader.MODES, 7)
ERRORS = _pinned(loader_passes.ERRORS, 5)
AFTER = _pinned(loader_passes.AFTER, 3)
BESIDE = _pinned(loader_passes.BESIDE, 3)
BUFFERS = _pinned(loader_passes.BUFFERS, 1)
STREAMS = _pinned(iterable.KINDS, 5)
COMPLETION_ORDERS = _pinned(workers.EXHAUSTIVE, 1)
ORDERS = _pinned(workers.ORDERS, 3)
UNORDERED = _pinned(workers.UNORDERED, 3)
AHEAD = _pinned(workers.AHEAD, 3)
WORKER_ERRORS = _pinned(worker_failures.ERRORS, 9)
DEATHS = _pinned(worker_deaths.DEATHS, 5)
TIMEOUTS = _pinned(worker_state.TIMEOUTS, 3)
KEPT_WORKERS = _pinned(worker_kept.KEPT_WORKERS, 3)
PAIRS = _pinned(worker_state.PAIRS, 3)
LEFT = _pinned(lifecycle.ENDS, 2)
BLOWS = _pinned(lifecycle_blows.BLOWS, 3)
