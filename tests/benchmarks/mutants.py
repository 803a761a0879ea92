"""How many systematic wrong versions of torch's files and of the reference the suite catches.

It writes tests/mutants/results.json, and from it and survivors.toml the table MUTANTS.md.

python tests/benchmarks/mutants.py                             every target, wholly: hours
python tests/benchmarks/mutants.py --target torch/sampler.py   one; the others' results stay
python tests/benchmarks/mutants.py --target torch/dataloader.py --sample 40 --seed 0
python tests/benchmarks/mutants.py --mutant torch/sampler.py:171:no-high --show
python tests/benchmarks/mutants.py --upstream FILE             what PyTorch's own tests tell of
                                                               all, of --target or of --sample
python tests/benchmarks/mutants.py --table                     only write the table anew
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # before this folder: the package goes first

from mutants import results, survivors, table, upstream
from mutants.lookers import NOT_TOLD, Job, Outcome, looked
from mutants.operators import Mutant
from mutants.targets import TARGETS, Target


def chosen(target: Target, options: argparse.Namespace, known: dict[str, Any]) -> list[Mutant]:
    """The mutants to look at: those named, a seeded sample, those not looked at yet, or all."""
    made = list(target.mutants())
    if options.mutant:
        return [mutant for mutant in made if mutant.id in options.mutant]
    if options.sample:
        drawn = random.Random(options.seed).sample(range(len(made)), min(options.sample, len(made)))
        made = [made[place] for place in sorted(drawn)]
    if options.again:
        again = set(options.again)
        return [m for m in made if known.get(m.id, {}).get("outcome", "new") in again]
    return made


def searched(jobs: list[Job], found: dict[str, Any]) -> list[Job]:
    """The jobs that are left when those whose code tells a verdict were noted without a search."""
    told = survivors.thoughts()
    for job in jobs:
        if job.mutant.id in told:
            results.put(found, job, Outcome(NOT_TOLD, reason="the code tells"))
    return [job for job in jobs if job.mutant.id not in told]


def compared(options: argparse.Namespace) -> Iterator[tuple[Target, Mutant]]:
    """The mutants of torch's files that the suite has looked at and that count for the score."""
    found, thoughts = results.read(options.json), survivors.thoughts()
    for target in map(Target, (name for name in options.target if name in upstream.MODULES)):
        looked_at = found.get(target.name, {"mutants": {}})["mutants"]
        for mutant in chosen(target, options, looked_at):
            if mutant.id in looked_at and survivors.counts(thoughts.get(mutant.id)):
                yield target, mutant


def measure(options: argparse.Namespace) -> None:
    """Look at the mutants of each target and write what came of each as soon as it is known."""
    for target in map(Target, options.target):
        found = results.read(options.json)
        results.begun(found, target, options.seed)
        known = found[target.name]["mutants"]
        jobs = [Job(target, m, options.depth) for m in chosen(target, options, known)]
        if options.read:
            jobs = searched(jobs, found)
            results.write(found, options.json)
        for job, outcome in looked(jobs, options.n, options.seed, options.within):
            results.put(found, job, outcome)
            results.write(found, options.json)
            clause = outcome.found.clause if outcome.found else outcome.reason
            print(f"{job.mutant.id:45} {outcome.outcome:9} {outcome.seconds:6.1f} s  {clause}",
                  flush=True)  # fmt: skip


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=TARGETS, metavar="FILE")
    parser.add_argument("--mutant", action="append", metavar="ID", help="only these")
    parser.add_argument("--show", action="store_true", help="print the changed files, no more")
    parser.add_argument("--sample", type=int, help="so many mutants of each target, drawn")
    parser.add_argument("--again", nargs="+", help="only those of this outcome, or new")
    parser.add_argument("--read", action="store_true",
                        help="do not search those that survivors.toml names")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", default="all",
                        choices=("first", "quick", "later", "rest", "all"),
                        help="which stages of the search; the first one is cheap")  # fmt: skip
    parser.add_argument("--within", type=float, default=300.0, help="seconds for a mutant")
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--json", type=Path, default=results.RESULTS)
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--upstream", type=Path, metavar="FILE", help="PyTorch's own tests")
    options = parser.parse_args()
    named = sorted({name.partition(":")[0] for name in options.mutant or ()}, key=TARGETS.index)
    options.target = options.target or named or list(TARGETS)
    return options


def main() -> None:
    options = parsed()
    if options.show:
        for target in map(Target, options.target):
            for mutant in chosen(target, options, {}):
                print(f"# {mutant.id}: {mutant.said}\n{mutant.source()}")
        return
    if options.upstream:
        upstream.measure(options.upstream, options.n, compared(options))
    elif not options.table:
        measure(options)
    if options.json == results.RESULTS:
        table.write()


if __name__ == "__main__":
    main()
