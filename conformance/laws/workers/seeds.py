"""Laws of `spec/workers.md`: the random streams of workers.

A dataset that "gives dice" tells for each item which worker made it, and what this worker drew from
the global generators of torch, numpy and `random`. What a worker drew in a pass is its stream. Two
streams are taken for the same when they agree as far as both go, and at least in two draws of 30
bits each: by chance that happens once in 10^18 pairs.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Mapped, Stream
from conformance.laws import Violation, law, require
from conformance.laws.loading import Run, arguments, built, hung, rows, runs, workers
from conformance.laws.workers.orders import rebuilt
from conformance.recipes import Generator
from conformance.trace import RankTrace, Trace

SOURCES = ("torch", "numpy", "random")

AGREE_MIN = 2
"""So many equal draws make two streams the same."""

TIMING = (op.Reseed, lo.Schedule, lo.Trickle, lo.Settle)
"""What decides when something is made; and the seeds, which are compared apart."""

WARNS = ("random", "generator", "rng", "seed", "draw", "repeat")
"""Words of a warning that tells of generators that repeat."""


@dataclass(frozen=True)
class Drawn:
    """What one worker drew from one source in one pass."""

    rank: int
    passed: int
    worker: int
    source: str
    draws: tuple[int, ...]

    def __str__(self) -> str:
        return f"worker {self.worker} in pass {self.passed} of rank {self.rank}"


def gives(trace: Trace) -> str:
    """What the items of the case's dataset are."""
    data = arguments(trace.case).get("dataset")
    return data.gives if isinstance(data, (Mapped, Stream)) else ""


def drawn(rank: RankTrace, passed: list[Run], sources: tuple[str, ...] = SOURCES) -> list[Drawn]:
    """The streams of these passes, some of them broken off; requires that none failed."""
    require(passed and not any(run.errors for run in passed))
    found = []
    for number, run in enumerate(passed):
        made = [item for item in run.items if isinstance(item, list) and len(item) > 2]
        for worker in sorted({item[1] for item in made}):
            columns = zip(*(item[2:] for item in made if item[1] == worker), strict=True)
            for source, draws in zip(sources, columns, strict=False):
                found.append(Drawn(rank.rank, number, worker, source, tuple(draws)))
    return found


def constructions(rank: RankTrace) -> list[list[Run]]:
    """The passes after each construction that was followed by any."""
    made, found = rebuilt(rank), runs(rank)
    ends = [*made[1:], len(rank.events)]
    parts = [[r for r in found if a < r.begun < b] for a, b in zip(made, ends, strict=True)]
    return [part for part in parts if part]


def comparable(found: list[Drawn]) -> list[tuple[Drawn, Drawn]]:
    """The pairs of streams of one source that begin alike; requires that any are long enough to be
    compared."""
    alike: dict[tuple[Any, ...], list[Drawn]] = defaultdict(list)
    compared = [one for one in found if len(one.draws) >= AGREE_MIN]
    for one in compared:
        alike[one.source, one.draws[:AGREE_MIN]].append(one)
    require(any(count > 1 for count in Counter(one.source for one in compared).values()))
    return [pair for group in alike.values() for pair in itertools.combinations(group, 2)]


def agree(a: Drawn, b: Drawn) -> bool:
    """Whether two streams are the same as far as both go."""
    return all(x == y for x, y in zip(a.draws, b.draws, strict=False))


def repeated(pairs: Iterable[tuple[Drawn, Drawn]], anomaly: str) -> Violation | None:
    """A violation that tells of every source from which two of these streams are the same."""
    same = [(a, b) for a, b in pairs if agree(a, b)]
    if not same:
        return None
    a, b = same[0]
    about = ", ".join(dict.fromkeys(one.source for one, _ in same))
    return Violation(anomaly, f"{a} and {b} both drew {a.draws[:3]} from {a.source}", about=about)


@law("workers.seeds")
def seeds(trace: Trace) -> Violation | None:
    require(gives(trace) == "dice" and workers(trace.case))
    rank = built(trace)
    for passed in constructions(rank):
        found = drawn(rank, passed)
        again = next(filter(_begins_again, found), None)
        if again:
            saw = f"{again}, where one took the place of another, drew {again.draws}"
            return Violation("workers-alike", f"{saw} from {again.source}", about=again.source)
        pairs = comparable(found)
        within = [(a, b) for a, b in pairs if a.passed == b.passed]
        violation = repeated(within, "workers-alike") or repeated(pairs, "passes-alike")
        if violation:
            return violation
    return None


def _begins_again(one: Drawn) -> bool:
    """Whether what was drawn first comes once more: a successor was seeded as the dead one was."""
    first, later = one.draws[:AGREE_MIN], range(AGREE_MIN, len(one.draws) - AGREE_MIN + 1)
    return any(one.draws[place : place + AGREE_MIN] == first for place in later)


@law("workers.seeds-repeat")
def seeds_repeat(trace: Trace) -> Violation | None:
    require(gives(trace) == "dice" and workers(trace.case))
    if trace.case.world_size > 1:
        return _elsewhere(trace)
    rank = built(trace)
    made = constructions(rank)
    require(len(made) == 2 and _seeded_alike(trace.case, rank))
    found = _moved((rank, made[0]), (rank, made[1]))
    if not found:
        return None
    was, now = found[0]
    saw = f"{was} drew {was.draws[:3]} from {was.source}, and seeded alike {now.draws[:3]}"
    marked = rows(rank, *made[0], *made[1])
    return Violation("other-streams", saw, events=marked, about=_sources(found))


def _elsewhere(trace: Trace) -> Violation | None:
    """The same program in two processes that hash strings differently; neither has a rank."""
    require(trace.case.world == "alone" and trace.done)
    require(all(rank.events[0].error is None and hung(rank) is None for rank in trace))
    one, other = trace.ranks
    found = _moved((one, runs(one)), (other, runs(other)))
    if not found:
        return None
    was, now = found[0]
    saw = f"worker {was.worker} in pass {was.passed} drew {was.draws[:3]} from {was.source}, and"
    saw = f"{saw} in another process, seeded alike and of another PYTHONHASHSEED, {now.draws[:3]}"
    return Violation("other-streams", saw, about=_sources(found))


def _moved(
    before: tuple[RankTrace, list[Run]], after: tuple[RankTrace, list[Run]]
) -> list[tuple[Drawn, Drawn]]:
    """The streams of workers that are not the same again, though draws did not go by item."""
    was, now = ({_name(one): one for one in drawn(*passed)} for passed in (before, after))
    shared = [name for name in was if name in now and was[name].worker >= 0]
    require(shared)
    moved = {source for source in SOURCES if not _by_item(before[1], source, after[1])}
    return [
        (was[name], now[name]) for name in shared
        if name[2] in moved and not agree(was[name], now[name])
    ]  # fmt: skip


def _sources(found: list[tuple[Drawn, Drawn]]) -> str:
    return ", ".join(dict.fromkeys(one.source for one, _ in found))


def _by_item(one: list[Run], source: str, other: list[Run]) -> bool:
    """Whether each item has drawn the same again, in whichever worker: batches may be seeded."""
    place = 2 + SOURCES.index(source)
    return all(
        {item[0]: item[place] for item in a.items} == {item[0]: item[place] for item in b.items}
        for a, b in zip(one, other, strict=False)
    )


def _name(one: Drawn) -> tuple[int, int, str]:
    return one.passed, one.worker, one.source


def _seeded_alike(case: Case, rank: RankTrace) -> bool:
    """Whether the two loaders were seeded, built and used in the same way."""
    steps, made = [event.operation for event in rank.events], rebuilt(rank)
    if len(made) != 3 or not isinstance(steps[-1], op.Iterate):
        return False
    used = [_uses(steps[made[1] : made[2]]), _uses(steps[made[2] :])]
    seeds = [_torch_seed(steps[start:end]) for start, end in itertools.pairwise(made)]
    own = isinstance(arguments(case).get("generator"), Generator)
    return used[0] == used[1] and (own or seeds[0] == seeds[1] is not None)


def _uses(steps: list[Any]) -> list[str]:
    """What was done with a loader, all left out that decides when only, and nothing here."""
    used = [step.overrides if isinstance(step, op.Rebuild) else step for step in steps]
    return [repr(step) for step in used if not isinstance(step, TIMING)]


def _torch_seed(steps: list[Any]) -> int | None:
    """The seed that torch was given after the last pass."""
    seed = None
    for step in steps:
        if isinstance(step, op.Reseed) and step.which in ("torch", "all"):
            seed = step.seed
        seed = None if isinstance(step, (op.Iterate, op.Drain, op.Take)) else seed
    return seed


@law("workers.rank-seeds")
def rank_seeds(trace: Trace) -> Violation | None:
    require(gives(trace) == "dice" and workers(trace.case) and trace.done)
    require(trace.case.world == "group" and len(trace.ranks) > 1 and trace.case.alike)
    require(all(rank.events[0].error is None and hung(rank) is None for rank in trace))
    pairs = comparable([one for rank in trace for one in drawn(rank, runs(rank))])
    return repeated([(a, b) for a, b in pairs if a.rank != b.rank], "ranks-alike")


@law("workers.object-rng")
def object_rng(trace: Trace) -> Violation | None:
    kind = gives(trace)
    require(kind.startswith("own-") and workers(trace.case) > 1)
    rank = built(trace)
    found = [run for made in constructions(rank) for run in made]
    for run in found:
        if run.errors:
            saw = f"over a dataset that holds such a generator the pass raised {run.errors[0]}"
            return Violation("crash", saw, events=rows(rank, run), about=kind)
    pairs = comparable(drawn(rank, found, (kind.removeprefix("own-"),)))
    violation = repeated([(a, b) for a, b in pairs if a.passed == b.passed], "generators-alike")
    return None if violation and _warned(rank) else violation


def _warned(rank: RankTrace) -> bool:
    """Whether a warning, in the main process or printed by a worker, tells of generators."""
    texts = [text for event in rank.events for text in event.warnings]
    texts += [event.value for event in rank.events if _printed_warning(event.value)]
    return any(word in text.lower() for text in texts for word in WARNS)


def _printed_warning(value: Any) -> bool:
    return isinstance(value, str) and "warn" in value.lower()
