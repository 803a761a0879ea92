"""The gate: a schedule fixes the order in which workers complete, and replays exactly."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Collate, Mapped
from conformance.loading import Free, Journal, Schedule, Settle, Shut
from conformance.operations import Drain, Iterate, Open
from conformance.trace import Record, Trace
from conformance.worlds.gate import DEATHS, LOST_MAX
from conformance.worlds.keeper import Keeper
from conformance.worlds.worlds import Worlds

TORCH = Source("torch.utils.data")
BOUND_S = 60.0


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """One set of worlds for this file, with torch's loader as the candidate."""
    made = Worlds("simulated", BOUND_S)
    made.describe(TORCH)
    yield made
    made.close()


def case(n: int, plan: list[Any], batch_size: int = 1, **options: Any) -> Case:
    """A loader of parcels, every whole batch of which stops at the gate."""
    arguments = {
        "dataset": Mapped(n, gives="parcel", gated=batch_size), "batch_size": batch_size,
        "collate_fn": Collate("list"), "num_workers": 2, **options,
    }  # fmt: skip
    return Case("DataLoader", arguments, plan)


def journals(trace: Trace) -> list[tuple[Record, ...]]:
    """What each look at the journal found."""
    events = trace.ranks[0].events
    return [event.value for event in events if isinstance(event.operation, Journal)]


def arrived(records: tuple[Record, ...]) -> list[tuple[int, int]]:
    """The arrivals in order: worker and item."""
    return [(record.worker, record.value) for record in records if record.kind == "arrive"]


def kinds(records: tuple[Record, ...]) -> list[str]:
    """What was reported, in order."""
    return [record.kind for record in records]


def test_fresh_workers_replay(worlds: Worlds) -> None:
    """A schedule gives the same order of arrivals 100 times of 100, with new processes."""
    passes = [Schedule((1, 1, 0, 0)), Iterate(), Journal()] * 100

    found = journals(worlds.run(TORCH, case(4, passes)))

    assert [arrived(records) for records in found] == [[(1, 1), (1, 3), (0, 0), (0, 2)]] * 100


def test_kept_workers_replay(worlds: Worlds) -> None:
    """Three workers that are kept follow 100 schedules one after the other, each to the letter."""
    orders = [(2, 1, 0, 2, 1, 0, 2, 1, 0), (0, 0, 0, 1, 1, 1, 2, 2, 2)] * 50
    passes = [step for turns in orders for step in (Schedule(turns), Iterate(), Journal())]
    options = {"num_workers": 3, "prefetch_factor": 3, "persistent_workers": True}

    found = journals(worlds.run(TORCH, case(9, passes, **options)))

    assert [tuple(w for w, _ in arrived(records)) for records in found] == orders


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_other_starts_replay(worlds: Worlds, start: str) -> None:
    """The gate reaches workers that inherited nothing."""
    passes = [Iterate(), Journal(), *[Schedule((1, 0, 1, 0)), Iterate(), Journal()] * 5]
    options = {"multiprocessing_context": start, "persistent_workers": True}

    found = journals(worlds.run(TORCH, case(4, passes, **options)))[1:]

    assert [arrived(records) for records in found] == [[(1, 1), (0, 0), (1, 3), (0, 2)]] * 5


def test_a_short_batch_ends_no_turn(worlds: Worlds) -> None:
    """A last batch that does not stop at the gate leaves the turn of another worker alone."""
    turns = (1, 0, 0, 1)
    passes = [Schedule(turns), Iterate(), Journal()] * 20

    found = journals(worlds.run(TORCH, case(9, passes, batch_size=2, persistent_workers=True)))

    whole = [[worker for worker, item in arrived(r) if item % 2 and item < 8] for r in found]
    assert whole == [list(turns)] * 20


def test_turns_without_arrival(worlds: Worlds) -> None:
    """Where items cannot report their arrival, the order in which they leave is the schedule's."""
    plan = [Schedule((1, 0, 0, 1), arrival=False), Iterate(), Journal()] * 20
    data = {"dataset": Mapped(4, gated=1), "collate_fn": None}

    found = journals(worlds.run(TORCH, case(4, plan, persistent_workers=True, **data)))

    left = [[record.worker for record in r if record.kind == "leave"] for r in found]
    assert left == [[1, 0, 0, 1]] * 20


def test_impossible_schedules_open_the_gate(worlds: Worlds) -> None:
    """A worker that has nothing more to do is not waited for: the gate opens and says so."""
    plan = [Schedule((1, 1, 1, 0, 0, 0)), Iterate(), Journal()]

    trace = worlds.run(TORCH, case(6, plan, prefetch_factor=1))

    assert trace.ranks[0].events[2].value.tolist() == [[0], [1], [2], [3], [4], [5]]
    assert "unfollowed" in kinds(journals(trace)[0])


def test_patience_wears_off(worlds: Worlds) -> None:
    """A case full of impossible schedules ends soon; after a while none is even tried."""
    plan = [Schedule((1, 1, 1, 0, 0, 0)), Iterate(), Journal()] * (LOST_MAX + 3)

    trace = worlds.run(TORCH, case(6, plan, prefetch_factor=1, persistent_workers=True))

    assert all("unfollowed" in kinds(records) for records in journals(trace))
    assert sum(event.seconds for event in trace.ranks[0].events[-9:]) < 1.0


@pytest.mark.parametrize("how", ["SIGKILL", "exit 3"])
def test_death_at_a_turn(worlds: Worlds, how: str) -> None:
    """A drawn death happens when its turn has come, after the arrivals before it."""
    plan = [Schedule((0, 1, 0, 1), dies=2, how=how), Open("a"), Drain("a"), Journal()]

    trace = worlds.run(TORCH, case(4, plan))

    (found,) = journals(trace)
    before = found[: kinds(found).index("dies")]
    assert [worker for worker, _ in arrived(before)] == [0, 1]
    assert [(r.worker, r.value) for r in found if r.kind == "dies"] == [(0, 2)]
    assert trace.ranks[0].events[3].error is not None


def test_a_shut_gate_lets_nobody_through(worlds: Worlds) -> None:
    """Workers come to a shut gate and wait; once it is free they all go on."""
    plan = [Shut(), Open("a"), Settle(), Journal(), Free(), Drain("a"), Journal()]

    waiting, gone = journals(worlds.run(TORCH, case(6, plan)))

    assert kinds(waiting).count("fetch") == 2
    assert "leave" not in kinds(waiting)
    assert kinds(gone).count("leave") == 6


def test_an_orphan_does_not_wait(tmp_path: Path) -> None:
    """A shut gate whose maker has ended lets everybody through: nobody will open it."""
    gate = Keeper(str(tmp_path))
    gate.shut()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    waiting = threading.Thread(target=gate.pass_through, args=(0, 0), daemon=True)
    gate.owner = ended.pid

    waiting.start()
    ended.wait(BOUND_S)
    waiting.join(BOUND_S)

    assert not waiting.is_alive()


def test_a_copy_is_the_same_gate(tmp_path: Path) -> None:
    """A pickled gate maps the same files: what one sets, the other sees."""
    gate = Keeper(str(tmp_path))
    copy = pickle.loads(pickle.dumps(gate))

    gate.schedule((1, 0), True, -1, DEATHS[0])
    copy.report("fetch", 7, 1)

    assert list(copy.state) == list(gate.state)
    assert [(r.kind, r.value, r.worker) for r in gate.records()] == [("fetch", 7, 1)]
    assert gate.records() == () != gate.everything()


def test_schedules_have_a_bound(tmp_path: Path) -> None:
    """A schedule of too many turns is refused."""
    with pytest.raises(ValueError, match="at most 4096 turns"):
        Keeper(str(tmp_path)).schedule((0,) * 5000, True, -1, DEATHS[0])
