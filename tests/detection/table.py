"""The page that shows the detection score: `DETECTION.md`, made from the data and nothing else."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from zoo import Fault

from detection.faults import key, scored, source_digest, suite_digest
from detection.rows import CAUGHT, LATE, NEEDS_ACCELERATOR, Row, Rows, Times

PAGE = Path(__file__).parent / "DETECTION.md"
Shown = list[tuple[Fault, str, list[Row]]]
"""A fault, an effort, and its rows at that effort."""

EFFORTS = ("quick", "ci", "nightly")

HEAD = """\
# Detection score

Made by `python tests/benchmarks/detection.py` from `detection.json`; not edited by hand.

A fault is *caught* with a seed if a run of the suite with that seed tells of a violation. A *whole
run* examines all clauses in order and ends at the first violation, as `pytest -x` does. Besides,
the clauses that a fault names are asked one by one: "yes" if one of them told with every seed. Only
some seeds are whole runs; the others ask the named clauses alone, up to the first that tells, and
the rest of the suite only where none did: what a clause finds by itself, a whole run finds too.

In a fault that is made from torch's own class, what torch itself does counts for nothing, as with
`--baseline=torch`, unless the fault is just that.

Times are of whole runs: median and worst over their seeds, from the start of the process to the
last word about the first violation, shrinking included.
{startup}
CPU seconds are those of all processes together. The machine had other work: its load average was
{load} in the median on {cores} cores, so wall seconds are far above those of an idle machine.
"Alone": CPU seconds of the first named clause that told, by itself, without start-up.

Faults that need an accelerator (`pinning_threads`, and most of `transfers`) were searched for on
another machine, with an H100, 16 cores, Python 3.12 and torch 2.11; one needs two of them to be
told from a right loader.
"""


def page(rows: Rows) -> str:
    """The whole page."""
    shown = list(groups(rows))
    added = _startup(rows)
    parts = [
        _head(rows), "## Caught", _caught(shown), "## Time to detection", _times(shown, added),
        "## Missed", _missed(shown), "## Every fault", _table(shown, added),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _head(rows: Rows) -> str:
    loads = [row.load for row in rows]
    wall, cpu = _startup(rows)
    startup = (
        f"Start-up, up to the first case that is judged, is in them: {wall:.1f} s of wall time, "
        f"{cpu:.1f} s\nof CPU time, the median of {len(rows.startups)} fresh processes."
        if rows.startups
        else "Start-up was not measured."
    )
    load = f"{statistics.median(loads):.1f}" if loads else "unknown"
    return HEAD.format(startup=startup, load=load, cores=os.cpu_count()).strip()


def _startup(rows: Rows) -> Times:
    """The wall and CPU seconds of start-up that are added to each time."""
    walls, cpus = zip(*rows.startups or [(0.0, 0.0)], strict=True)
    return statistics.median(walls), statistics.median(cpus)


def groups(rows: Rows) -> Iterator[tuple[Fault, str, list[Row]]]:
    """Each fault of the zoo with its rows at each effort that it was tried at."""
    held = rows.grouped()
    for fault in scored():
        for effort in EFFORTS:
            if found := held.get((key(fault), effort)):
                yield fault, effort, found


def _parts(shown: Shown) -> Iterator[tuple[str, str, list[list[Row]]]]:
    """Subject, effort, and the rows of each fault that could be scored."""
    for samples, subject in ((True, "samplers"), (False, "loaders")):
        for effort in EFFORTS:
            found = [
                rows for fault, name, rows in shown
                if name == effort and fault.samples == samples
                and rows[0].outcome != NEEDS_ACCELERATOR
            ]  # fmt: skip
            if found:
                yield subject, effort, found


def _caught(shown: Shown) -> str:
    lines = [
        "| clauses on | effort | faults | seeds each | searches | caught | faults always caught "
        "| least probability | always by a named clause |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for subject, effort, found in _parts(shown):
        every, shares = [*chain(*found)], [_share(rows) for rows in found]
        caught = sum(row.outcome == CAUGHT for row in every)
        named = sum(all(row.told for row in rows) for rows in found)
        cells = (
            subject, effort, len(found), _range([len(rows) for rows in found]),
            len(every), f"{100 * caught / len(every):.2f} %", sum(share == 1 for share in shares),
            f"{min(shares):.2f}", named,
        )  # fmt: skip
        lines.append(_row(cells))
    scored = {rows[0].fault for _, _, rows in shown if rows[0].outcome != NEEDS_ACCELERATOR}
    needing = sorted({rows[0].fault for _, _, rows in shown} - scored)
    told = f"Not scored, for want of accelerators: {', '.join(needing)}."
    return "\n".join(lines) + (f"\n\n{told}" if needing else "")


def _times(shown: Shown, added: Times) -> str:
    lines = [
        "| clauses on | effort | whole runs | out of time | cases, median | CPU s: median, worst "
        "| wall s: median, worst | above 15 CPU s |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for subject, effort, found in _parts(shown):
        whole = [row for row in chain(*found) if row.whole]
        told = [row for row in whole if row.clause != LATE]
        if told:
            slow = sum(row.cpu_s + added[1] > 15 for row in told)
            counts = statistics.median(row.cases for row in told)
            cells = subject, effort, len(whole), len(whole) - len(told), f"{counts:.0f}"
            lines.append(_row((*cells, *_spent(told, added), slow)))
    return "\n".join(lines)


def _range(counts: list[int]) -> str:
    """All counts alike, or the least and the most."""
    least, most = min(counts), max(counts)
    return str(most) if least == most else f"{least} to {most}"


def _share(tried: list[Row]) -> float:
    return sum(row.outcome == CAUGHT for row in tried) / len(tried)


def _spent(rows: list[Row], added: Times) -> tuple[str, str]:
    """CPU and wall seconds with start-up, median and worst."""
    return (
        _middle_and_worst([row.cpu_s + added[1] for row in rows]),
        _middle_and_worst([row.seconds + added[0] for row in rows]),
    )


def _middle_and_worst(times: list[float]) -> str:
    return f"{statistics.median(times):.1f}, {max(times):.1f}" if times else "-"


def _missed(shown: Shown) -> str:
    """Every fault that was missed with some seed, or that no named clause told of."""
    lines = []
    for fault, effort, rows in shown:
        missed = [row for row in rows if row.outcome not in (CAUGHT, NEEDS_ACCELERATOR)]
        silent = [row for row in rows if row.outcome == CAUGHT and not row.told]
        if missed:
            how = sorted({f"{row.outcome} {row.anomaly}".strip() for row in missed})
            lines.append(f"- {key(fault)}, {effort}: {', '.join(how)}; seeds {_seeds(missed)}")
        if silent:
            by = ", ".join(sorted({row.clause for row in silent}))
            lines.append(
                f"- {key(fault)}, {effort}: caught by no clause it names but by {by}; "
                f"seeds {_seeds(silent)}"
            )
    return "\n".join(lines) or "None."


def _seeds(rows: list[Row]) -> str:
    return ", ".join(str(row.seed) for row in rows)


def _table(shown: Shown, added: Times) -> str:
    lines = [
        "| fault | what is wrong | effort | caught | told first by | a named clause "
        "| cases: median, worst | CPU s: median, worst | wall s: median, worst | alone, CPU s |",
        "|---|---|---|---|---|---|---|---|---|---:|",
    ]
    last = ""
    for fault, effort, rows in shown:
        name, sentence = (key(fault), fault.sentence) if key(fault) != last else ("", "")
        last = key(fault)
        lines.append(_row((name, sentence.replace("|", "\\|"), effort, *_cells(rows, added))))
    return "\n".join(lines)


def _cells(rows: list[Row], added: Times) -> tuple[str, ...]:
    if rows[0].outcome == NEEDS_ACCELERATOR:
        return NEEDS_ACCELERATOR, "-", "-", "-", "-", "-", "-"
    told = [row for row in rows if row.whole and row.clause != LATE]
    first = sorted({row.clause for row in rows if row.whole})
    named = sum(bool(row.told) for row in rows)
    counts = [row.cases for row in told]
    alone = [row.named_s for row in rows if row.told]
    return (
        f"{sum(row.outcome == CAUGHT for row in rows)} of {len(rows)}",
        ", ".join(first) or "-",
        "yes" if named == len(rows) else f"{named} of {len(rows)}",
        f"{statistics.median(counts):.0f}, {max(counts)}" if counts else "-",
        *_spent(told, added),
        f"{statistics.median(alone):.2f}" if alone else "-",
    )


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def stale(rows: Rows) -> list[str]:
    """What the data lacks or holds in vain, a line each."""
    faults = {key(fault): fault for fault in scored()}
    digests = {name: source_digest(fault) for name, fault in faults.items()}
    held = {row.fault for row in rows}
    now = suite_digest()
    older = sum(row.suite != now for row in rows)
    lines = [f"{name}: no such fault, but rows" for name in sorted(held - set(faults))]
    lines += [f"{name}: no row" for name in faults if name not in held]
    changed = {row.fault for row in rows if row.source != digests.get(row.fault, row.source)}
    lines += [f"{name}: has changed since its rows were made" for name in sorted(changed)]
    return [*lines, f"{older} of {len(list(rows))} rows: made by another version of the suite"]
