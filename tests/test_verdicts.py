"""The main job on real input: the verdicts on torch's samplers and on the reference.

torch at the quick effort, which takes a third of the time, the reference in small cases; with
CONFORMANCE_ZOO=all both at the default effort.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from detect import SMALL
from test_command_line import run
from zoo import WHOLE

from conformance.candidate import Source
from conformance.clauses import clauses
from conformance.examine import Options
from conformance.properties import everything
from conformance.roles import LOADERS
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.search import CORE_ONLY
from conformance.verdict import HOLDS, VIOLATED

BOUND_S = 900

EFFORT = "ci" if WHOLE else "quick"


def examine(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the whole suite."""
    return run(folder, *arguments, f"--effort={EFFORT}", bound_s=BOUND_S)


@pytest.mark.parametrize(
    ("profile", "simulated", "left_out"), [("core", False, ()), ("torch", True, LOADERS)]
)
def test_reference_breaks_nothing(profile: str, simulated: bool, left_out: tuple[str, ...]) -> None:
    """The reference breaks no clause, MUST or SHOULD, nor where it gives torch's own order."""
    options = Options(EFFORTS["ci"] if WHOLE else SMALL, (1, 2, 3), profile, simulated=simulated)
    with Run(options) as of:
        of.add(Source("reference", profile=profile))
        verdicts = [of.examine("reference", p) for p in everything() if p.role not in left_out]

    accused = [verdict.document for verdict in verdicts if verdict.outcome == VIOLATED]
    assert not accused, "\n\n".join(accused)
    assert sum(verdict.outcome == HOLDS for verdict in verdicts) > len(verdicts) / 2


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
