"""The main job on real input: the verdicts on torch's samplers and on the reference.

At the quick effort, which takes a third of the time; with CONFORMANCE_ZOO=all at the default one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from test_command_line import run
from zoo import WHOLE

from conformance.clauses import CHAPTERS, clauses
from conformance.search import CORE_ONLY

BOUND_S = 900

EFFORT = "ci" if WHOLE else "quick"

PROFILES = {
    "core": [],
    "torch": [f"--clause={chapter}.*" for chapter in CHAPTERS[: CHAPTERS.index("loader")]],
}
"""The profile changes nothing in the chapters on loaders."""


def examine(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the whole suite."""
    return run(folder, *arguments, f"--effort={EFFORT}", bound_s=BOUND_S)


@pytest.mark.parametrize("profile", ["core", "torch"])
def test_reference_breaks_nothing(tmp_path: Path, profile: str) -> None:
    """The reference breaks no clause, MUST or SHOULD, in either profile."""
    options = [f"--conformance-profile={profile}", "--strict-should", *PROFILES[profile]]

    done = examine(tmp_path, "--impl=reference", *options)

    assert done.returncode == 0, done.stdout[-5000:]
    assert "violated" not in done.stdout.splitlines()[-2]


def test_torch_breaks_what_its_baseline_says(tmp_path: Path) -> None:
    """With the shipped baseline torch is green: nothing else is broken, and nothing is stale."""
    done = examine(tmp_path, "--impl=torch.utils.data", "--baseline=torch", "--strict-should")

    assert done.returncode == 0, done.stdout[-5000:]
    assert "declared deviation" in done.stdout


def test_torch_keeps_its_own_order(tmp_path: Path) -> None:
    """All that the torch profile changes for torch itself, which is one module in both, holds."""
    ordered = [
        f"--clause={clause.id}"
        for clause in clauses().values()
        if clause.profile == "torch" or clause.id in CORE_ONLY
    ]
    options = ["--baseline=torch", "--conformance-profile=torch", "--strict-should", *ordered]

    done = examine(tmp_path, "--impl=torch.utils.data", *options)

    assert done.returncode == 0, done.stdout[-5000:]
    assert "holds" in done.stdout


def test_torch_is_red_without_its_baseline(tmp_path: Path) -> None:
    """Without the baseline the MUSTs that torch breaks fail the run, each with its document."""
    done = examine(tmp_path, "--impl=torch.utils.data", "--clause=sampler.resize")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "resize-crash" in done.stdout
    assert "  again  pytest" in done.stdout
