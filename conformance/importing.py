"""How a candidate's module is imported, and in one sentence why it cannot be."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import sys
import tempfile
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from conformance.copying import FILE

ADAPTERS = "conformance.adapters."
"""Where this suite's own adapters stand, each named like the extra that installs its package."""


class CandidateError(ValueError):
    """A candidate that cannot be examined: a usage error, never a verdict."""


def imported(name: str) -> ModuleType:
    try:
        if not name.endswith(".py"):
            if str(Path.cwd()) not in sys.path:
                sys.path.append(str(Path.cwd()))
            return importlib.import_module(name)
        return _import_file(Path(name).resolve(), name)
    except CandidateError:
        raise
    except Exception as error:
        raise CandidateError(f"--impl {name}: {_why(name, error)}") from error


def _why(name: str, error: Exception) -> str:
    """Why an import failed; for an adapter of this suite, what to install."""
    missing = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name.startswith(ADAPTERS) and missing not in ("", "conformance"):
        extra = name.removeprefix(ADAPTERS)
        return f"{missing} is not installed; pip install 'sampler-conformance[{extra}]'"
    return f"the import failed with {type(error).__name__}: {error}"


def _import_file(path: Path, name: str) -> ModuleType:
    """Import a file once, under a name of its own: it may be called `random.py`."""
    own = f"{FILE}{path.stem}_{zlib.crc32(str(path).encode()):08x}"
    found = importlib.util.spec_from_file_location(own, path)
    if found is None or found.loader is None or not path.exists():
        raise CandidateError(f"--impl {name}: no such file")
    if own not in sys.modules:
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        sys.modules[own] = importlib.util.module_from_spec(found)
        try:
            found.loader.exec_module(sys.modules[own])
        except BaseException:
            del sys.modules[own]
            raise
        if multiprocessing.parent_process() is not None:
            _let_others_import(own, path)
    return sys.modules[own]


def _let_others_import(own: str, path: Path) -> None:
    """A worker that is spawned finds what it unpickles by the module's name, and along `sys.path`.

    The folder for temporary files is that of the rank, and goes with it.
    """
    folder = Path(tempfile.gettempdir(), "candidates")
    folder.mkdir(exist_ok=True)
    lines = f"__file__ = {str(path)!r}", "exec(compile(open(__file__).read(), __file__, 'exec'))"
    (folder / f"{own}.py").write_text("\n".join(lines), encoding="utf-8")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def attribute_of(module: ModuleType, path: str, text: str) -> Any:
    holder: Any = module
    for part in path.split("."):
        if not hasattr(holder, part):
            raise CandidateError(f"--impl {text}: {module.__name__} has no {path}")
        holder = getattr(holder, part)
    return holder
