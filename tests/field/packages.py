"""The published classes that are examined, and where what was measured of them is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.tables import tomllib

HERE = Path(__file__).parent
LIST = HERE / "candidates.toml"
RESULTS = HERE / "results"

LOADED = (
    "loader.batches", "loader.length", "loader.fetch-once", "loader.errors", "loader.draws-alike",
    "loader.stop-iteration",
)  # fmt: skip
"""What loaders are asked: the clauses that do not wait for workers that hang."""


@dataclass(frozen=True)
class Package:
    """A package with its classes. See the head of `candidates.toml` for what the fields mean.

    slow: classes that are examined at quick effort. loaders: those too, on some clauses, with
    torch's deviations declared. ranked: what gives a rank its share. mended: how its modules come
    to be importable.
    """

    name: str
    install: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    plain: bool = False
    light: bool = False
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """One `--impl` of a package. slow: it is examined at quick effort."""

    package: Package
    text: str
    slow: bool = False

    @property
    def baselines(self) -> tuple[str, ...]:
        """Known deviations: of a module for all its classes at once, of a loader torch's own."""
        if self.text in self.package.loaders:
            return ("torch",)
        return () if ":" in self.text else self.package.baselines

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that it is asked about, all if there are none: of a loader some."""
        return LOADED if self.text in self.package.loaders else ()

    @property
    def slug(self) -> str:
        """The name of its files."""
        return re.sub(r"[^A-Za-z0-9_.]+", "-", self.text)

    @property
    def result(self) -> Path:
        """Where its result is kept."""
        return RESULTS / f"{self.slug}.json"


def packages() -> list[Package]:
    """All packages, in the order of the list."""
    found = tomllib.loads(LIST.read_text(encoding="utf-8"))
    shims = found.pop("shims")
    for table in found.values():
        table["mended"] = shims.get(table.get("mended"), [])
    return [
        Package(name, **{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()})
        for name, table in found.items()
    ]


def candidates(only: str = "", light: bool = False) -> Iterator[Candidate]:
    """Every candidate that a regular expression finds by its package or its text."""
    for package in packages():
        slow = (*package.slow, *package.loaders)
        for text in _chosen(package, (*package.candidates, *slow), only, light):
            yield Candidate(package, text, text in slow)


def ranked(only: str = "", light: bool = False) -> Iterator[Candidate]:
    """The same of what gives a rank its share, each by its own name."""
    for package in packages():
        for text in _chosen(package, package.ranked, only, light):
            yield Candidate(package, text)


def _chosen(package: Package, texts: Iterable[str], only: str, light: bool) -> Iterator[str]:
    if package.light or not light:
        yield from (text for text in texts if re.search(only, f"{package.name} {text}"))
