"""Pinning where there is no accelerator: what the spec says of batches, on a pretended one.

The processes that carry out cases pretend (`faults/pretended.py`), so that scenarios, operations
and laws are used as they are with a real one. Nothing here says anything about a real device.
Clauses of other chapters are asked with pinned memory only (`scenarios/pinning.py`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from conformance.baseline import layered
from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.properties import Property, everything
from conformance.scenarios import EFFORTS, pinning
from conformance.verdict import DECLARED, HOLDS, VIOLATED, Verdict
from conformance.worlds.worlds import Worlds

ZOO = Path(__file__).parent / "faults"
sys.path.insert(0, str(ZOO))

ABOUT_BATCHES = (
    "transfer.containers",
    "transfer.values",
    "transfer.pinned",
    "transfer.objects",
    "transfer.error",
    "transfer.persistent",
)


def asked() -> dict[str, Property]:
    """By its clause, what can be asked about pinning here."""
    found = {prop.clause.id: prop for prop in everything() if prop.role == "DataLoader"}
    twins = {
        clause: replace(prop, scenarios=pinned)
        for clause, prop in found.items()
        if (pinned := tuple(s for s in prop.scenarios if s.name.startswith(pinning.PREFIX)))
    }
    return {clause: found[clause] for clause in ABOUT_BATCHES} | twins


ASKED = asked()


def faults() -> Iterator[object]:
    """Each wrong class with the rules that it breaks and that can be asked about here."""
    import pinning_threads
    import transfers

    for module in (transfers, pinning_threads):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            for place, clause in enumerate(getattr(kind, "CAUGHT_BY", ())):
                if clause in ASKED:
                    anomaly = "" if place else getattr(kind, "ANOMALY", "")
                    given = module.__name__, name, clause, anomaly
                    yield pytest.param(*given, id=f"{name}-{clause}")


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    """Processes of their own, since those that pretend are of no use for anything else."""
    made = Worlds("gloo", 10.0)
    yield made
    made.close()


def examined(
    worlds: Worlds, folder: Path, module: str, name: str, clause: str, baselines: Sequence[str] = ()
) -> Verdict:
    """The verdict on a loader, by the name of its module and its own."""
    file = folder / f"pretending_{module.partition('.')[0]}_{name}.py"
    lines = [f"import sys; sys.path.insert(0, {str(ZOO)!r})", "import pretended"]
    file.write_text("\n".join([*lines, f"from {module} import {name} as DataLoader", ""]))
    candidate, known = worlds.describe(Source(str(file))), layered(baselines, None, ())
    return Examiner(worlds, Options(EFFORTS["quick"], (1,)), known).examine(
        candidate, ASKED[clause]
    )


@pytest.fixture(autouse=True)
def pretends(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process takes the machine for one with an accelerator, too."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(pinning, "has_accelerator", lambda: True)


@pytest.mark.parametrize(("module", "name", "clause", "anomaly"), list(faults()))
def test_wrong_pinning_is_caught(worlds, tmp_path, module, name, clause, anomaly):
    """What breaks a rule where batches are pinned is caught by the clause that it names."""
    verdict = examined(worlds, tmp_path, module, name, clause)

    assert verdict.outcome == VIOLATED, verdict.reason
    assert anomaly in ("", verdict.anomaly)


@pytest.mark.parametrize("clause", ABOUT_BATCHES[1:])
@pytest.mark.parametrize("module", ["torch.utils.data", "reference"])
def test_right_pinning_is_not_accused(worlds, tmp_path, module, clause):
    """Both torch and the reference pin every tensor and change no value."""
    verdict = examined(worlds, tmp_path, module, "DataLoader", clause)

    assert verdict.outcome == HOLDS, verdict.document


@pytest.mark.parametrize("clause", [clause for clause in ASKED if clause not in ABOUT_BATCHES])
def test_the_reference_holds_with_a_thread_that_pins(worlds, tmp_path, clause):
    """What it promises elsewhere it promises with pinned memory, too."""
    verdict = examined(worlds, tmp_path, "reference", "DataLoader", clause)

    assert verdict.outcome == HOLDS, verdict.document


def test_what_torch_loses_is_declared(worlds, tmp_path):
    """Of containers torch loses what its baseline says, and the reference nothing."""
    torchs, ours = (
        examined(worlds, tmp_path, module, "DataLoader", "transfer.containers", baselines)
        for module, baselines in (("torch.utils.data", ("torch",)), ("reference", ()))
    )

    assert (torchs.outcome, ours.outcome) == (DECLARED, HOLDS), (torchs.reason, ours.document)
