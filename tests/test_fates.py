"""How ranks end that do not come back, or come late, and what becomes of their role."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from talkers import case, fates, source, told
from talkers import talkers as talkers
from talkers import worlds as worlds
from torch.utils.data import SequentialSampler

from conformance.candidate import Source
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Iterate, Passes, Resize
from conformance.recipes import Data
from conformance.worlds import worlds as worlds_module
from conformance.worlds.rank import Rank
from conformance.worlds.worlds import Worlds


@pytest.mark.parametrize(
    ("seed", "fate"), [(1, "exit 3"), (2, "SIGSEGV"), (3, "SIGKILL"), (4, "stuck")]
)
def test_fate_is_named(worlds: Worlds, talkers: Path, seed: int, fate: str) -> None:
    """A rank that does not come back is told by its exit code, its signal, or as stuck."""
    candidate = source(worlds, talkers, "LeavesAt")
    worlds.losses.clear()

    trace = worlds.run(candidate, case(2, seed=seed))

    assert fates(trace) == ["done", fate]
    assert not trace.done


def test_pool_is_replaced_after_a_death(worlds: Worlds, talkers: Path) -> None:
    """After a rank died the next case gets new ranks, and the dead pool's ranks are gone."""
    process, leaver = source(worlds, talkers, "Process"), source(worlds, talkers, "LeavesAt")

    before = [pid for pid, _ in told(worlds.run(process, case(2)))]
    worlds.run(leaver, case(2, seed=1))
    after = [pid for pid, _ in told(worlds.run(process, case(2)))]

    assert not set(before) & set(after)
    assert not [pid for pid in before if psutil.pid_exists(pid)]


def test_death_is_between_other_cases(worlds: Worlds, talkers: Path) -> None:
    """Simulated cases before and after one that kills its process keep their own traces."""
    leaver = source(worlds, talkers, "LeavesAt")
    cases = [case(2 if n == 30 else 1, "simulated", seed=1, ambient=n) for n in range(60)]
    worlds.losses.clear()

    found = list(worlds.run_many(leaver, cases))

    assert [asked for asked, _ in found] == cases
    assert [n for n, (_, trace) in enumerate(found) if not trace.done] == [30]


def test_one_case_amid_many(worlds: Worlds) -> None:
    """A case run while many are under way gets its own trace, and so do the many."""
    reference = Source("reference")
    worlds.describe(reference)
    cases = [
        Case("DistributedSampler", {"dataset": Data(n), "shuffle": False}, [Iterate()])
        for n in range(60)
    ]

    counts = []
    for _, trace in worlds.run_many(reference, cases):
        counts.append(len(told(trace)[0]))
        if len(counts) == 4:
            one = worlds.run(reference, cases[50])
    left = worlds.run_many(reference, cases)
    next(left)
    left.close()
    last = worlds.run(reference, cases[59])

    assert counts == list(range(60))
    assert (len(told(one)[0]), len(told(last)[0])) == (50, 59)


def test_role_is_given_up(worlds: Worlds, talkers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A role that never comes back is not run for ever."""
    monkeypatch.setattr(worlds_module, "WARY_S", 0.2)
    leaver = source(worlds, talkers, "LeavesAt")
    worlds.losses.clear()

    found = list(worlds.run_many(leaver, [case(2, "simulated", seed=1)] * 200))

    assert worlds.losses.given_up(leaver, "DistributedSampler")
    assert len(found) < 20
    worlds.losses.clear()


OWN_COLLATION = '''
"""A candidate of test_worlds: its workers need this file."""

from reference import DataLoader as Base


def own(batch):
    return [[item] for item in batch]


class DataLoader(Base):
    """Collates in its own way."""
    def __init__(self, dataset, batch_size=1, **options):
        super().__init__(dataset, batch_size, collate_fn=own, **options)
'''


def test_spawned_workers_find_a_candidate_in_a_file(worlds: Worlds, tmp_path: Path) -> None:
    """What a file defines can be sent to workers that are started afresh."""
    file = tmp_path / "loading.py"
    file.write_text(OWN_COLLATION, encoding="utf-8")
    arguments = {"dataset": Mapped(2), "num_workers": 1, "multiprocessing_context": "spawn"}
    worlds.describe(Source(str(file)))

    made = Case("DataLoader", arguments, [Iterate()], world="alone")
    event = worlds.run(Source(str(file)), made).ranks[0].events[-1]

    assert (event.error, len(event.value)) == (None, 2)


class _Spending(SequentialSampler):
    """Spends a tenth of a second of CPU time on its first item."""

    def __iter__(self) -> Iterator[int]:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        yield from super().__iter__()


def test_slow_is_not_stuck() -> None:
    """A pass that still yields when the time for a case is over ends the case as slow."""
    made = Case("SequentialSampler", {"data_source": Data(10_000)}, [Iterate()])
    roles = {"SequentialSampler": _Spending}

    soon = time.process_time() + 0.05
    late, early = Rank(roles, made, 0, until=soon).run(), Rank(roles, made, 0).run()

    assert (late.fate, [event.value for event in late.events]) == ("slow", [None])
    assert (early.fate, len(early.events[-1].value)) == ("done", 10_000)


def test_many_short_passes_may_be_slow() -> None:
    """The time is looked at between passes that are too short for a look within them."""
    made = Case("SequentialSampler", {"data_source": Data(3)}, [Passes(50)])

    late = Rank({"SequentialSampler": SequentialSampler}, made, 0, until=0.0).run()

    assert late.fate == "slow"


def test_a_rank_is_slow_before_it_is_stuck() -> None:
    """The time for a case is a part of the bound on a rank, whatever that is."""
    made = Worlds("simulated", bound_s=3.0)

    slow_s = made._pool(1, "simulated").slow_s
    made.close()

    assert 0 < slow_s < 3.0


def test_what_was_too_slow_is_not_tried_again(worlds: Worlds) -> None:
    """Of a role that was too slow for a case no case of as much work is carried out."""
    reference = Source("reference")
    worlds.describe(reference)
    worlds.losses.slow[reference, "SequentialSampler"] = 100
    cases = [
        Case("SequentialSampler", {"data_source": Data(n)}, plan)
        for n, plan in ((99, [Iterate()]), (100, [Iterate()]), (50, [Passes(2)]))
    ]

    fates = [worlds.run(reference, asked).ranks[0].fate for asked in cases]

    assert fates == ["done", "slow", "slow"]
    worlds.losses.slow.clear()


def test_data_that_change_their_size_cost_no_role(worlds: Worlds, talkers: Path) -> None:
    """Who does not come back where data were resized is run with other plans all the same."""
    leaver = source(worlds, talkers, "LeavesAt")
    worlds.losses.clear()
    resized = case(2, "simulated", seed=1).with_plan([Resize(3), Iterate()])

    found = list(worlds.run_many(leaver, [resized] * 12))

    assert [trace.done for _, trace in found] == [False] * 12
    assert not worlds.losses.given_up(leaver, "DistributedSampler")
    worlds.losses.clear()
