"""The spec as a site, with the faults of the zoo that prove each clause.

    python tests/spec_site.py FOLDER [RESULT.json ...]

The pages are those of `conformance/report/site.py`; the zoo is no part of the installed package, so
what it proves is collected here. Without results of one's own the published packages are shown that
break a clause (`tests/field/`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from detection.faults import key
from field.packages import candidates
from traceability import caught, faults

from conformance.report.site import Proof, main


def proofs() -> Iterator[Proof]:
    """A proof for each clause that a fault names, in the order of the zoo."""
    seen = caught()
    for fault in faults():
        for clause in fault.caught_by:
            yield Proof(clause, key(fault), fault.sentence, (key(fault), clause) in seen)


def asked(arguments: list[str]) -> list[str]:
    """The arguments, with the kept results of published packages where none are given."""
    kept = [str(found.result) for found in candidates() if found.result.exists()]
    return [*arguments, *kept] if len(arguments) == 1 else arguments


if __name__ == "__main__":
    sys.exit(main(asked(sys.argv[1:]), proofs()))
