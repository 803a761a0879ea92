"""Laws of `spec/random.md`: shuffles, and throws of a fair die."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.comparison import row
from conformance.laws.distributed import same_as_oracle
from conformance.laws.draws import (
    ENOUGH,
    crashed,
    differing,
    doubled,
    ended,
    got,
    marked,
    seeded,
    strayed,
)
from conformance.laws.relations import shuffled
from conformance.laws.statistics import table
from conformance.laws.throws import independent_draws
from conformance.laws.views import Pass, option, rows, shown, size
from conformance.trace import Items, Trace


@law("random.permutation")
def permutation(trace: Trace) -> Violation | None:
    _shuffles(trace)
    crash = crashed(trace)
    if crash is not None:
        return crash
    for found in ended(trace):
        violation = _counted(trace, found) or _permuted(found)
        if violation is not None:
            return violation
    return None


def _counted(trace: Trace, found: Pass) -> Violation | None:
    """A pass has `num_samples` items, by default n."""
    count = option(trace, found, "num_samples", None)
    count = found.n if count is None else count
    if len(found.items) == count:
        return None
    saw = f"rank {found.rank}: {len(found.items)} items, not {count} (n = {found.n}): {got(found)}"
    return Violation("wrong-count", saw, events=rows(found))


def _permuted(found: Pass) -> Violation | None:
    for start, block in _blocks(found):
        bad = (block < 0) | (block >= found.n)
        kind = "out-of-range" if bad.any() else "doubled"
        if kind == "doubled" and np.bincount(block, minlength=1).max() > 1:
            bad = doubled(block)
        if bad.any():
            cells = np.zeros(len(found.values), dtype=bool)
            cells[start : start + len(block)] = bad
            saw = f"rank {found.rank}, n = {found.n}, from place {start} on: {got(found)}"
            anomaly = "doubled-index" if kind == "doubled" else kind
            return Violation(anomaly, saw, marked(found, cells, kind), rows(found))
    return None


def _blocks(found: Pass) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for start in range(0, len(found.values), max(1, found.n)):
        yield start, found.values[start : start + max(1, found.n)]


@law("random.uniform")
def uniform(trace: Trace) -> Violation | None:
    _shuffles(trace)
    made, n = table(trace), size(trace)
    return shuffled(made, n)


@law("random.replacement")
def replacement(trace: Trace) -> Violation | None:
    _throws(trace)
    crash = crashed(trace)
    if crash is not None:
        return crash
    for found in ended(trace):
        counted = _counted(trace, found)
        if counted is not None:
            return counted
        stray = strayed(found, f"rank {found.rank}, n = {found.n}: {got(found)}")
        if stray is not None:
            return stray
    return None


@law("random.replacement-uniform")
def replacement_uniform(trace: Trace) -> Violation | None:
    _throws(trace)
    return independent_draws(table(trace), size(trace))


@law("random.seeded")
def same_seed(trace: Trace) -> Violation | None:
    shuffles = not trace.case.argument("replacement", False)
    resumed = _resumed(trace) if shuffles else None
    return resumed or seeded(trace, lambda found: shuffles and _long(found))


def _resumed(trace: Trace) -> Violation | None:
    """A pass that begins as one that was left unfinished before it, or with what that one left."""
    for rank in trace:
        left: list[tuple[int, NDArray[np.int64]]] = []
        for number, event in enumerate(rank.events):
            did, items = event.operation, event.value
            if isinstance(did, op.Rebuild):
                left = []
            if not isinstance(did, (op.Take, op.Iterate)) or not isinstance(items, Items):
                continue
            for before, begun in left:
                saw = _goes_on(begun, items.values)
                if saw:
                    both = (*row(rank, before), *row(rank, number))
                    return Violation("stale-pass", saw, events=both)
            opened = isinstance(rank.events[number - 1].operation, op.Open)
            if isinstance(did, op.Take) and opened and len(items.values) >= ENOUGH:
                left.append((number, items.values))
    return None


def _goes_on(begun: NDArray[np.int64], values: NDArray[np.int64]) -> str:
    """How a pass depends on one that was left unfinished before it, "" if it does not."""
    if np.array_equal(values[: len(begun)], begun):
        return f"a pass begins as the one that was left before it: {shown(begun)}"
    rest = values[: max(0, len(values) - len(begun))]
    if len(rest) >= ENOUGH and not np.isin(rest, begun).any():
        return f"a pass begins with what the one before it had left: {shown(rest)}"
    return ""


@law("random.manual-seed")
def manual_seed(trace: Trace) -> Violation | None:
    require(trace.case.argument("generator") is None)
    made = [found for found in ended(trace) if found.reseed and found.reseed[1] in ("torch", "all")]
    judged = False
    for place, found in enumerate(made):
        for before in made[:place]:
            same = found.reseed[0] == before.reseed[0]
            if not (same or _long(found)):
                continue
            judged = True
            if before.same(found) != same:
                return _manual_violation(before, found)
    require(judged)
    return None


def _manual_violation(before: Pass, found: Pass) -> Violation:
    one, other = before.reseed[0], found.reseed[0]
    if one != other:
        saw = f"torch.manual_seed({one}) and ({other}) give the same pass: {got(found)}"
        return Violation("seed-ignored", saw, events=rows(before, found))
    saw = f"after torch.manual_seed({one}): once {got(before)}, again {got(found)}"
    return Violation("seed-not-fixed", saw, differing(found, before.values), rows(before, found))


@law("random.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


def _shuffles(trace: Trace) -> None:
    require(not trace.case.argument("replacement", False))


def _throws(trace: Trace) -> None:
    require(trace.case.argument("replacement", False))


def _long(found: Pass) -> bool:
    """Whether two equal passes are no accident: at least 16 places, and as many indices."""
    return found.n >= ENOUGH and len(found.values) >= ENOUGH
