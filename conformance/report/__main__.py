"""Join results and render them again: `python -m conformance.report RESULT.json... --html PAGE`.

Candidates of several results stand side by side; two results of one candidate are joined clause by
clause, and where both have a verdict the last one stands.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.options import FORMS
from conformance.report.forms import text, write
from conformance.report.links import AddressError, checked
from conformance.report.result import ResultError, merged, read


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, or 2 with one line that names the file that cannot be used."""
    parser = argparse.ArgumentParser("python -m conformance.report", description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, help="what --conformance-json wrote")
    for form, what in FORMS.items():
        parser.add_argument(f"--{form}", type=Path, metavar="PATH", help=what)
    parser.add_argument(
        "--spec-url", metavar="URL", help="where a site of the spec stands, for clauses to link to"
    )
    chosen = vars(parser.parse_args(arguments))
    if not any(chosen[form] for form in FORMS):
        parser.error("say what to write: " + ", ".join(f"--{form} PATH" for form in FORMS))
    try:
        document = merged(map(read, chosen["results"]))
        if chosen["spec_url"]:
            document["spec_url"] = checked(chosen["spec_url"])
        for form in FORMS:
            if chosen[form]:
                write(chosen[form], text(document, form))
    except (ResultError, AddressError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
