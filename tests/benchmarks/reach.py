"""How the cases of each property are distributed over the classes that matter.

For each class two counts: small cases, tried exhaustively, + drawn ones. Those of samplers are
carried out, and count where the clause's precondition was met; those of loaders are drawn only.

python tests/benchmarks/reach.py [--impl reference] [--clause GLOB] [--effort ci] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from due import due
from reach import Reach, Reacher

from conformance.candidate import Source
from conformance.properties import everything
from conformance.scenarios import EFFORTS
from conformance.worlds.worlds import Worlds

WHOLE = "\u00a0"
"""A space at which no line is broken."""


def counts(reach: Reach) -> dict[str, tuple[int, int]]:
    """Class -> small cases, drawn cases; with those that are due and were not reached."""
    seen, drawn = reach.exercise.classes, reach.exercise.drawn
    names = sorted({*seen, *due(reach.prop)})
    return {name: (seen.get(name, 0) - drawn.get(name, 0), drawn.get(name, 0)) for name in names}


def told(reach: Reach) -> str:
    """A heading, and the counts."""
    exercise = reach.exercise
    heading = f"{reach.name}: {exercise.exercised} of {exercise.run} cases"
    if reach.reason:
        return f"{heading}; {reach.reason}"
    shown = [f"{name}: {small}+{drawn}" for name, (small, drawn) in counts(reach).items()]
    whole = "; ".join(shown).replace(" ", WHOLE).replace(f";{WHOLE}", "; ")
    lines = textwrap.wrap(whole, 96, initial_indent="    ", subsequent_indent="    ")
    lines = [line.replace(WHOLE, " ") for line in lines]
    return "\n".join([heading, *lines, *(f"    MISSED {line}" for line in reach.missed())])


def data(reach: Reach) -> dict[str, Any]:
    """The same as data."""
    exercise = reach.exercise
    return {
        "clause": reach.prop.clause.id, "role": reach.prop.role, "run": exercise.run,
        "exercised": exercise.exercised, "reason": reach.reason, "missed": reach.missed(),
        "classes": {n: {"small": s, "drawn": d} for n, (s, d) in counts(reach).items()},
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impl", default="reference")
    parser.add_argument("--clause", default="*", metavar="GLOB")
    parser.add_argument("--effort", default="ci", choices=EFFORTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    worlds, found = Worlds("gloo"), []
    try:
        candidate = worlds.describe(Source(chosen.impl))
        reacher = Reacher(worlds, candidate, chosen.effort, chosen.seed)
        for prop in everything():
            if prop.role in candidate.roles and fnmatchcase(prop.clause.id, chosen.clause):
                found.append(reacher.reach(prop))
                print(told(found[-1]), flush=True)
    finally:
        worlds.close()
    if chosen.json:
        chosen.json.write_text(json.dumps([data(reach) for reach in found], indent=1))
    missed = sum(len(reach.missed()) for reach in found)
    print(f"{chosen.impl}: {len(found)} properties, {missed} classes missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
