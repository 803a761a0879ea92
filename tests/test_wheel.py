"""The installed wheel works by itself, in a folder that holds nothing but the candidate."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]


def test_wheel_in_an_empty_folder(tmp_path: Path) -> None:
    """Only the wheel and a module of one's own: `pytest --pyargs conformance --impl=mymodule`."""
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)]
    subprocess.run([*PIP, *wheel], check=True, timeout=300)
    built = next(tmp_path.glob("*.whl"))
    site, empty = tmp_path / "site", tmp_path / "empty"
    subprocess.run(
        [*PIP, "install", "--no-deps", "--target", str(site), str(built)], check=True, timeout=300
    )
    empty.mkdir()
    (empty / "mymodule.py").write_text("from torch.utils.data import DistributedSampler\n")

    ways: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 300}
    ways |= {"cwd": empty, "env": {**os.environ, "PYTHONPATH": str(site)}}
    used = subprocess.run([sys.executable, "-c", "print(__import__('conformance'))"], **ways)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "--pyargs", "conformance", "--impl=mymodule",
            "--clause=distributed.cover", "--effort=quick", "-p", "no:cacheprovider",
        ],
        **ways,
    )  # fmt: skip

    assert str(site) in used.stdout
    assert done.returncode == 0, done.stdout
    assert re.search(r"^distributed\.cover +MUST +holds", done.stdout, re.M), done.stdout
    assert "conformance/spec/distributed.md" in zipfile.ZipFile(built).namelist()
