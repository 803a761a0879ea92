"""The main job on real input: the verdicts on torch's samplers and on the reference.

In small cases, all in this process; with CONFORMANCE_ZOO=all at the default effort.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from detect import SMALL
from test_command_line import run
from zoo import WHOLE

from conformance.baseline import layered
from conformance.candidate import Source
from conformance.clauses import clauses
from conformance.examine import Options
from conformance.properties import everything
from conformance.roles import LOADERS
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.search import CORE_ONLY
from conformance.verdict import DECLARED, HOLDS, NO_VERDICT, STALE, VIOLATED, Verdict

EFFORT = EFFORTS["ci"] if WHOLE else SMALL
TORCH = "torch.utils.data"


def examined(
    impl: str, profile: str = "core", simulated: bool = False, only: Collection[str] = (),
    left_out: Collection[str] = (),
) -> list[Verdict]:  # fmt: skip
    """The verdicts on a candidate, MUST and SHOULD, by clause (of `only`, if given) and role."""
    options = Options(EFFORT, (1, 2, 3), profile, simulated=simulated)
    known = layered(["torch"], None, [impl]) if impl == TORCH else []
    asked = [prop for prop in everything() if prop.role not in left_out]
    with Run(options, deviations=known) as of:
        of.add(Source(impl, profile=profile))
        return [of.examine(impl, p) for p in asked if not only or p.clause.id in only]


def failures(verdicts: list[Verdict]) -> str:
    """What would make a strict run fail."""
    bad = [v for v in verdicts if v.outcome in (VIOLATED, STALE, NO_VERDICT)]
    return "\n\n".join(v.document or f"{v.clause} {v.role}: {v.outcome}: {v.reason}" for v in bad)


@pytest.mark.parametrize(
    ("profile", "simulated", "left_out"), [("core", False, ()), ("torch", True, LOADERS)]
)
def test_reference_breaks_nothing(profile: str, simulated: bool, left_out: tuple[str, ...]) -> None:
    """The reference breaks no clause, MUST or SHOULD, nor where it gives torch's own order."""
    verdicts = examined("reference", profile, simulated, left_out=left_out)

    assert not failures(verdicts)
    assert sum(verdict.outcome == HOLDS for verdict in verdicts) > len(verdicts) / 2


def test_torch_breaks_what_its_baseline_says() -> None:
    """With the shipped baseline torch is green: nothing else is broken, and nothing is stale."""
    verdicts = examined(TORCH)

    assert not failures(verdicts)
    assert {HOLDS, DECLARED} <= {verdict.outcome for verdict in verdicts}


def test_torch_keeps_its_own_order() -> None:
    """All that the torch profile changes for torch itself, which is one module in both, holds."""
    fixed = {clause.id for clause in clauses().values() if clause.profile == "torch"}
    verdicts = examined(TORCH, "torch", only=fixed | CORE_ONLY)

    assert not failures(verdicts)
    assert HOLDS in {verdict.outcome for verdict in verdicts}


def test_torch_is_red_without_its_baseline(tmp_path: Path) -> None:
    """Without the baseline the MUSTs that torch breaks fail the run, each with its document."""
    options = ("--clause=sampler.resize", "--effort=quick", "--backend=simulated")
    done = run(tmp_path, f"--impl={TORCH}", *options)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "resize-crash" in done.stdout
    assert "  again  pytest" in done.stdout
