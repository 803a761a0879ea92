"""Who rests where nothing makes anybody wait is told sooner: `worlds/stillness.py`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import loading as lo
from conformance import operations as op
from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Collate, Fault, Mapped, Order, Stream
from conformance.worlds.stillness import STILL_S, Stillness, nobody_waits
from conformance.worlds.watch import HANG_S, RESTS, bound_s
from conformance.worlds.worlds import Worlds

PLAIN = Case(
    "DataLoader", {"dataset": Mapped(6), "batch_size": 2, "num_workers": 2}, [op.Iterate()]
)

RESTING = """
import threading
import reference

class Rests(reference.DataLoader):
    def __iter__(self):
        threading.Event().wait(60.0)
        return super().__iter__()

class Works(reference.DataLoader):
    def __iter__(self):
        until = time.monotonic() + {still_s} + 2.0
        while time.monotonic() < until:
            pass
        return super().__iter__()
"""


@pytest.fixture
def worlds() -> Iterator[Worlds]:
    made = Worlds("gloo")
    yield made
    made.close()


def test_new_interpreters_take_longer() -> None:
    """Where workers are no forks, and each imports torch, an operation may take twice as long."""
    sent = Case("DataLoader", {**dict(PLAIN.arguments), "multiprocessing_context": "spawn"}, [])

    assert bound_s(PLAIN, op.Iterate()) == HANG_S
    assert bound_s(sent, op.Iterate()) == 2 * HANG_S


@pytest.mark.parametrize("changed", [
    {"dataset": Mapped(6, gated=2)},
    {"dataset": Mapped(6, "slow")},
    {"dataset": Stream(6, faults=(Fault("item", 2, "ValueError"),))},
    {"dataset": Mapped(6), "sampler": Order(6, faults=(Fault("sampler", 2, "SIGKILL"),))},
    {"dataset": Mapped(6), "collate_fn": Collate(faults=(Fault("collate", 2, "hang"),))},
    {"dataset": Mapped(6), "timeout": 3.0},
])  # fmt: skip
def test_some_cases_make_somebody_wait(changed: dict[str, object]) -> None:
    """Where something sleeps, stops at the gate or goes wrong, nobody is judged by stillness."""
    assert nobody_waits(PLAIN)
    assert not nobody_waits(PLAIN.changed(arguments={**dict(PLAIN.arguments), **changed}))


@pytest.mark.parametrize("step", [
    lo.Shut(), lo.Hold(), lo.Strike(0), lo.Limit("descriptors", 2), lo.Ponder(),
    op.Rebuild((("dataset", Mapped(6, "slow")),)),
    op.Rebuild((("sampler", Order(6, faults=(Fault("sampler", 2, "exit 3"),))),)),
])  # fmt: skip
def test_some_plans_make_somebody_wait(step: op.Operation) -> None:
    """A plan that shuts the gate, strikes a worker or builds over slow data is none of these."""
    assert nobody_waits(PLAIN.with_plan([lo.Journal(), op.Iterate(), op.Len()]))
    assert not nobody_waits(PLAIN.with_plan([step, op.Iterate()]))


def test_who_looks_does_not_stir() -> None:
    """A process that only looks whether it rests rests, and one whose child works does not."""
    resting, working = Stillness(PLAIN, op.Iterate()), Stillness(PLAIN, op.Iterate())
    resting.idle.idle_s = working.idle.idle_s = 1.5

    assert _looked_at(resting, 6.0)

    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as child:
        try:
            assert not _looked_at(working, 4.0)
        finally:
            child.kill()


def _looked_at(still: Stillness, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (over := still.over()) and time.monotonic() < end:
        time.sleep(0.1)
    return over


def test_a_pass_that_rests_is_told_before_the_bound(worlds: Worlds, tmp_path: Path) -> None:
    """A loader that waits for what never comes is told sooner than one that is at work."""
    path = tmp_path / "resting.py"
    path.write_text("import time" + RESTING.format(still_s=STILL_S), encoding="utf-8")
    rests, works = (Source(f"{path}:{name}") for name in ("Rests", "Works"))
    for one in (rests, works):
        worlds.describe(one)

    last = worlds.run(rests, PLAIN.in_world("alone")).ranks[0].events[-1]

    assert last.error is not None and last.error.kind == "Hang" and RESTS in last.error.message
    assert STILL_S < last.seconds < HANG_S - 1
    assert worlds.run(works, PLAIN.in_world("alone")).done
