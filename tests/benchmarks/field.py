"""The field: what the suite says of published packages, each in an environment of its own.

    python tests/benchmarks/field.py [--only REGEX] [--light] [-n 2] [--seed 0] [--environments DIR]
       [--compare [--latest] | --renew | --bare | --table | --page FILE | --check | --list]

Without an option every class of `tests/field/candidates.toml` is examined, its scripts are run, and
the results in `tests/field/results/` and the two pages are written anew. `--compare` writes nothing
and tells what has changed since: new, fixed, other, gone; `--latest` with the newest releases.
`--renew` carries out the kept cases again, in milliseconds each, and renews their scripts. `--bare`
asks which classes run with no code for them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from field import bare, confirmed, findings, table
from field.changes import changes
from field.environments import EnvironmentFailed, environment
from field.measure import Measured, MeasureFailed, kept_text, measure, renewed, without_code
from field.packages import RESULTS, Candidate, Package, candidates, ranked

from conformance.report.forms import text, write
from conformance.report.result import Result, merged, read

Told = TypeVar("Told")
ENVIRONMENTS = Path(tempfile.gettempdir()) / "conformance-field"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression for package and class")
    parser.add_argument("--light", action="store_true", help="packages that install in seconds")
    parser.add_argument("-n", type=int, default=2, help="how many are examined side by side")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    parser.add_argument("--missing", action="store_true", help="only those without a result")
    parser.add_argument("--compare", action="store_true", help="tell what is new, fixed, gone")
    parser.add_argument("--latest", action="store_true", help="the newest releases of packages")
    parser.add_argument("--renew", action="store_true", help="write the scripts of cases anew")
    parser.add_argument("--bare", action="store_true", help="which run without an adapter")
    parser.add_argument("--table", action="store_true", help="write the pages, examine nothing")
    parser.add_argument("--page", type=Path, help="write all results as one HTML page")
    parser.add_argument("--check", action="store_true", help="tell what the findings lack")
    parser.add_argument("--list", action="store_true", help="list the classes")
    return parser.parse_args()


def kept() -> list[Result]:
    """The kept results, in the order of the list."""
    return [read(found.result) for found in candidates() if found.result.exists()]


Work = Callable[[Candidate, Path], Told]
"""What is done with a candidate and the interpreter of its environment."""


def examined(
    chosen: list[Candidate], options: argparse.Namespace, work: Work[Told]
) -> Iterator[tuple[Candidate, Told | str]]:
    """Each candidate with what came of it, or why nothing did; several at a time."""
    pythons: dict[str, Path | str] = {}
    for found in chosen:
        if found.package.name not in pythons:
            pythons[found.package.name] = _python(found.package, options)

    def one(found: Candidate) -> Told | str:
        python = pythons[found.package.name]
        try:
            return work(found, python) if isinstance(python, Path) else python
        except MeasureFailed as error:
            return str(error)

    with ThreadPoolExecutor(options.n) as pool:
        yield from zip(chosen, pool.map(one, chosen), strict=True)


def _python(package: Package, options: argparse.Namespace) -> Path | str:
    folder = options.environments
    if options.latest:
        bare = tuple(requirement.partition("==")[0] for requirement in package.install)
        package, folder = replace(package, install=bare), folder / "latest"
    try:
        return environment(package, folder)
    except EnvironmentFailed as error:
        return f"not installed: {error}"


def keep(found: Candidate, measured: Measured) -> str:
    """Keep a result; returns what to say of it."""
    RESULTS.mkdir(exist_ok=True)
    found.result.write_text(kept_text(measured.document), encoding="utf-8")
    confirmed.note(found.text, measured.ended)
    shown = sum(code == 1 for code in measured.ended.values())
    return f"{len(measured.ended)} violated, {shown} shown by their scripts"


def compared(found: Candidate, measured: Measured) -> list[str]:
    """What has changed since the kept result."""
    before = read(found.result)
    versions = [d["candidates"][0]["version"] for d in (before, measured.document)]
    moved = f" ({versions[0]} -> {versions[1]})" if versions[0] != versions[1] else ""
    return [f"{found.text}{moved}: {change}" for change in changes(before, measured.document)]


def pages() -> None:
    """Write both pages from the kept results."""
    documents = kept()
    table.PAGE.write_text(table.page(documents), encoding="utf-8")
    found = findings.findings(documents, confirmed.read())
    findings.PAGE.write_text(findings.page(found), encoding="utf-8")


def run(chosen: list[Candidate], options: argparse.Namespace) -> int:
    """Examine, and keep or compare."""
    failed = 0
    began = time.monotonic()

    def work(found: Candidate, python: Path) -> Measured:
        renew = options.renew
        return renewed(found, python) if renew else measure(found, python, options.seed)

    for found, measured in examined(chosen, options, work):
        if isinstance(measured, str):
            told, failed = [f"{found.text}: gone: {measured}"], failed + 1
        elif options.compare:
            told = compared(found, measured)
            failed += bool(told)
        else:
            told = [f"{found.text}: {keep(found, measured)}"]
        print(*(told or [f"{found.text}: as it was"]), sep="\n")
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return failed


def tried(options: argparse.Namespace) -> None:
    """Try every class that gives a rank its share without an adapter."""

    def work(found: Candidate, python: Path) -> str:
        return without_code(found.text, python, found.package.mended)

    for found, why in examined(list(ranked(options.only, options.light)), options, work):
        bare.note({found.text: why})
        print(f"{found.text}: {why or 'runs'}", flush=True)


def told(points: Iterable[str]) -> int:
    """Print points; 1 if there are any."""
    found = list(points)
    print(*found, sep="\n")
    return int(bool(found))


def main() -> int:
    options = arguments()
    chosen = list(candidates(options.only, options.light))
    if options.missing:
        chosen = [found for found in chosen if not found.result.exists()]
    if options.list:
        print(*(f"{found.package.name:<22} {found.text}" for found in chosen), sep="\n")
        return 0
    if options.check:
        return told(findings.open_points(findings.findings(kept(), confirmed.read())))
    if options.page:
        write(options.page, text(merged(kept()), "html"))
        return 0
    if options.bare:
        tried(options)
    failed = 0 if options.table or options.bare else run(chosen, options)
    if not options.compare:
        pages()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
