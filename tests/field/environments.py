"""An environment for one package: what is installed here already, and the package on top of it.

Packages conflict (with each other, with the torch that they were made for), so each has one of its
own; what this environment has is seen from there and is not installed again.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from importlib import metadata
from pathlib import Path

from field.packages import Package

INSTALL_S = 900.0


class EnvironmentFailed(RuntimeError):
    """A package could not be installed; the message ends with what the installer said."""


def environment(package: Package, folder: Path) -> Path:
    """The interpreter of a package's environment, made below `folder` if it is not there."""
    if not package.install:
        return Path(sys.executable)
    place = folder / package.name
    python = place / "bin" / "python"
    done = place / "installed"
    wanted = "\n".join((*package.install, *package.also))
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return python
    venv.create(place, clear=True, with_pip=False)
    own = next(place.glob("lib/python*/site-packages"))
    here = sysconfig.get_path("purelib")
    (own / "here.pth").write_text(f"import site; site.addsitedir({here!r})\n", encoding="utf-8")
    _install(python, package.install, *(["--no-deps"] if package.plain else []))
    if package.also:
        _install(python, package.also, "--no-deps")
    for pattern in package.without:
        for path in own.glob(pattern):
            path.unlink()
    done.write_text(wanted, encoding="utf-8")
    return python


def _install(python: Path, requirements: tuple[str, ...], *options: str) -> None:
    """Install into an environment; torch stays what it is here."""
    held = python.parent.parent / "constraints.txt"
    held.write_text(f"torch=={metadata.version('torch').partition('+')[0]}\n", encoding="utf-8")
    command = [
        sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet",
        "--disable-pip-version-check", "--constraint", str(held), *options, *requirements,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    if done.returncode:
        raise EnvironmentFailed(f"{' '.join(requirements)}: {done.stderr.strip()[-600:]}")
