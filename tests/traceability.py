"""The way from each clause to its laws, properties, faults and reported bugs, as a page.

    python tests/traceability.py [--check]

It writes `TRACEABILITY.md` beside this file, from the spec, the suite and the zoo as they are, and
from the last run of the detection score, which says what was really caught. `--check` writes
nothing, tells every gap, and ends with 1 if there is one.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from detection.faults import key, scored
from detection.rows import CAUGHT, read
from zoo import CITED, Fault

from conformance.clauses import Clause, clauses, spec_folder
from conformance.laws import load_laws
from conformance.properties import placed

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).parent / "TRACEABILITY.md"
MARK = " ✓"

HEAD = f"""\
# Traceability

Made by `python tests/traceability.py`; not edited by hand.

One row for each clause, in the order of the spec: the law that judges it, the properties that look
for a counterexample (the file of `conformance/`, and its scenarios), the faults of the zoo that
name it, and the rows of the corpus of reported bugs that its rationale or its faults cite.
A fault with{MARK} was caught by this very clause when the [detection score](detection/DETECTION.md)
was last measured; `tests/test_faults.py` demands it of all, and `tests/test_hostile.py` of those of
`hostile.py`. Clauses marked † need an accelerator to be judged.
"""

LEFT_OUT = re.compile(r"^## (Laws|Parts of laws) without a clause$", re.MULTILINE)


@dataclass(frozen=True)
class Excluded:
    """A law of the catalogue, or the part of one, that no clause states, and why."""

    law: str
    what: str
    reason: str


def laws() -> dict[str, str]:
    """By clause, the function that judges it and the file that holds it."""
    return {clause: f"`{judge.__name__}`, {_file(judge)}" for clause, judge in load_laws().items()}


def _file(function: object) -> str:
    path = Path(inspect.getfile(function))  # type: ignore[arg-type]
    return path.relative_to(ROOT / "conformance").as_posix()


def properties() -> dict[str, str]:
    """By clause, the files of properties that examine it and the scenarios they look in."""
    found: dict[str, dict[str, None]] = {}
    for name, prop in placed():
        scenarios = ", ".join(scenario.name for scenario in prop.scenarios)
        found.setdefault(prop.clause.id, {})[f"{name}.py: {scenarios}"] = None
    return {clause: "; ".join(places) for clause, places in found.items()}


def faults() -> list[Fault]:
    """Every wrong class there is, the hostile ones too."""
    hostile = importlib.import_module("hostile").HOSTILE
    told = ((name, kind, inspect.getdoc(kind) or "") for name, kind in hostile.items())
    harmful = [
        Fault("hostile", name, said, kind.CAUGHT_BY, "", tuple(CITED.findall(said)))
        for name, kind, said in told
    ]
    return [*scored(), *harmful]


def caught() -> set[tuple[str, str]]:
    """Pairs of fault and clause: what the last runs of the detection score have seen."""
    return {
        (row.fault, clause)
        for row in read()
        if row.outcome == CAUGHT
        for clause in (*row.told, row.clause)
    }


def excluded() -> list[Excluded]:
    """What `spec/excluded.md` leaves out."""
    text = (spec_folder() / "excluded.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    kept = [part for part in sections if LEFT_OUT.match("## " + part.splitlines()[0])]
    lines = [line for part in kept for line in part.splitlines() if line.startswith("| ")]
    cells = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    return [Excluded(*row, *[""] * (3 - len(row))) for row in cells if row[0] != "law"]


def gaps() -> list[str]:
    """What is missing on the way, a sentence each."""
    known, judged, examined = set(clauses()), set(laws()), set(properties())
    named = {clause for fault in faults() for clause in fault.caught_by}
    pairs = (
        ("clause {} has no law", known - judged),
        ("law {} has no clause", judged - known),
        ("clause {} has no property", known - examined),
        ("clause {} has no fault", known - named),
        ("clause {} is named by a fault, and unknown", named - known),
        ("law {} is excluded without a reason", {e.law for e in excluded() if not e.reason}),
    )
    return [sentence.format(name) for sentence, names in pairs for name in sorted(names)]


def page() -> str:
    """The whole page."""
    chapters: dict[str, list[str]] = {}
    judged, examined, seen, zoo = laws(), properties(), caught(), faults()
    for clause in clauses().values():
        naming = [fault for fault in zoo if clause.id in fault.caught_by]
        cells = (
            clause.id + ("†" if clause.accelerator else ""), clause.level,
            ", ".join(clause.roles), judged.get(clause.id, ""), examined.get(clause.id, ""),
            ", ".join(_marked(fault, clause, seen) for fault in naming),
            ", ".join(_cited(clause, naming)),
        )  # fmt: skip
        chapters.setdefault(clause.chapter, []).append(f"| {' | '.join(cells)} |")
    parts = [_chapter(name, rows) for name, rows in chapters.items()]
    return "\n\n".join([HEAD.strip(), *parts, _left_out()]) + "\n"


def _marked(fault: Fault, clause: Clause, seen: set[tuple[str, str]]) -> str:
    return key(fault) + (MARK if (key(fault), clause.id) in seen else "")


def _cited(clause: Clause, naming: list[Fault]) -> Iterator[str]:
    """The corpus rows behind a clause, in order."""
    from_faults = (row for fault in naming for row in fault.cites)
    yield from sorted({*CITED.findall(clause.why), *from_faults})


def _chapter(name: str, rows: list[str]) -> str:
    head = "| clause | level | roles | law | properties | faults | corpus |"
    return "\n".join([f"## {name.capitalize()}", "", head, "|---|---|---|---|---|---|---|", *rows])


def _left_out() -> str:
    rows = [f"| {entry.law} | {entry.what} | {_plain(entry.reason)} |" for entry in excluded()]
    head = "| law of the catalogue | what it says | why no clause states it |"
    return "\n".join(["## Excluded", "", head, "|---|---|---|", *rows])


def _plain(text: str) -> str:
    """Links point into `spec/`, seen from here."""
    return re.sub(r"\]\((\w+\.md)\)", r"](../spec/\1)", text)


def static(text: str) -> str:
    """A page without what the last detection run has added to it."""
    return text.replace(MARK, "")


def main() -> int:
    if "--check" in sys.argv[1:]:
        found = gaps()
        print(*found, sep="\n")
        return int(bool(found))
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
