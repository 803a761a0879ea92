"""What a user types: usage errors are one sentence, selections select, nothing unseen is green."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from runs import run

GOOD = """
import torch.utils.data as data

class MyShards(data.DistributedSampler):
    pass
"""

WRONG = """
import torch.utils.data as data

class DistributedSampler(data.DistributedSampler):
    def __iter__(self):
        return iter([index for index in super().__iter__() if index != 3])
"""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "say what to examine"),
        (["--impl=nowhere"], "--impl nowhere: the import failed with ModuleNotFoundError"),
        (["--impl=json"], "--impl json: it provides no role"),
        (["--impl=missing.py"], "--impl missing.py: no such file"),
        (["--impl=torch.utils.data:Missing"], "has no Missing"),
        (["--impl=torch.utils.data", "--role=Distributed=X"], "no such role"),
        (["--impl=torch.utils.data", "--role=BatchSampler=X"], "has no X"),
        (["--impl=torch.utils.data", "--role=BatchSampler"], "write ROLE=NAME"),
        (["--impl=torch.utils.data", "--clause=distributed.covr"], "no such clause"),
        (["--impl=torch.utils.data", "--on=Distributed"], "no such role"),
        (["--impl=torch.utils.data", "--world-sizes=2,x"], "write whole numbers"),
        (["--impl=torch.utils.data", "--case=print(1)"], "not a case"),
        (["--impl=torch.utils.data", "--baseline=nobody"], "shipped baselines: torch"),
    ],
)
def test_usage_errors(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    """A mistake on the command line is a usage error of one sentence, and never a green run."""
    done = run(tmp_path, *arguments)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_renamed_role(tmp_path: Path) -> None:
    """`--role` finds a sampler under its own name, in a module of the current folder."""
    (tmp_path / "mine.py").write_text(GOOD)
    arguments = ["--impl=mine", "--role=DistributedSampler=MyShards"]

    done = run(tmp_path, *arguments, "--clause=distributed.no-group", "--effort=quick")

    assert done.returncode == 0, done.stdout
    assert "distributed.no-group" in done.stdout and "holds" in done.stdout


def test_configured_role_and_policy(tmp_path: Path) -> None:
    """`[tool.conformance]` of pyproject.toml names roles and declares policies."""
    (tmp_path / "mine.py").write_text(GOOD)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.conformance.roles]\nDistributedSampler = "MyShards"\n'
        '[tool.conformance.policies]\npads = "wrap"\ndivides = "contiguous"\n'
    )

    done = run(tmp_path, "--impl=mine", "--clause=distributed.policy", "--effort=quick")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "divides='contiguous' is declared" in done.stdout


def test_violation_repeats(tmp_path: Path) -> None:
    """A violation prints one line, and that line shows it again."""
    (tmp_path / "wrong.py").write_text(WRONG)

    done = run(tmp_path, "--impl=wrong.py", "--clause=distributed.cover", "--effort=quick")
    line = next(found for found in done.stdout.splitlines() if found.startswith("  again"))
    again = subprocess.run(
        line.removeprefix("  again  ").replace("pytest", f"{sys.executable} -m pytest", 1),
        shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert done.returncode == again.returncode == pytest.ExitCode.TESTS_FAILED
    assert "lost-index" in done.stdout and "lost-index" in again.stdout


def test_two_workers_agree(tmp_path: Path) -> None:
    """Under pytest-xdist the verdicts are those of one process, in one summary."""
    clauses = ["--clause=sequential.*", "--clause=distributed.no-group"]
    arguments = ["--impl=torch.utils.data", *clauses]

    alone = run(tmp_path, *arguments, "--effort=quick")
    shared = run(tmp_path, *arguments, "--effort=quick", "-n2")

    def verdicts(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith(("sequ", "distr"))]

    assert verdicts(alone.stdout) and verdicts(alone.stdout) == verdicts(shared.stdout)


def test_empty_selection_is_not_green(tmp_path: Path) -> None:
    """A role that the candidate does not provide is shown as such, and skipped."""
    done = run(tmp_path, "--impl=torch.utils.data", "--clause=wrapper.view")

    assert "not provided" in done.stdout
    assert "holds" not in done.stdout
