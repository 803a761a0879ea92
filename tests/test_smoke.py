"""`--smoke`: how a class is called and whether that works, apart from whether it is right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from runs import run
from test_binding import ODD

from conformance.roles import ROLES
from conformance.smoke import ORDINARY

WRONG = '''
class Shards:
    """Yields the same index for ever and ever, on every rank: wrong, and it works."""

    def __init__(self, data, world_size, rank):
        self.n = len(data)

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter([0] * self.n)
'''


def smoke(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """What `--smoke` says of the class Shards of a file."""
    (folder / "odd.py").write_text(text)
    return run(folder, "--impl=odd.py:Shards", "--smoke", *options)


def test_smoke_tells_how_each_argument_is_bound(tmp_path: Path) -> None:
    """It lists the arguments, those that are not taken too, and examines no clause."""
    text = ODD.replace("data_seed=0", "other=0").replace("data_seed", "0")

    done = smoke(tmp_path, text)

    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout
    assert "dataset data" in lines and "seed not taken" in lines
    assert "num_replicas world_size, needed: without it, what the process group says" in lines
    assert "drop_last not keep_last" in lines and "set_epoch reshuffle" in lines
    assert "1 passed" in done.stdout and "sampler.works" not in done.stdout


def test_a_wrong_class_works(tmp_path: Path) -> None:
    """Whether what comes of a class is right, the smoke run does not ask."""
    done = smoke(tmp_path, WRONG)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("self.n = len(data)", "self.n = data.size", "has no attribute 'size'"),
        ("return iter([0] * self.n)", "yield from self.rank", "then list(it)"),
        ("iter([0] * self.n)", "iter('abcdef')", "items are no indices: 'a', 'b'; the hook"),
        ("self.n = len(data)", "__import__('os')._exit(3)", "the process ended: exit 3"),
        ("self.n = len(data)", "__import__('time').sleep(60)", "the process ended: stuck"),
    ],
)
def test_what_does_not_work_says_how_it_was_called(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    """A failure names what was called with what, and is no violation."""
    done = smoke(tmp_path, WRONG.replace(old, new), "--case-timeout=2")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "called  Shards(<dataset of 6>, world_size=1, rank=0)" in done.stdout
    assert told in done.stdout
    assert "violated" not in done.stdout and "(MUST)" not in done.stdout


def test_a_class_that_finds_its_rank_elsewhere_is_told_so(tmp_path: Path) -> None:
    """Where no rank is taken and all ranks are given the same, no one can say how it is told."""
    text = """import os
class Shards:
    def __init__(self, data):
        self.share = range(int(os.getenv("JOB_RANK", "0")), len(data), int(os.getenv("JOBS", "1")))
    def __iter__(self):
        return iter(self.share)
"""

    done = smoke(tmp_path, text, "--role=DistributedSampler=Shards")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "every rank was given [0, 1, 2, 3, 4, 5]: it takes no rank" in done.stdout


def test_a_class_that_takes_too_little_is_told_so(tmp_path: Path) -> None:
    """Where no ordinary use fits the constructor, the arguments that it lacks are named."""
    (tmp_path / "odd.py").write_text("class Shards:\n    def __init__(self, data): ...\n")
    chosen = "--impl=odd.py:Shards", "--role=WeightedRandomSampler=Shards"

    done = run(tmp_path, *chosen, "--smoke")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "cannot be used: its constructor does not take num_samples" in done.stdout


@pytest.mark.parametrize("impl", ["torch.utils.data", "reference"])
def test_right_modules_work(tmp_path: Path, impl: str) -> None:
    """Every role of torch and of the reference passes, in a few seconds."""
    done = run(tmp_path, f"--impl={impl}", "--smoke")

    assert done.returncode == 0, done.stdout


def test_smoke_has_no_result(tmp_path: Path) -> None:
    """Asked for a clause or a report besides, it says in one sentence that there is none."""
    done = smoke(tmp_path, WRONG, "--conformance-json=a.json")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--conformance-json with --smoke: it examines no clause" in done.stdout + done.stderr


def test_every_role_has_an_ordinary_use() -> None:
    """Each role is tried but for the one that nothing is built of."""
    assert set(ROLES) - set(ORDINARY) == {"IterableDataset"}
