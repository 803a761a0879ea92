"""The spec as a site, with the faults of the zoo that prove each clause.

    python tests/spec_site.py FOLDER [RESULT.json ...]

The pages are those of `conformance/report/site.py`; the zoo is no part of the installed package, so
what it proves is collected here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from detection.faults import key
from traceability import caught, faults

from conformance.report.site import Proof, main


def proofs() -> Iterator[Proof]:
    """A proof for each clause that a fault names, in the order of the zoo."""
    seen = caught()
    for fault in faults():
        for clause in fault.caught_by:
            yield Proof(clause, key(fault), fault.sentence, (key(fault), clause) in seen)


if __name__ == "__main__":
    sys.exit(main(proofs=proofs()))
