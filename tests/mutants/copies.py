"""A candidate made of a changed file, beside the installed one, which nobody touches.

The file is put into a copy of its package under a name of its own, and every import within the
package is turned to the copy: a worker process, forked or spawned, then runs the changed code and
not the installed one. What `--impl` is given is a file next to the package.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from mutants.targets import FOLDERS, Target

SAMPLING = ("sampler.py", "distributed.py")
LOADING = (
    "dataloader.py", "_utils/__init__.py", "_utils/collate.py", "_utils/fetch.py",
    "_utils/pin_memory.py", "_utils/signal_handling.py", "_utils/worker.py",
)  # fmt: skip
"""What is copied of torch.utils.data; the datasets stay torch's own."""

COPIED = re.compile(
    r"^(\s*from )torch\.utils\.data( import (?:_utils|_DatasetKind)\b|\.sampler import )", re.M
)
ASKED = "torch.utils.data.get_worker_info()"
"""Asked of the installed torch, it knows of no worker of the copy, and `collate` would leave shared
memory out."""

OWN = re.compile(r"^(\s*(?:from|import) )reference\b", re.M)


def write(
    target: Target, source: str, folder: Path, name: str, roles: tuple[str, ...] = (),
    profile: str = "core",
) -> Path:  # fmt: skip
    """Write a package `name` with `source` in the place of the target; returns what to examine.

    folder: where; any number of candidates may share it. roles: those that are given, by default
    all that the target has.
    """
    package = folder / name
    if package.exists():
        shutil.rmtree(package)
    for inner in _files(target):
        text = source if inner == target.inner else _original(target, inner)
        path = package / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_turned(text, target, name), encoding="utf-8")
    candidate = folder / f"{name}_{profile}.py"
    candidate.write_text(_candidate(target, name, roles or target.roles, profile))
    return candidate


def remove(folder: Path, name: str) -> None:
    """Remove what `write` has written."""
    shutil.rmtree(folder / name, ignore_errors=True)
    for path in folder.glob(f"{name}_*.py"):
        path.unlink()


def _files(target: Target) -> list[str]:
    if target.package == "torch":
        return ["__init__.py", *SAMPLING, *(LOADING if target.loads else ())]
    root = FOLDERS["reference"]
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))


def _original(target: Target, inner: str) -> str:
    if (target.package, inner) == ("torch", "__init__.py"):
        return "from .dataloader import _DatasetKind\n" if target.loads else ""
    return (FOLDERS[target.package] / inner).read_text(encoding="utf-8")


def _turned(text: str, target: Target, name: str) -> str:
    """The imports within the package turned to the copy."""
    if target.package == "torch":
        own = f'__import__("importlib").import_module("{name}._utils.worker").get_worker_info()'
        return COPIED.sub(rf"\g<1>{name}\g<2>", text).replace(ASKED, own)
    return OWN.sub(rf"\g<1>{name}", text)


def _candidate(target: Target, name: str, roles: tuple[str, ...], profile: str) -> str:
    """A module that gives the roles and declares what their package declares."""
    lines = [f"from {_home(target, name, role, profile)} import {role}" for role in roles]
    if target.package == "reference":
        lines.append(f"from {name}.drop_in import CONFORMANCE")
    return "\n".join([*lines, ""])


def _home(target: Target, name: str, role: str, profile: str) -> str:
    if target.package == "reference":
        return f"{name}.drop_in" if profile == "torch" and not target.loads else name
    if role == "IterableDataset":
        return "torch.utils.data"
    module = "distributed" if role == "DistributedSampler" else "sampler"
    return f"{name}.dataloader" if target.loads else f"{name}.{module}"
