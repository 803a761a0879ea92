"""The main job on real input: the verdicts on torch's samplers and on the reference.

In a sample of small cases, all in this process; with CONFORMANCE_ZOO=all at the default effort.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from pathlib import Path

import pytest
from detect import SMALL, Fewer, Fewest, Shorter, sampled
from runs import run
from zoo import SAMPLING, WHOLE

import reference
from conformance.baseline import layered
from conformance.candidate import Source
from conformance.clauses import CHAPTERS
from conformance.examine import Options
from conformance.properties import Property, everything
from conformance.roles import ROLES
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.search import CORE_ONLY
from conformance.verdict import DECLARED, HOLDS, NO_VERDICT, STALE, VIOLATED, Verdict

EFFORT = EFFORTS["ci"] if WHOLE else SMALL
TORCH = "torch.utils.data"

SAMPLE = {"reference": Fewer, TORCH: Fewest}
"""How many of the small cases each is asked; torch, beside them, all that its baseline declares."""

APART = ("workers",), ("lifecycle",)

PARTS = (
    SAMPLING,
    *APART,
    tuple(name for name in CHAPTERS if (name,) not in APART and name not in SAMPLING),
)
"""Chapters, apart so that they can be asked side by side, and none is too long for its patience."""

OWN = [part for part in PARTS if WHOLE or part is not SAMPLING]
"""Those that the reference is asked: of samplers, test_reach.py carries out all cases anyhow."""


def of(chapters: Collection[str]) -> list[Property]:
    """The properties of these chapters."""
    return [prop for prop in everything() if prop.clause.chapter in chapters]


def examined(
    impl: str, props: Collection[Property], profile: str = "core", simulated: bool = False
) -> list[Verdict]:
    """The verdicts on a candidate, MUST and SHOULD."""
    options = Options(EFFORT, (1, 2, 3), profile, simulated=simulated)
    known = layered(["torch"], None, [impl]) if impl == TORCH else []
    if not WHOLE:
        # Few cases of lifecycles are made for a clause: in a smaller sample some have none.
        kind = Shorter if any(p.clause.chapter == "lifecycle" for p in props) else SAMPLE[impl]
        return sampled(Source(impl, profile=profile), props, options, known, kind)
    with Run(options, deviations=known) as whole:
        whole.add(Source(impl, profile=profile))
        whole.begin(impl, props)
        return [whole.examine(impl, prop) for prop in props]


def failures(verdicts: list[Verdict]) -> str:
    """What would make a strict run fail."""
    bad = [v for v in verdicts if v.outcome in (VIOLATED, STALE, NO_VERDICT)]
    return "\n\n".join(v.document or f"{v.clause} {v.role}: {v.outcome}: {v.reason}" for v in bad)


@pytest.mark.parametrize("chapters", OWN, ids=lambda part: f"to {part[-1]}")
def test_reference_breaks_nothing(chapters: tuple[str, ...]) -> None:
    """The reference breaks no clause, MUST or SHOULD."""
    verdicts = examined("reference", of(chapters))

    assert not failures(verdicts)
    assert sum(verdict.outcome == HOLDS for verdict in verdicts) > len(verdicts) / 2


def test_reference_breaks_nothing_in_torch_s_order() -> None:
    """Nor where it gives torch's own order: for that, one class of it is replaced by another."""
    other = importlib.import_module(reference.CONFORMANCE["torch"])
    given = [role for role in ROLES if hasattr(other, role)]
    replaced = {role for role in given if getattr(other, role) is not getattr(reference, role)}
    props = [p for p in everything() if p.role in replaced or p.clause.profile == "torch"]

    verdicts = examined("reference", props, "torch", simulated=True)

    assert replaced and not failures(verdicts)
    assert sum(verdict.outcome == HOLDS for verdict in verdicts) > len(verdicts) / 2


@pytest.mark.parametrize("chapters", PARTS, ids=lambda part: f"to {part[-1]}")
def test_torch_breaks_what_its_baseline_says(chapters: tuple[str, ...]) -> None:
    """With the shipped baseline torch is green: nothing else is broken, and nothing is stale."""
    verdicts = examined(TORCH, of(chapters))

    assert not failures(verdicts)
    assert {HOLDS, DECLARED} <= {verdict.outcome for verdict in verdicts}


def test_torch_keeps_its_own_order() -> None:
    """All that the torch profile changes for torch itself, which is one module in both, holds."""
    props = [p for p in everything() if p.clause.profile == "torch" or p.clause.id in CORE_ONLY]
    verdicts = examined(TORCH, props, "torch")

    assert not failures(verdicts)
    assert HOLDS in {verdict.outcome for verdict in verdicts}


def test_torch_is_red_without_its_baseline(tmp_path: Path) -> None:
    """Without the baseline the MUSTs that torch breaks fail the run, each with its document."""
    options = ("--clause=sampler.resize", "--effort=quick", "--backend=simulated")
    done = run(tmp_path, f"--impl={TORCH}", *options)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "resize-crash" in done.stdout
    assert "  again  pytest" in done.stdout
