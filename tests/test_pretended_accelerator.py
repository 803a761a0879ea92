"""`spec/transfer.md` where there is no accelerator: its clauses about batches, on a pretended one.

The processes that carry out cases pretend (`faults/pretended.py`), so that scenarios, operations
and laws are used as they are with a real one. Nothing here says anything about a real device.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from conformance.baseline import layered
from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.scenarios import EFFORTS
from conformance.test_transfer import test_transfer as properties_of
from conformance.verdict import DECLARED, HOLDS, VIOLATED, Verdict
from conformance.worlds.worlds import Worlds

ZOO = Path(__file__).parent / "faults"
sys.path.insert(0, str(ZOO))

ABOUT_BATCHES = (
    "transfer.containers",
    "transfer.values",
    "transfer.pinned",
    "transfer.error",
    "transfer.persistent",
)


def faults() -> Iterator[object]:
    """Each wrong class of `faults/transfers.py` that breaks a rule about batches."""
    import transfers

    for name, kind in inspect.getmembers(transfers, inspect.isclass):
        for place, clause in enumerate(getattr(kind, "CAUGHT_BY", ())):
            if clause in ABOUT_BATCHES and kind.__module__ == "transfers":
                anomaly = "" if place else getattr(kind, "ANOMALY", "")
                yield pytest.param(name, clause, anomaly, id=f"{name}-{clause}")


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
    found = next(p for p in properties_of.properties if p.clause.id == clause)  # type: ignore[attr-defined]
    return Examiner(worlds, Options(EFFORTS["quick"], (1,)), known).examine(candidate, found)


@pytest.mark.parametrize(("name", "clause", "anomaly"), list(faults()))
def test_wrong_pinning_is_caught(worlds, tmp_path, monkeypatch, name, clause, anomaly):
    """What breaks a rule about pinned batches is caught by the clause that it names."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    verdict = examined(worlds, tmp_path, "transfers", name, clause)

    assert verdict.outcome == VIOLATED, verdict.reason
    assert anomaly in ("", verdict.anomaly)


@pytest.mark.parametrize("clause", ABOUT_BATCHES[1:])
@pytest.mark.parametrize("module", ["torch.utils.data", "reference"])
def test_right_pinning_is_not_accused(worlds, tmp_path, monkeypatch, module, clause):
    """Both torch and the reference pin every tensor and change no value."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    verdict = examined(worlds, tmp_path, module, "DataLoader", clause)

    assert verdict.outcome == HOLDS, verdict.document


def test_what_torch_loses_is_declared(worlds, tmp_path, monkeypatch):
    """Of containers torch loses what its baseline says, and the reference nothing."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    torchs, ours = (
        examined(worlds, tmp_path, module, "DataLoader", "transfer.containers", baselines)
        for module, baselines in (("torch.utils.data", ("torch",)), ("reference", ()))
    )

    assert (torchs.outcome, ours.outcome) == (DECLARED, HOLDS), (torchs.reason, ours.document)
