"""The files that a run writes: one result, in each form, with one worker of pytest-xdist or two."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from runs import run
from test_command_line import WRONG
from test_report_result import Tags, schema

CHOSEN = (
    "--impl=shards", "--clause=distributed.cover", "--clause=distributed.seed",
    "--clause=distributed.small", "--effort=quick", "--backend=simulated",
)  # fmt: skip
FORMS = ("json", "html", "md", "badge")


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["one", "two"])
def test_a_run_writes_its_result(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """Each form tells of the violation; the document is valid, complete and in the spec's order."""
    (tmp_path / "shards.py").write_text(WRONG)

    done = run(tmp_path, *CHOSEN, *workers, *(f"--conformance-{form}=r/{form}" for form in FORMS))

    assert done.returncode == 1, done.stdout
    document = json.loads((tmp_path / "r/json").read_text())
    assert not list(schema().iter_errors(document))
    (candidate,) = document["candidates"]
    named = [verdict["clause"] for verdict in candidate["verdicts"]]
    assert candidate["run"]["complete"] and list(document["clauses"]) == list(dict.fromkeys(named))
    assert "script" in Tags((tmp_path / "r/html").read_text()).tags
    assert (
        "distributed.cover | MUST | DistributedSampler | violated"
        in (tmp_path / "r/md").read_text()
    )
    assert json.loads((tmp_path / "r/badge").read_text())["color"] == "red"


def test_the_script_of_a_result_shows_the_violation(tmp_path: Path) -> None:
    """A script taken from the document exits 1 without the suite."""
    (tmp_path / "shards.py").write_text(WRONG)
    run(tmp_path, *CHOSEN, "--conformance-json=r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    scripts = [
        v["evidence"]["script"] for v in document["candidates"][0]["verdicts"] if v["evidence"]
    ]

    (tmp_path / "again.py").write_text(scripts[0])
    done = subprocess.run(
        [sys.executable, "-I", "again.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr


def test_a_run_that_is_stopped_is_partial(tmp_path: Path) -> None:
    """What was examined before the first failure is told, and that it is not all."""
    (tmp_path / "shards.py").write_text(WRONG)

    run(tmp_path, *CHOSEN, "-x", "--conformance-json=r.json", "--conformance-md=r.md")

    assert not json.loads((tmp_path / "r.json").read_text())["candidates"][0]["run"]["complete"]
    assert "**Partial:**" in (tmp_path / "r.md").read_text()
