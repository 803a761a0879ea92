"""TOML files whose entries know their lines, so that an error can name what is to be removed."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.candidate import CandidateError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

HEADER = re.compile(r"\s*\[+\s*([\w.-]+)\s*\]+\s*(#.*)?$")


@dataclass(frozen=True)
class Entry:
    """One `[[section]]` of a file. where: its file and lines, as a person finds them."""

    values: dict[str, Any]
    where: str


@dataclass(frozen=True)
class Table:
    """The tables of one file, or those below `prefix` ("tool.conformance.") in it."""

    path: Path
    text: str
    values: dict[str, Any]
    prefix: str = ""

    def entries(self, section: str) -> list[Entry]:
        """The entries of an array of tables, with their lines; CandidateError if it is none."""
        found = self.values.get(section, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise CandidateError(f"{self.path}: {section} is written [[{self.prefix}{section}]]")
        places = self._places(section)
        if len(places) != len(found):
            places = [f"entry {number}" for number in range(1, len(found) + 1)]
        pairs = zip(found, places, strict=True)
        return [Entry(entry, f"{self.path.name}, {place}") for entry, place in pairs]

    def _places(self, section: str) -> list[str]:
        """The lines of each entry, from its header to its last line that says something."""
        lines, found = self.text.splitlines(), []
        heads = [number for number, line in enumerate(lines) if HEADER.match(line)]
        for head, after in itertools.pairwise([*heads, len(lines)]):
            named = HEADER.match(lines[head])
            if named is None or named[1] != self.prefix + section or "[[" not in lines[head]:
                continue
            said = [n for n in range(head, after) if lines[n].partition("#")[0].strip()]
            found.append(f"lines {head + 1}-{said[-1] + 1}")
        return found


def read(path: Path, told: str, prefix: str = "") -> Table:
    """Read a TOML file; raises CandidateError that begins with `told`."""
    try:
        text = path.read_text(encoding="utf-8")
        values: Any = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CandidateError(f"{told}: {error}") from error
    for part in prefix.split(".")[:-1]:
        values = values.get(part, {})
    return Table(path, text, values, prefix)
