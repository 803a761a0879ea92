"""The table of what was caught, MUTANTS.md: from results.json and survivors.toml."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutants import results, survivors, upstream
from mutants.lookers import CAUGHT, SURVIVED
from mutants.survivors import EQUIVALENT, MISSED, OUT_OF_SCOPE, Thought
from mutants.targets import LEFT_OUT, LOADING, SAMPLERS, TARGETS

TABLE = Path(__file__).parent / "MUTANTS.md"

HEAD = """\
# Mutants

Every rule of `operators.py` applied at every place of a file makes the mutants of that file; the
suite looks at each as at any candidate. `python tests/benchmarks/mutants.py` measures them and
writes this table from `results.json` and `survivors.toml`.

A mutant is searched first with the clauses that tell most, in small cases without groups, then with
every clause at the default effort. Of samplers, what the core profile does not tell the torch
profile is asked, and counted apart. **Score** is the share of the mutants looked at that is caught,
those left out that are equivalent or change what the spec leaves out on purpose; **of all** leaves
out the equivalent ones alone. **Open** are mutants that only the first stage of the search has
looked at, and whose code does not tell the verdict by itself: they count as not caught. Seconds are
those to the first violation, on a busy machine.

Of torch's loader a seeded sample (`--sample N --seed 0`) was searched wholly, the others at the
quick effort (`--depth quick`). Where the code tells the verdict by itself, it was not searched
(`--read`). No mutants are made of texts, warnings, types, and of these functions:

{left_out}

For comparison, the last column: the share of the same mutants that PyTorch's own tests tell,
`test_dataloader.py` as pytorch/data carries it, with those of its tests that take a fifth of a
second, or speak of samplers and take less than ten (`--upstream FILE`; the whole file takes
minutes, and one test on padding needs GPUs), of all that count for the score or of a seeded sample
of them. Run whole, and that test ported to CPU, on other mutants made by similar rules they told
139 of 185 of `sampler.py` (75 %), 96 of 126 of `distributed.py` (76 %) and 45 of 64 of the loader
(70 %).
"""

COLUMNS = (
    "file", "made", "looked at", "caught", "by torch profile", "equivalent",
    "out of scope", "missed", "open", "score", "of all", "median s", "PyTorch's own tests",
)  # fmt: skip

Row = list[Any]


def write(path: Path = TABLE) -> None:
    """Write the table of all that was measured."""
    path.write_text(table(results.read(), survivors.thoughts()), encoding="utf-8")


def table(measured: dict[str, Any], thoughts: dict[str, Thought]) -> str:
    """The table as Markdown."""
    left_out = [
        f"- `{target}`, `{name}`: {why}."
        for target, functions in LEFT_OUT.items()
        for name, why in functions.items()
    ]
    lines = [HEAD.format(left_out="\n".join(left_out))]
    for title, names in _groups():
        known = [name for name in names if name in measured]
        if known:
            lines += [f"## {title}\n", *_rows(measured, known, thoughts), ""]
    lines += ["## Survivors\n", *_survivors(measured, thoughts)]
    return "\n".join([*lines, ""])


def _groups() -> Iterator[tuple[str, list[str]]]:
    for kind, names in (("Samplers", tuple(SAMPLERS)), ("Loaders", LOADING)):
        for package, whose in (("torch", "torch"), ("reference", "the reference")):
            own = [name for name in names if name.startswith(package)]
            yield f"{kind} of {whose}", own


def _rows(
    measured: dict[str, Any], names: list[str], thoughts: dict[str, Thought]
) -> Iterator[str]:
    yield "| " + " | ".join(COLUMNS) + " |"
    yield "|---|" + "---:|" * (len(COLUMNS) - 1)
    for name in names:
        yield _row(f"`{name}`", measured[name]["made"], measured[name]["mutants"], thoughts)
    together = {key: m for name in names for key, m in measured[name]["mutants"].items()}
    yield _row("together", sum(measured[name]["made"] for name in names), together, thoughts)


def _row(name: str, made: int, mutants: dict[str, Any], thoughts: dict[str, Thought]) -> str:
    caught = [m for m in mutants.values() if m["outcome"] == CAUGHT]
    verdicts = [_verdict(key, thoughts) for key, m in mutants.items() if m["outcome"] != CAUGHT]
    count = {verdict: verdicts.count(verdict) for verdict in (*survivors.VERDICTS, "")}
    real = len(mutants) - count[EQUIVALENT]
    cells: Row = [
        name, made, len(mutants), len(caught), sum(m["profile"] == "torch" for m in caught),
        count[EQUIVALENT], count[OUT_OF_SCOPE], count[MISSED], count[""],
        _share(caught, real - count[OUT_OF_SCOPE]), _share(caught, real),
        f"{statistics.median(m['seconds'] for m in caught):.1f}" if caught else "",
        _upstream(mutants, thoughts),
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def _upstream(mutants: dict[str, Any], thoughts: dict[str, Thought]) -> str:
    """The share that PyTorch's own tests tell, of those that count for the score."""
    known = upstream.read()
    counted = [name for name in mutants if survivors.counts(thoughts.get(name))]
    asked = [name for name in counted if name in known]
    share = _share([name for name in asked if known[name]], len(asked))
    return f"{share} of {len(asked)}" if asked else ""


def _verdict(name: str, thoughts: dict[str, Thought]) -> str:
    return thoughts[name].verdict if name in thoughts else ""


def _share(caught: list[Any], of: int) -> str:
    return f"{100 * len(caught) / of:.1f} %" if of else ""


def _survivors(measured: dict[str, Any], thoughts: dict[str, Thought]) -> Iterator[str]:
    """Every mutant that was not caught, and what was thought of it."""
    yield "| mutant | in | change | verdict | why |"
    yield "|---|---|---|---|---|"
    for target in TARGETS:
        for name, mutant in measured.get(target, {"mutants": {}})["mutants"].items():
            if mutant["outcome"] == CAUGHT:
                continue
            verdict, why = thoughts.get(name, Thought("open", mutant.get("reason", "")))
            read = name in thoughts and mutant["outcome"] != SURVIVED
            told = " (by reading)" if read else ""
            said = mutant["said"].replace("|", "\\|")
            yield f"| `{name}` | {mutant['function']} | {said} | {verdict}{told} | {why} |"
