"""`python -m conformance.report.reproduction --baseline torch`: is every entry confirmed?"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from conformance.baseline import read_baseline
from conformance.candidate import CandidateError, Source
from conformance.report.reproduction.confirm import Confirmation, confirm


def main() -> int:
    """Write and run the scripts of a baseline's entries; 1 unless all are confirmed."""
    parser = argparse.ArgumentParser(prog="python -m conformance.report.reproduction")
    parser.add_argument("--baseline", action="append", required=True, help="a TOML file, or torch")
    parser.add_argument("--impl", default="torch.utils.data", help="the candidate it speaks of")
    parser.add_argument("--conformance-profile", default="core", choices=("core", "torch"))
    parser.add_argument("--repro-dir", default=None, help="where to leave the scripts")
    parser.add_argument("--clause", default="", help="only clauses that begin like this")
    given = parser.parse_args()
    source = Source(given.impl, profile=given.conformance_profile)
    folder = Path(given.repro_dir or tempfile.mkdtemp(prefix="reproductions-"))
    try:
        entries = [entry for name in given.baseline for entry in read_baseline(name)]
        chosen = [entry for entry in entries if entry.clause.startswith(given.clause)]
        bad = [one for one in map(_shown, confirm(source, chosen, folder)) if not one.confirmed]
    except CandidateError as error:
        sys.exit(str(error))
    print(f"{len(chosen) - len(bad)} of {len(chosen)} confirmed; the scripts are in {folder}")
    return 1 if bad else 0


def _shown(one: Confirmation) -> Confirmation:
    print(row(one), flush=True)
    return one


def row(one: Confirmation) -> str:
    """One line of the table, and what an entry that is not confirmed printed."""
    entry = one.deviation
    word = "confirmed" if one.confirmed else "NOT CONFIRMED"
    name = f"{entry.clause} {entry.role} {entry.anomaly} {entry.about}"
    line = f"{word:<14}{name:<90} {one.path.name if one.path else ''}"
    return line if one.confirmed else f"{line}\n    exit {one.code}: {one.output[-1500:]}"


if __name__ == "__main__":
    sys.exit(main())
