"""The suite from Python: verdicts without pytest, and tests in somebody's own module."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch.utils.data
from test_command_line import GOOD, WRONG

import conformance
from conformance.candidate import CandidateError
from conformance.verdict import HOLDS, VIOLATED, Verdict

QUICK = {"effort": "quick", "backend": "simulated", "clauses": ["distributed.cover"]}


class LosesItsLast(torch.utils.data.DistributedSampler):  # type: ignore[type-arg]
    """Leaves out the last index of each share."""

    def __iter__(self) -> Iterator[int]:
        return iter(list(super().__iter__())[:-1])


def outcomes(verdicts: list[Verdict]) -> list[tuple[str, str, str]]:
    """Clause, role and outcome of each."""
    return [(verdict.clause, verdict.role, verdict.outcome) for verdict in verdicts]


def test_a_class_is_examined() -> None:
    """`check` returns the verdicts on a class of this module, and leaves no process behind."""
    before = set(psutil.Process().children(recursive=True))

    found = conformance.check(LosesItsLast, role="DistributedSampler", **QUICK)

    assert outcomes(found) == [("distributed.cover", "DistributedSampler", VIOLATED)]
    assert "lost-index" in found[0].document and "LosesItsLast" in found[0].document
    left = set(psutil.Process().children(recursive=True)) - before
    assert not [child for child in left if "resource_tracker" not in " ".join(child.cmdline())]


def test_a_module_and_a_text_say_the_same() -> None:
    """A module and its name give the same verdicts, for the roles that it provides."""
    asked = {**QUICK, "clauses": ["sequential.order", "balanced.seeded"]}

    module = conformance.check(torch.utils.data, **asked)
    text = conformance.check("torch.utils.data", **asked)

    assert outcomes(module) == outcomes(text)
    assert outcomes(module) == [("sequential.order", "SequentialSampler", HOLDS)]


def test_a_declared_deviation_is_known() -> None:
    """`check` heeds a baseline."""
    found = conformance.check(
        torch.utils.data.SubsetRandomSampler, clauses=["sampler.arguments-copied"],
        baselines=["torch"], effort="quick", backend="simulated",
    )  # fmt: skip

    assert [verdict.outcome for verdict in found] == ["declared deviation"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"role": "Distributed"}, "role = 'Distributed': one of"),
        ({"effort": "fast"}, "effort = 'fast': one of quick, ci, nightly"),
        ({"backend": "mpi"}, "backend = 'mpi'"),
        ({"world_sizes": [0]}, "world_sizes (0,): write whole numbers >= 1"),
        ({"clauses": ["distributed.covr"]}, "clauses distributed.covr: no such clause"),
        ({"baselines": ["nobody"]}, "shipped baselines: torch"),
        ({"policies": {"pads": "zeros"}}, "no policy pads='zeros'"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], told: str) -> None:
    """An argument that cannot be is one error that names it and the rule."""
    with pytest.raises(CandidateError) as caught:
        conformance.check(torch.utils.data.DistributedSampler, **arguments)

    assert told in str(caught.value)


def test_a_class_that_others_cannot_import_is_told() -> None:
    """A class inside a function is refused: other processes could not import it."""

    class Local(LosesItsLast):
        pass

    with pytest.raises(CandidateError, match="other processes must be able to import it"):
        conformance.check(Local, role="DistributedSampler")


def test_a_role_that_cannot_be_told_is_asked_for() -> None:
    """A class of another name and other bases needs its role said."""
    with pytest.raises(CandidateError, match="its role cannot be told from its name"):
        conformance.check(Path)


def ended(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of this interpreter."""
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_a_script_may_check_its_own_class(tmp_path: Path) -> None:
    """A script examines a class that it defines itself."""
    script = WRONG + (
        "\nif __name__ == '__main__':\n    import conformance\n"
        "    found = conformance.check(DistributedSampler, clauses=['distributed.cover'],\n"
        "                              effort='quick', backend='simulated')\n"
        "    print([(v.clause, v.outcome, v.anomaly) for v in found])\n"
    )
    (tmp_path / "mine.py").write_text(script)

    done = ended(tmp_path, "mine.py")

    assert "[('distributed.cover', 'violated', 'lost-index')]" in done.stdout, done.stderr


TESTS = """
import conformance
from shards import {name}

@conformance.parametrize({name}, {options})
def test_conformance(check): check()
"""
OPTIONS = "clauses=['distributed.cover', 'distributed.e*'], effort='quick', backend='simulated'"


def test_laws_in_a_module_of_ones_own(tmp_path: Path) -> None:
    """Two lines make a test of each clause: the wrong sampler fails with its document."""
    (tmp_path / "shards.py").write_text(WRONG)
    text = TESTS.format(name="DistributedSampler", options=OPTIONS)
    (tmp_path / "test_shards.py").write_text(text)

    done = ended(tmp_path, "-m", "pytest", "-p", "no:cacheprovider")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "distributed.cover (MUST) is violated by DistributedSampler of shards" in done.stdout
    assert "violated test_shards.py::test_conformance[distributed.cover-Distrib" in done.stdout


def test_a_right_sampler_passes_in_a_module_of_ones_own(tmp_path: Path) -> None:
    """The same two lines are green for a right sampler, whose role its base class tells."""
    (tmp_path / "shards.py").write_text(GOOD)
    (tmp_path / "test_shards.py").write_text(TESTS.format(name="MyShards", options=OPTIONS))

    done = ended(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "-n2")

    assert done.returncode == 0, done.stdout
