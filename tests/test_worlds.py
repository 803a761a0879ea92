"""Worlds: standing pools of real ranks, the simulated world, and cases that travel between them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.utils.data import SequentialSampler

from conformance.candidate import CandidateError, Source
from conformance.case import VOCABULARY, Case, parse
from conformance.datasets import Mapped
from conformance.operations import (
    Globals,
    Iterate,
    Len,
    Passes,
    Rebuild,
    Reseed,
    Resize,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import Data, Generator, Probe, Raw, Role, Sparse, Values
from conformance.scenarios import EFFORTS, Setting
from conformance.scenarios import distributed as distributed_cases
from conformance.trace import Trace
from conformance.worlds import worlds as worlds_module
from conformance.worlds.rank import Rank
from conformance.worlds.worlds import Worlds

BOUND_S = 3.0

TALKERS = '''
"""Candidates of test_worlds: what they yield tells of the process that they are in."""

import os, random, signal
import numpy as np, torch, torch.distributed as dist
from torch.utils.data import DistributedSampler as Base


class DistributedSampler(Base):
    """Yields whole numbers that `told` names."""
    def told(self):
        return [self.rank]
    def __iter__(self):
        return iter(self.told())


class Hashes(DistributedSampler):
    def told(self):
        return [hash("x") % 2**62]


class States(DistributedSampler):
    def told(self):
        torch_word = int(torch.randint(2**62, ()))
        return [torch_word, int(np.random.randint(2**31)), random.getrandbits(62)]


class Process(DistributedSampler):
    def told(self):
        return [os.getpid(), os.getppid()]


class Talks(DistributedSampler):
    """Adds up the ranks, and hands the first one's number round."""
    def told(self):
        total = torch.tensor([self.rank]); dist.all_reduce(total)
        first = torch.tensor([self.rank + 7]); dist.broadcast(first, src=0)
        dist.barrier()
        return [int(total), int(first)]


class OneTooMany(DistributedSampler):
    """Rank 0 hands one work more to the group than the others, and waits for nobody."""
    def told(self):
        if self.rank == 0:
            OneTooMany.work = dist.broadcast(torch.zeros(1), src=0, async_op=True)
        return [0]


class LeavesAt(DistributedSampler):
    """Rank 1 ends in the way that the seed says."""
    def told(self):
        if self.rank == 1:
            {1: lambda: os._exit(3), 2: lambda: os.kill(os.getpid(), signal.SIGSEGV),
             3: lambda: os.kill(os.getpid(), signal.SIGKILL), 4: signal.pause}[self.seed]()
        return [self.rank]
'''


@pytest.fixture(scope="module")
def talkers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of candidates."""
    file = tmp_path_factory.mktemp("worlds") / "talkers.py"
    file.write_text(TALKERS, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """One set of worlds for this file."""
    made = Worlds("gloo", BOUND_S)
    yield made
    made.close()


def source(worlds: Worlds, talkers: Path, name: str) -> Source:
    """A candidate that the worlds know."""
    found = Source(f"{talkers}:{name}")
    worlds.describe(found)
    return found


def told(trace: Trace) -> list[list[int]]:
    """What each rank yielded in its last pass."""
    return [rank.events[-1].value.tolist() for rank in trace]


def case(width: int, world: str = "group", **options: Any) -> Case:
    """A case of `width` ranks that make one pass."""
    seed = options.pop("seed", 0)
    arguments = {"dataset": Data(4), "seed": seed}
    return Case("DistributedSampler", arguments, [Iterate()], width, world, **options)


def fates(trace: Trace) -> list[str]:
    """How each rank ended."""
    return [rank.fate for rank in trace]


# Ranks.


def test_neighbours_hash_differently(worlds: Worlds, talkers: Path) -> None:
    """Two neighbouring ranks give the same string different hashes."""
    hashes = told(worlds.run(source(worlds, talkers, "Hashes"), case(4)))

    assert hashes[0] == hashes[2] != hashes[1] == hashes[3]


def test_neighbours_draw_differently(worlds: Worlds, talkers: Path) -> None:
    """The global states of torch, numpy and random differ between all ranks."""
    states = told(worlds.run(source(worlds, talkers, "States"), case(3, ambient=5)))

    assert all(len(set(words)) == 3 for words in zip(*states, strict=True))


def test_alike_ranks_draw_alike(worlds: Worlds, talkers: Path) -> None:
    """In a case that says `alike`, all ranks start from equal global states."""
    states = told(worlds.run(source(worlds, talkers, "States"), case(3, alike=True)))

    assert states[0] == states[1] == states[2]


def test_ambient_seed_is_reproducible(worlds: Worlds, talkers: Path) -> None:
    """The same case finds the same global states again, whatever ran in between."""
    candidate = source(worlds, talkers, "States")

    first = told(worlds.run(candidate, case(2, ambient=8)))
    other = told(worlds.run(candidate, case(2, ambient=9)))
    again = told(worlds.run(candidate, case(2, ambient=8)))

    assert first == again != other


def test_simulated_ranks_start_like_real_ones(worlds: Worlds, talkers: Path) -> None:
    """A simulated rank has the global states that the real rank of the case has."""
    candidate = source(worlds, talkers, "States")

    real = told(worlds.run(candidate, case(3, passed=True)))
    simulated = told(worlds.run(candidate, case(3, "simulated")))

    assert real == simulated


def test_ranks_are_processes_of_their_own(worlds: Worlds, talkers: Path) -> None:
    """Each rank is a process, neither this one nor its neighbour, and stays for the next case."""
    candidate = source(worlds, talkers, "Process")

    first = told(worlds.run(candidate, case(3)))
    second = told(worlds.run(candidate, case(3)))

    assert first == second
    assert len({pid for pid, _ in first} | {os.getpid()}) == 4


def test_a_thousand_simulated_ranks(worlds: Worlds) -> None:
    """A world of 1000 ranks is simulated, and divides a dataset as real ranks would."""
    reference = Source("reference")
    worlds.describe(reference)

    trace = worlds.run(
        reference, Case("DistributedSampler", {"dataset": Data(2500)}, [Len(), Iterate()], 1000)
    )

    assert len(trace.ranks) == 1000
    assert {index for share in told(trace) for index in share} == set(range(2500))
    assert {rank.events[1].value for rank in trace} == {3}


# Collectives.


def test_collectives_on_all_ranks_pass(worlds: Worlds, talkers: Path) -> None:
    """A candidate whose ranks all take part in their collectives is served, and can come again."""
    candidate = source(worlds, talkers, "Talks")

    traces = [worlds.run(candidate, case(3)) for _ in range(3)]

    assert [fates(trace) for trace in traces] == [["done"] * 3] * 3
    assert [told(trace) for trace in traces] == [[[3, 7]] * 3] * 3
    assert all(len({rank.collectives for rank in trace}) == 1 for trace in traces)
    assert all(rank.collectives for rank in traces[0])


def test_unequal_collectives_are_out_of_step(worlds: Worlds, talkers: Path) -> None:
    """Ranks that took part in unequal numbers of collectives are told to be out of step."""
    candidate = source(worlds, talkers, "OneTooMany")

    trace = worlds.run(candidate, case(2))

    assert set(fates(trace)) == {"out of step"}
    assert trace.ranks[0].collectives != trace.ranks[1].collectives


# Ranks that do not come back.


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

    assert worlds.given_up(leaver, "DistributedSampler")
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
    worlds.slow[reference, "SequentialSampler"] = 100
    cases = [
        Case("SequentialSampler", {"data_source": Data(n)}, plan)
        for n, plan in ((99, [Iterate()]), (100, [Iterate()]), (50, [Passes(2)]))
    ]

    fates = [worlds.run(reference, asked).ranks[0].fate for asked in cases]

    assert fates == ["done", "slow", "slow"]
    worlds.slow.clear()


def test_data_that_change_their_size_cost_no_role(worlds: Worlds, talkers: Path) -> None:
    """Who does not come back where data were resized is run with other plans all the same."""
    leaver = source(worlds, talkers, "LeavesAt")
    worlds.losses.clear()
    resized = case(2, "simulated", seed=1).with_plan([Resize(3), Iterate()])

    found = list(worlds.run_many(leaver, [resized] * 12))

    assert [trace.done for _, trace in found] == [False] * 12
    assert not worlds.given_up(leaver, "DistributedSampler")
    worlds.losses.clear()


# Candidates that cannot be examined.


@pytest.mark.parametrize(
    ("text", "told_of"),
    [
        ("no_such_module_anywhere", "import failed"), ("nowhere.py", "no such file"),
        ("math", "provides no role"), ("torch.utils.data:Nothing", "has no Nothing"),
    ],
)  # fmt: skip
def test_what_is_no_candidate_is_refused(worlds: Worlds, text: str, told_of: str) -> None:
    """A module that is missing or has no role is a CandidateError that says so."""
    with pytest.raises(CandidateError, match=told_of):
        worlds.describe(Source(text))


# What is left at the end.


def test_close_leaves_nothing(talkers: Path) -> None:
    """Closing the worlds leaves no process, no descriptor and no file of theirs behind."""
    this = psutil.Process()
    warm = Worlds("gloo", BOUND_S)  # whatever is started once for good is started here
    warm.run(source(warm, talkers, "Talks"), case(2))
    warm.close()
    children, descriptors = set(this.children(recursive=True)), this.num_fds()

    made = Worlds("gloo", BOUND_S)
    made.run(source(made, talkers, "Talks"), case(3))
    made.run(source(made, talkers, "LeavesAt"), case(2, seed=1))
    folders = [Path(pool.folder.name) for pool in made.pools.values()]
    made.close()

    assert set(this.children(recursive=True)) <= children
    assert this.num_fds() <= descriptors
    assert not [folder for folder in folders if folder.exists()]


def test_many_deaths_leave_nothing(worlds: Worlds, talkers: Path) -> None:
    """Ten broken pools hold no descriptor and no process."""
    this, leaver = psutil.Process(), source(worlds, talkers, "LeavesAt")
    worlds.run(leaver, case(2, seed=1))
    children, descriptors = len(this.children(recursive=True)), this.num_fds()

    for _ in range(10):
        worlds.run(leaver, case(2, seed=1))

    assert len(this.children(recursive=True)) <= children
    assert this.num_fds() <= descriptors
    worlds.losses.clear()


def test_one_close_spares_the_others(worlds: Worlds, talkers: Path) -> None:
    """Closing one set of worlds neither waits for another nor ends its ranks."""
    process = source(worlds, talkers, "Process")
    before = told(worlds.run(process, case(2)))

    second = Worlds("gloo", BOUND_S)
    second.run(source(second, talkers, "Process"), case(2))
    second.close()

    assert told(worlds.run(process, case(2))) == before


# Cases as text.


def settings_of(role: str) -> Setting:
    """A setting for scenarios, of a candidate that takes every argument."""
    from conformance.candidate import Description

    roles = {role: ("**",)}
    candidate = Description(Source("reference"), roles, epochs=(role,))
    return Setting(candidate, role, (1, 2, 3), EFFORTS["quick"], 0)


def drawn_cases() -> st.SearchStrategy[Case]:
    """Cases as the scenarios of the distributed chapter draw them."""
    setting = settings_of("DistributedSampler")
    made = [
        scenario.drawn(setting)
        for scenario in vars(distributed_cases).values()
        if getattr(scenario, "drawn", None)
    ]
    return st.one_of([strategy for strategy in made if strategy is not None])


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(drawn_cases())
def test_drawn_case_survives_its_text(made: Case) -> None:
    """A drawn case is read back from its repr as an equal value with the same repr."""
    again = parse(repr(made))

    assert again == made
    assert repr(again) == repr(made)


@pytest.mark.parametrize(
    "made",
    [
        Case("RandomSampler", {"data_source": Data(3), "generator": Generator(5, True)}, [Len()]),
        Case("BatchSampler", {"sampler": Probe("Raising", 5, at=2), "batch_size": Raw(2)}, []),
        Case("WeightedRandomSampler", {"weights": Sparse(9, (1,)), "num_samples": -1}, [Globals()]),
        Case(
            "BatchSampler",
            {"sampler": Role("DistributedSampler", dataset=Data(4)), "batch_size": 2},
            [Rebuild((("batch_size", 3),)), Reseed(3, "numpy"), SetEpoch("1")],
            2, world="group", passed=False, ambient=7, alike=True,
        ),
        Case("WeightedRandomSampler", {"weights": Values((1.0, float("inf"), -0.5))}, []),
        Case("BalanceClassSampler", {"labels": Values(("it's", 'so "odd"', "\n", "é"))}, []),
        Case("BalanceClassSampler", {"labels": Values((None, True, (1, (2,)), b"x"))}, []),
    ],
)  # fmt: skip
def test_case_survives_its_text(made: Case) -> None:
    """A case with every kind of recipe and operation is read back from its repr."""
    assert parse(repr(made)) == made


def test_case_with_nan_survives_its_text() -> None:
    """NaN is equal to nothing, so of a case with NaN it is the text that stays."""
    made = Case("WeightedRandomSampler", {"weights": Values((float("nan"), 1.0))}, [])

    assert repr(parse(repr(made))) == repr(made)


@pytest.mark.parametrize(
    "text",
    [
        "", "Case(", "3", "Data(3)", "[]", "__import__('os').system('true')", "Case.__init__",
        "open('/etc/passwd')", "(lambda: Case('X', {}, []))()", "Case('X', {}, [], nothing=1)",
        "Case(*['X', {}, []])", "Case('X', {}, [exec('1')])",
        "Case('X', {}, [Data.__class__(3)])", "Case('X', {}, [i for i in range(3)])",
        "Case('X', {'a': f'{1}'}, [])", "Case('X', {}, 3)", "-'a'",
        "Case('X', {}, []); Case('Y', {}, [])", "eval('1')", "float.fromhex('1')",
        "Case('X', {}, [Iterate(1, 2, 3)])", "\0", "Case(" * 300,
        "Case('X', 3, [])",
        "Case('X', {**{'a': 1}}, [])",
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(text: str) -> None:
    """Anything but a case is a ValueError, and nothing of it is carried out."""
    with pytest.raises(ValueError):
        parse(text)


def nonsense() -> st.SearchStrategy[str]:
    """Calls of names that cases know, with anything between the brackets."""
    names = st.sampled_from([*VOCABULARY, "Case", "float", "eval"])
    between = st.text("()[]{}'\"123, abc=*-.", max_size=30)
    return st.builds(lambda name, text: f"{name}({text})", names, between)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60) | nonsense())
def test_parse_never_fails_otherwise(text: str) -> None:
    """Whatever the text, parse gives a case or raises ValueError."""
    try:
        found = parse(text)
    except ValueError:
        return
    assert isinstance(found, Case)


def test_a_candidate_is_described_while_cases_are_under_way() -> None:
    """Answers to cases that were sent before are kept, and none is taken for a description."""
    made = Worlds("simulated", BOUND_S)
    first, second = Source("reference"), Source("torch.utils.data")
    made.describe(first)
    cases = [Case("SequentialSampler", {"data_source": Data(n)}, [Iterate()]) for n in range(60)]
    try:
        traces = made.run_many(first, cases)
        seen = [next(traces)]
        described = made.describe(second)
        seen += traces
    finally:
        made.close()

    assert "DistributedSampler" in described.roles
    assert [len(trace.ranks[0].events[1].value) for _, trace in seen] == list(range(60))


FORGETFUL = """
from conformance.candidate import Source
from conformance.worlds.worlds import Worlds

if __name__ == "__main__":
    worlds = Worlds("gloo")
    worlds.describe(Source("reference"))
    raise SystemExit(3)
"""


def test_forgotten_worlds_end(tmp_path: Path) -> None:
    """A program that ends without closing its worlds does not wait for their ranks."""
    script = tmp_path / "forgetful.py"
    script.write_text(FORGETFUL)

    assert subprocess.run([sys.executable, str(script)], timeout=60, check=False).returncode == 3
