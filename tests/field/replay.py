"""Whether the violations of kept results still occur: their cases are carried out again.

    python tests/field/replay.py [--renew] RESULT.json ...

in the environment of the package. It takes milliseconds a violation; a whole run says besides what
is new (`tests/benchmarks/field.py --compare`). With `--renew` the results get the scripts that the
suite writes today.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.candidate import CandidateError, Source
from conformance.case import parse
from conformance.examine import Options
from conformance.properties import everything
from conformance.report.result import Result, read
from conformance.run import Run
from conformance.scenarios import EFFORTS
from conformance.verdict import VIOLATED, Verdict
from field.measure import kept_text, subject, violations

SIZES = (1, 2, 3, 4)


def again(document: Result) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Each violation of a result, with the verdict on its case here and now.

    Raises CandidateError if the candidate cannot be examined here.
    """
    name = document["candidates"][0]["name"]
    known = {f"{prop.clause.id} {prop.role}": prop for prop in everything()}
    with Run(Options(EFFORTS["quick"], SIZES)) as run:
        run.add(Source(name))
        for verdict in violations(document):
            case = parse(verdict["evidence"]["case"])
            yield verdict, run.replay(name, known[subject(verdict)], case)


def gone(document: Result, renew: bool = False) -> Iterator[str]:
    """What of a result does not reproduce here, a line each. renew: the others get a new script."""
    name = document["candidates"][0]["name"]
    try:
        for verdict, told in again(document):
            wanted, got = verdict["evidence"]["anomaly"], told.anomaly or told.outcome
            if told.outcome != VIOLATED or wanted != got:
                yield f"{name}: {subject(verdict)}: {wanted} is {got} now"
            elif renew and told.evidence:
                verdict["evidence"]["script"] = told.evidence["script"]
    except CandidateError as error:
        yield f"{name}: {error}"


def main(paths: list[str], renew: bool) -> int:
    """Print what is gone; 1 if there is any."""
    lines = []
    for path in map(Path, paths):
        document = read(path)
        lines += gone(document, renew)
        if renew:
            path.write_text(kept_text(document), encoding="utf-8")
    print(*(lines or ["everything reproduces"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if argument != "--renew"]
    sys.exit(main(chosen, renew=len(chosen) < len(sys.argv) - 1))
