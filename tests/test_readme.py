"""The README says what is: its violation is from a real run, its test command is what CI runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

SHARDS = '''
import torch
from torch.utils.data import DistributedSampler as TorchSampler


class DistributedSampler(TorchSampler):
    """Every rank shuffles for itself: its generator was never seeded."""

    def __iter__(self):
        order = torch.randperm(len(self.dataset)).tolist()
        order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])
'''


def test_violation_is_from_a_real_run(tmp_path: Path) -> None:
    """The violation that the README shows is what the suite says of that sampler."""
    (tmp_path / "shards.py").write_text(SHARDS)
    shown = re.search(r"<!-- violation -->\n```\n(.*?)```", README, re.DOTALL)
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", "--impl=shards"]

    done = subprocess.run(
        [*command, "--clause=distributed.cover", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip

    assert shown is not None
    assert shown[1] in done.stdout


def test_both_commands_do_all_the_set_up() -> None:
    """Each command makes its environment, installs under the constraints, and runs."""
    commands = re.findall(r"```sh\n(python3 -m venv .*?)\n```", README)

    assert len(commands) == 2
    for command in commands:
        assert "-c tests/constraints.txt" in command
    assert "pytest conformance --impl=torch.utils.data" in commands[0]
    assert "ruff check" in commands[1] and "mypy" in commands[1]


def test_options_are_those_of_the_plugin() -> None:
    """Every option that the README names exists."""
    others = {"--pyargs", "--quick", "--html", "--compare", "--latest", "--bare", "--renew",
              "--upstream", "--dist", "--config-file"}  # fmt: skip
    named = set(re.findall(r"--[a-z][a-z-]+", README)) - others
    helped = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, timeout=120
    ).stdout

    assert named
    assert {option for option in named if option not in helped} == set()
