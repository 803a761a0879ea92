"""Whether the violations of kept results still occur: their cases are carried out again.

    python tests/field/replay.py RESULT.json ...

in the environment of the package. It takes milliseconds a violation; a whole run says besides what
is new (`tests/benchmarks/field.py --compare`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.candidate import CandidateError, Source
from conformance.case import parse
from conformance.examine import Options
from conformance.properties import everything
from conformance.report.result import Result, read
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.verdict import VIOLATED
from field.measure import subject, violations

SIZES = (1, 2, 3, 4)


def gone(document: Result) -> Iterator[str]:
    """What of a result does not reproduce here, a line each."""
    (candidate,) = document["candidates"]
    name = candidate["name"]
    known = {f"{prop.clause.id} {prop.role}": prop for prop in everything()}
    with Run(Options(EFFORTS["quick"], SIZES)) as run:
        try:
            run.add(Source(name))
        except CandidateError as error:
            yield f"{name}: {error}"
            return
        for verdict in violations(document):
            told = run.replay(name, known[subject(verdict)], parse(verdict["evidence"]["case"]))
            wanted, got = verdict["evidence"]["anomaly"], told.anomaly or told.outcome
            if told.outcome != VIOLATED or wanted != got:
                yield f"{name}: {subject(verdict)}: {wanted} is {got} now"


if __name__ == "__main__":
    lines = [line for path in sys.argv[1:] for line in gone(read(Path(path)))]
    print(*(lines or ["everything reproduces"]), sep="\n")
    sys.exit(bool(lines))
