"""Stand-alone scripts: they find the fault without the suite, and find nothing once it is gone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.baseline import Deviation, read_baseline
from conformance.candidate import LOADERS, Description, Source
from conformance.clauses import clauses
from conformance.report.reproduction.confirm import scripts
from conformance.worlds.worlds import Worlds

LINES_MAX = 45

RUNNER = """
import os, runpy, sys, torch, torch.distributed
sys.modules["conformance"] = None  # not to be imported, from anywhere

def run(path):
    os.dup2(os.open(path + ".out", os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    sys.argv = [path]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    os._exit(code)

started = {}
for path in sys.argv[1:]:
    pid = os.fork()
    if not pid:
        run(path)
    started[pid] = path
    if len(started) % 2 == 0:
        ended, status = os.wait()
        print(os.waitstatus_to_exitcode(status), started.pop(ended))
while started:
    ended, status = os.wait()
    print(os.waitstatus_to_exitcode(status), started.pop(ended))
"""
"""Runs scripts in children of one process that has imported torch, without the suite."""


def codes(paths: list[Path], elsewhere: Path) -> dict[Path, int]:
    """How each script ended."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER, *map(str, paths)],
        cwd=elsewhere, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    lines = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {Path(path): int(code) for code, path in lines}


def printed(path: Path) -> str:
    """What a script printed."""
    return Path(f"{path}.out").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Deviation, Path]]:
    """The scripts of all entries of the shipped baseline that speak of samplers."""
    entries = [entry for entry in read_baseline("torch") if entry.role not in LOADERS]
    folder, worlds = tmp_path_factory.mktemp("scripts"), Worlds()
    try:
        candidate = worlds.describe(Source("torch.utils.data"))
        found = list(scripts(worlds, candidate, entries, folder))
    finally:
        worlds.close()
    return [(entry, path) for entry, path in found if isinstance(path, Path)]


def test_every_entry_has_a_script(written: list[tuple[Deviation, Path]]) -> None:
    """Each entry shows its violation again, and gets a script of its own."""
    entries = [entry for entry in read_baseline("torch") if entry.role not in LOADERS]

    assert len({path for _, path in written}) == len(entries)


def test_scripts_confirm_the_baseline(
    written: list[tuple[Deviation, Path]], tmp_path: Path
) -> None:
    """Run without the suite, each script sees the fault, says so and exits 1."""
    ended = codes([path for _, path in written], tmp_path)

    for entry, path in written:
        assert ended[path] == 1, (entry, printed(path))
        assert all(word in printed(path) for word in ("demands: ", "seen: ", "now: "))


def test_scripts_find_nothing_in_the_reference(
    written: list[tuple[Deviation, Path]], tmp_path: Path
) -> None:
    """The same scripts exit 0 with a candidate that keeps the clauses."""
    root = str(Path(__file__).parents[1])
    right = []
    for _, path in written:
        text = path.read_text(encoding="utf-8").replace("from torch.utils.data", "from reference")
        right.append(tmp_path / path.name)
        right[-1].write_text(text.replace("\nimport sys\n", f"\nimport sys\nsys.path[:0] = [{root!r}]\n"))

    ended = codes(right, tmp_path)

    for path in right:
        assert ended[path] == 0, printed(path)


def test_scripts_are_short_and_need_torch_alone(written: list[tuple[Deviation, Path]]) -> None:
    """A script fits on a screen, and imports the standard library, torch and numpy."""
    for _, path in written:
        text = path.read_text(encoding="utf-8")
        roots = {
            name.partition(".")[0]
            for node in ast.walk(ast.parse(text))
            for name in (
                [alias.name for alias in node.names] if isinstance(node, ast.Import)
                else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            )
        }  # fmt: skip

        assert len(text.splitlines()) <= LINES_MAX, path
        assert roots <= {*sys.stdlib_module_names, "torch", "numpy"}, path
