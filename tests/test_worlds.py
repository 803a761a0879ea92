"""Worlds: standing pools of real ranks, the simulated world, and cases that travel between them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from talkers import BOUND_S, case, fates, source, told
from talkers import talkers as talkers
from talkers import worlds as worlds

from conformance.candidate import CandidateError, Source
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Iterate, Len
from conformance.recipes import Data
from conformance.worlds.huge import collapse
from conformance.worlds.turns import BUSY
from conformance.worlds.worlds import Worlds

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


# What forks cost.


def test_ranks_of_loaders_are_forked_from_huge_pages() -> None:
    """Once a loader has workers, much of its rank's memory lies in huge pages, where Linux can."""
    if not collapse():
        pytest.skip("this kernel has no MADV_COLLAPSE")
    loader = Case("DataLoader", {"dataset": Mapped(3), "num_workers": 1}, [Iterate()])
    with contextlib.closing(Worlds("gloo", BOUND_S)) as made:
        made.describe(Source("torch.utils.data:DataLoader"))
        trace = made.run(Source("torch.utils.data:DataLoader"), loader)
        (rank,) = made.pools[1, "simulated", BUSY[0]].processes
        told = Path(f"/proc/{rank.pid}/smaps_rollup").read_text().split()

    assert trace.ranks[0].fate == "done"
    assert int(told[told.index("AnonHugePages:") + 1]) > 20_000  # of 147,000 kB


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


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("FirstIsSlow", [[[0, 0], [1, 0]], [[0, 1], [1, 1]], [[0, 2], [1, 2]]]),
        ("TalksInTurn", [[[1, 7]] * 2] * 3),
    ],
)
def test_a_rank_may_be_ahead_of_the_others(
    worlds: Worlds, talkers: Path, name: str, wanted: list[list[list[int]]]
) -> None:
    """Of several cases under way each gets its own answers, also where one rank is slower."""
    candidate = source(worlds, talkers, name)
    pool = worlds._pool(2, "gloo")

    tickets = [pool.send(candidate, [case(2, seed=seed)]) for seed in range(3)]
    traces = [pool.receive(ticket, BOUND_S)[0] for ticket in tickets]

    assert [[rank.fate for rank in trace] for trace in traces] == [["done"] * 2] * 3
    assert [[rank.events[-1].value.tolist() for rank in trace] for trace in traces] == wanted


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
