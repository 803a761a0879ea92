"""The tutorial comes true: its files are written, its commands run, its outputs are the real ones.

The page marks its blocks with comments. `<!-- file NAME -->` is written, `<!-- diff NAME -->`
applied, `<!-- run, exits with N -->` run by bash, and `<!-- output -->` compared with what the
command before it printed; a line `...` leaves some out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = (ROOT / "conformance" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"<!-- (.*?) -->\n```\w*\n(.*?)```", TUTORIAL, re.S)
"""What the comment says, and the text of the block below it, in the order of the page."""

ONE_CLAUSE = "--clause=sampler.length --on=DistributedSampler --effort=quick --backend=simulated"
"""Added to the gate's command by pytest's own variable: the walk runs all clauses twice already."""


def block(mark: str) -> str:
    """The one block so marked."""
    (text,) = (text for found, text in BLOCKS if found == mark)
    return text


def bash(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script with this interpreter's `pytest` and `python` first on the path."""
    foreign = ("GITHUB_", "PYTEST_", "COLUMNS")
    own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env={**own, "PATH": path, **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip


def patched(text: str, diff: str) -> str:
    """The text with the lines of a diff replaced; they stand in it once."""
    lines = [(line[0], line[1:]) for line in diff.splitlines()]
    old = "\n".join(line for sign, line in lines if sign in " -")
    new = "\n".join(line for sign, line in lines if sign in " +")
    assert text.count(old) == 1
    return text.replace(old, new)


def write_sampler(folder: Path, mended: bool) -> None:
    """The tutorial's sampler, as it is written first or as it is mended."""
    text = block("file shards.py")
    fixed = patched(text, block("diff shards.py")) if mended else text
    (folder / "shards.py").write_text(fixed, encoding="utf-8")


def assert_shown(shown: str, real: str) -> None:
    """The parts that are shown stand in the real output, whole lines of it, in this order."""
    rest = f"\n{real}"
    for part in shown.split("...\n"):
        assert f"\n{part}" in rest, f"not printed:\n{part}\nbut:\n{rest}"
        rest = rest[rest.index(f"\n{part}") + len(part) :]


def test_the_page_comes_true(tmp_path: Path) -> None:
    """From an empty folder the page's files, commands and diff give its outputs and exit codes."""
    printed = ""
    for mark, text in BLOCKS:
        what, _, name = mark.partition(" ")
        if what == "file":
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif what == "diff":
            before = (tmp_path / name).read_text(encoding="utf-8")
            (tmp_path / name).write_text(patched(before, text), encoding="utf-8")
        elif what == "run,":
            done = bash(text, tmp_path)
            printed = done.stdout
            assert f"exits with {done.returncode}" == name, printed
        elif what == "output":
            assert_shown(text, printed)

    assert [mark.split()[0] for mark, _ in BLOCKS].count("run,") == 3


def test_the_module_gates(tmp_path: Path) -> None:
    """The page's test module fails for the clause that the first sampler violates, and no other."""
    write_sampler(tmp_path, mended=False)
    (tmp_path / "test_shards.py").write_text(block("file test_shards.py"), encoding="utf-8")

    done = bash("pytest test_shards.py", tmp_path, PYTEST_ADDOPTS="-k length")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "1 failed, 1 passed" in done.stdout and "wrong-length" in done.stdout


@pytest.mark.parametrize("mended", [False, True])
def test_the_recipe_gates(tmp_path: Path, mended: bool) -> None:
    """The shell recipe's exit code, annotations, summary and page tell the two samplers apart."""
    write_sampler(tmp_path, mended)
    summary = tmp_path / "summary.md"
    recipe, installs = re.subn(r"^pip install .*$", "true", block("shell"), flags=re.M)

    done = bash(
        recipe, tmp_path, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary),
        PYTEST_ADDOPTS=ONE_CLAUSE,
    )  # fmt: skip
    html = MarkdownIt("commonmark").enable("table").render(summary.read_text(encoding="utf-8"))

    assert installs == 1
    assert done.returncode == (0 if mended else 1), done.stdout
    annotated = re.findall(r"^::error title=(\S+)", done.stdout, re.M)
    assert annotated == ([] if mended else ["sampler.length"])
    assert "<table>" in html and ("<td>sampler.length</td>" in html) != mended
    assert "shards" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_workflow_is_the_recipe() -> None:
    """The workflow's steps are the shell recipe's commands, between a checkout and an upload."""
    workflow, shell = block("workflow").splitlines(), block("shell").splitlines()
    steps = [line.removeprefix("      - ") for line in workflow[workflow.index("    steps:") + 1 :]]
    runs = [step.removeprefix("run: ") for step in steps if step.startswith("run: ")]
    used = re.findall(r"uses: ([\w/-]+)@v\d+", block("workflow"))

    assert runs == shell[-2:]
    assert used == ["actions/checkout", "actions/setup-python", "actions/upload-artifact"]
    assert len(steps) == len(runs) + len(used)
    assert workflow[:4] == ["on: [push, pull_request]", "jobs:", "  conformance:",
                            "    runs-on: ubuntu-latest"]  # fmt: skip
    assert "if: always()" in steps[-1] and "path: report.html" in steps[-1]
    assert "--conformance-html=report.html" in runs[-1]


def test_recipes_are_short() -> None:
    """Each recipe takes ten lines or fewer."""
    assert max(len(block(mark).splitlines()) for mark in ("workflow", "shell")) <= 10
