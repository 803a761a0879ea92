"""Systematic mutants: what is changed, that the copies work, and what came of them."""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from detect import Detector
from mutants import results, survivors, table
from mutants.copies import write
from mutants.lookers import CAUGHT, SURVIVED, Job, looked
from mutants.operators import mutants
from mutants.targets import TARGETS, Target

SMALL = '''
"""A docstring."""
from warnings import warn

__all__ = ["share"]


def share(n: int, ranks: int = 1, *, drop=False):
    """Another."""
    if n < 0 or drop is None:
        raise ValueError(f"n is {n + 1}")
    warn("not 1", stacklevel=2)
    for place in range(n)[1:]:
        if place not in {3}:
            break
    return -(-n // min(ranks, n))
'''

SAID = [
    (8, "false-true", "default `False` to `True`"),
    (8, "1-2", "default `1` to `2`"),
    (8, "1-0", "default `1` to `0`"),
    (10, "or-and", "`or` to `and`"),
    (10, "no-part", "`n < 0 or drop is None` without `n < 0`"),
    (10, "no-part", "`n < 0 or drop is None` without `drop is None`"),
    (10, "negated", "condition `n < 0 or drop is None` negated"),
    (10, "lt-lte", "`<` to `<=`"),
    (10, "lt-gte", "`<` to `>=`"),
    (10, "0-1", "`0` to `1`"),
    (10, "0-minus-1", "`0` to `-1`"),
    (10, "is-isnot", "`is` to `is not`"),
    (11, "no-raise", "`raise ValueError(f'n is {n + 1}')` dropped"),
    (13, "no-lower", "slice without its lower `1`"),
    (13, "1-2", "`1` to `2`"),
    (13, "1-0", "`1` to `0`"),
    (14, "notin-in", "`not in` to `in`"),
    (14, "3-4", "`3` to `4`"),
    (14, "3-2", "`3` to `2`"),
    (15, "break-continue", "`break` to `continue`"),
    (16, "return-none", "`None` is returned"),
    (16, "minus-dropped", "`-(-n // min(ranks, n))` without its minus"),
    (16, "floordiv-mult", "`//` to `*`"),
    (16, "floordiv-mod", "`//` to `%`"),
    (16, "only-left", "`-n // min(ranks, n)` to its left side"),
    (16, "only-right", "`-n // min(ranks, n)` to its right side"),
    (16, "minus-dropped", "`-n` without its minus"),
    (16, "min-max", "`min` to `max`"),
]

MET = {
    "torch/sampler.py": {"sampler.works", "batch.concatenation", "random.permutation"},
    "torch/distributed.py": {"sampler.works", "distributed.cover", "distributed.epochs-differ"},
    "torch/dataloader.py": {"loader.collate", "workers.seeds"},
    "reference/wrapper.py": {"wrapper.agree"},
    "reference/loader/loader.py": {"loader.collate", "workers.seeds"},
}
"""Clauses that unmutated copies of these files are asked."""

CHANGED = [
    ("torch/sampler.py", "RandomSampler.__iter__", "no-generator", "random.seeded"),
    ("torch/sampler.py", "BatchSampler.__len__", "sub-add", "sampler.length"),
    ("torch/distributed.py", "DistributedSampler.__iter__", "no-lower", "distributed.cover"),
    (
        "torch/distributed.py",
        "DistributedSampler.set_epoch",
        "no-assign",
        "distributed.epochs-differ",
    ),
    ("torch/_utils/fetch.py", "_MapDatasetFetcher.fetch", "return-none", "loader.batches"),
    ("torch/_utils/worker.py", "_worker_loop", "only-left", "workers.seeds"),
    ("torch/dataloader.py", "DataLoader.__init__", "0-minus-1", "loader.batches"),
    ("reference/random.py", "RandomSampler.__iter__", "no-generator", "random.seeded"),
    ("reference/wrapper.py", "seeded", "no-call", "wrapper.agree"),
    ("reference/loader/fetch.py", "MapFetcher.__call__", "return-none", "loader.batches"),
]
"""Target, function and rule of a mutant, and a clause that tells."""


@pytest.fixture(scope="module")
def detector() -> Iterator[Detector]:
    """One detector at quick effort for all."""
    made = Detector("quick", world_sizes=(1, 2))
    yield made
    made.close()


def test_every_rule_says_what_it_changes() -> None:
    """The mutants of a small file are these and no others: texts, warnings and types are left."""
    assert [(m.line, m.rule, m.said) for m in mutants(SMALL, "small.py")] == SAID


def test_every_mutant_is_another_program() -> None:
    """Each mutant parses, differs from the original and from each other mutant of the file."""
    sources = [m.source() for m in mutants(SMALL, "small.py")]

    assert len({ast.unparse(ast.parse(s)) for s in [SMALL, *sources]}) == len(SAID) + 1


@pytest.mark.parametrize("target", TARGETS)
def test_an_id_names_one_mutant_for_good(target: str) -> None:
    """Making the mutants of a file twice gives the same ids, and no id twice."""
    first, second = ([m.id for m in Target(target).mutants()] for _ in range(2))

    assert first == second
    assert len(set(first)) == len(first) > 0


def test_original_is_whole_again_after_a_mutant() -> None:
    """Asking one mutant for its source changes no other."""
    made = list(mutants(SMALL, "small.py"))
    before = [m.source() for m in made]

    assert [m.source() for m in reversed(made)] == before[::-1]


@pytest.mark.parametrize("target", MET)
def test_unmutated_copy_is_not_accused(detector: Detector, tmp_path: Path, target: str) -> None:
    """A copy without a change breaks none of these clauses in a way that the original does not."""
    file = Target(target)
    text = str(write(file, file.source, tmp_path, f"whole_{zlib.crc32(target.encode())}"))
    detector.deviations = file.deviations()

    assert detector.first(text, MET[target]) is None


def test_copy_asks_itself_which_worker_it_is(tmp_path: Path) -> None:
    """No file of a copy asks the installed torch, which knows of none of the copy's workers."""
    file = Target("torch/_utils/collate.py")
    write(file, file.source, tmp_path, "own")
    copied = [path.read_text("utf-8") for path in (tmp_path / "own").rglob("*.py")]

    assert any('import_module("own._utils.worker")' in text for text in copied)
    assert not [text for text in copied if re.search(r"(?<!:)\bdata\.get_worker_info\(", text)]


@pytest.mark.parametrize(("target", "function", "rule", "clause"), CHANGED)
def test_changed_copy_is_caught(
    detector: Detector, tmp_path: Path, target: str, function: str, rule: str, clause: str
) -> None:
    """A mutant is told by the clause that speaks of what it changed, in worker processes too."""
    file = Target(target)
    mutant = next(m for m in file.mutants() if (m.function, m.rule) == (function, rule))
    name = f"changed_{zlib.crc32(mutant.id.encode())}"
    text = str(write(file, mutant.source(), tmp_path, name, file.touched(mutant)))
    detector.deviations = file.deviations()

    found = detector.first(text, {clause})

    assert found is not None and found.clause == clause


def test_no_mutant_is_lost() -> None:
    """Lookers tell of each mutant that they were given, and catch what is plainly wrong."""
    file = Target("reference/sequential.py")
    jobs = [Job(file, mutant, "first") for mutant in file.mutants()]

    outcomes = {job.mutant.id: outcome for job, outcome in looked(jobs, 1, seed=0)}

    assert set(outcomes) == {job.mutant.id for job in jobs}
    told = [outcome.outcome for name, outcome in outcomes.items() if name.endswith(":no-assign")]
    assert told == [CAUGHT]


def test_every_survivor_is_examined() -> None:
    """Each survivor of the whole search has a verdict with a reason; no caught mutant has one."""
    measured, thoughts = results.read(), survivors.thoughts()
    outcomes = {
        name: mutant["outcome"]
        for target in measured.values()
        for name, mutant in target["mutants"].items()
    }

    assert {name for name, outcome in outcomes.items() if outcome == SURVIVED} <= set(thoughts)
    assert set(thoughts) <= {name for name, outcome in outcomes.items() if outcome != CAUGHT}
    assert all(thought.why for thought in thoughts.values())


@pytest.mark.parametrize("target", TARGETS)
def test_results_are_of_mutants_that_exist(target: str) -> None:
    """Every measured mutant can be made again from its id, as long as the file is the same."""
    measured = results.read().get(target)
    if measured is None or measured["digest"] != Target(target).digest:
        pytest.skip("the file is not the one that was measured")

    made = {mutant.id: mutant.said for mutant in Target(target).mutants()}

    assert {name: m["said"] for name, m in measured["mutants"].items()}.items() <= made.items()
    assert measured["made"] == len(made)


def test_table_is_that_of_the_results() -> None:
    """MUTANTS.md is what the command would write."""
    expected = table.table(results.read(), survivors.thoughts())

    assert table.TABLE.read_text(encoding="utf-8") == expected


def test_scores_leave_out_what_is_equivalent() -> None:
    """The score is the caught of those that count; the second one leaves out equivalents alone."""
    outcomes = {"a": "caught", "b": "caught", "c": "survived", "d": "survived", "e": "survived"}
    mutants = {
        name: {"outcome": outcome, "seconds": 1.0, "profile": "core", "function": "", "said": ""}
        for name, outcome in outcomes.items()
    }
    measured = {"torch/sampler.py": {"made": 9, "mutants": mutants}}
    verdicts = zip("cde", survivors.VERDICTS, strict=True)
    thoughts = {name: survivors.Thought(verdict, "so it is") for name, verdict in verdicts}

    row = next(x for x in table.table(measured, thoughts).split("\n") if "`torch/sampler" in x)

    assert (
        row == "| `torch/sampler.py` | 9 | 5 | 2 | 0 | 1 | 1 | 1 | 0 | 66.7 % | 50.0 % | 1.0 |  |"
    )
