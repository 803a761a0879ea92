"""Laws of `spec/weighted.md`: draws in proportion to weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, law, require
from conformance.laws.distributed import same_as_oracle
from conformance.laws.draws import ENOUGH, crashed, doubled, ended, got, marked, seeded, strayed
from conformance.laws.proportions import by_weight
from conformance.laws.relations import not_repeated
from conformance.laws.sampler import reject as refuses
from conformance.laws.sampler.arguments import REFUSALS
from conformance.laws.statistics import table
from conformance.laws.throws import not_gathered
from conformance.laws.views import rows, shown, size
from conformance.recipes import Sparse, Values
from conformance.trace import Trace

TOO_MANY = "num_samples > non-zero weights"


@law("weighted.count")
def count(trace: Trace) -> Violation | None:
    wanted = trace.case.argument("num_samples")
    crash = crashed(trace)
    if crash is not None:
        return crash
    for found in ended(trace):
        if len(found.items) != wanted:
            saw = f"rank {found.rank}: {len(found.items)} items, not {wanted}: {got(found)}"
            return Violation("wrong-count", saw, events=rows(found))
        stray = strayed(found, f"rank {found.rank}: {got(found)} of {found.n} weights")
        if stray is not None:
            return stray
    return None


@law("weighted.zero")
def zero(trace: Trace) -> Violation | None:
    weights = _weights(trace)
    excluded = np.flatnonzero(weights == 0)
    require(len(excluded))
    too_many = trace.case.argument("num_samples") > len(weights) - len(excluded)
    about = TOO_MANY if too_many and _distinct(trace) else ""
    require(not _refused(trace))
    for found in ended(trace):
        bad = np.isin(found.values, excluded)
        if bad.any():
            saw = f"rank {found.rank} yields {shown(found.values[bad])}, of weight 0"
            return Violation("zero-drawn", saw, marked(found, bad, "wrong"), rows(found), about)
    return None


@law("weighted.distinct")
def distinct(trace: Trace) -> Violation | None:
    require(_distinct(trace))
    for found in ended(trace):
        twice = doubled(found.values)
        if twice.any():
            saw = f"rank {found.rank}, without replacement: {got(found)}"
            return Violation("doubled-index", saw, marked(found, twice, "doubled"), rows(found))
    return None


@law("weighted.frequencies")
def frequencies(trace: Trace) -> Violation | None:
    require(not _distinct(trace))
    made = table(trace)
    places = [made[:, 0], made[:, -1]] if len(made) >= ENOUGH**2 else []
    for draws in (made.reshape(-1), *places):
        found = by_weight(draws, _weights(trace))
        if found is not None:
            return found
    return not_repeated(made, _weights(trace)) or not_gathered(made, _weights(trace))


@law("weighted.first-draw")
def first_draw(trace: Trace) -> Violation | None:
    require(_distinct(trace))
    return by_weight(table(trace)[:, 0], _weights(trace))


@law("weighted.reject")
def reject(trace: Trace) -> Violation | None:
    """The last argument of the case is the invalid one."""
    found = refuses(trace)
    return found and replace(found, about=_fault(trace))


def _fault(trace: Trace) -> str:
    """What is wrong with the arguments of a case of invalid ones."""
    weights = trace.case.argument("weights")
    items = np.array(weights.items if isinstance(weights, Values) else weights, dtype=np.float64)
    faults = {
        "weights not 1-D": items.ndim != 1, "weights empty": not items.size,
        "weights NaN": np.isnan(items).any(), "weights infinite": np.isinf(items).any(),
        "weights negative": (items < 0).any(), "weights all zero": not items.any(),
    }  # fmt: skip
    return next((fault for fault, there in faults.items() if there), TOO_MANY)


@law("weighted.large")
def large(trace: Trace) -> Violation | None:
    weights = _sparse(trace)
    for event in trace.ranks[0].events:
        if event.error is not None:
            did = event.operation or "the construction"
            return Violation("limited", f"{weights.n:,} weights: {did} raised {event.error}")
    beyond = [one for one in weights.ones if one >= _LIMIT]
    for found in ended(trace):
        foreign = ~np.isin(found.values, weights.ones)
        if foreign.any():
            saw = f"{shown(found.values[foreign])} have weight 0; only {weights.ones} have another"
            return Violation("wrong-index", saw, marked(found, foreign, "wrong"), rows(found))
        if len(found.values) >= 4 * ENOUGH and not np.isin(found.values, beyond).any():
            saw = f"none of {beyond}, which are {len(beyond)} of {len(weights.ones)}: {got(found)}"
            return Violation("never-beyond", saw, events=rows(found))
    return None


@law("weighted.large-honest")
def large_honest(trace: Trace) -> Violation | None:
    weights = _sparse(trace)
    for event in trace.ranks[0].events[1:]:
        if event.error is not None:
            did = f"{event.operation} raised {event.error}"
            saw = f"{weights.n:,} weights were accepted, then {did}"
            return Violation("fails-late", saw)
    return None


UNKNOWN_TO_NUMPY = ("bfloat16",)
"""Tensors of types that numpy has not may be refused, as whoever draws with numpy does."""


@law("weighted.scale")
def scale(trace: Trace) -> Violation | None:
    weights = trace.case.argument("weights")
    require(isinstance(weights, Values))
    about = f"weights like {weights.items[0]!r}, as {weights.kind}"
    for event in trace.ranks[0].events:
        if event.error is not None:
            require(weights.kind not in UNKNOWN_TO_NUMPY or not event.error.is_a(*REFUSALS))
            did = event.operation or "the construction"
            return Violation("weights-refused", f"{about}: {did} raised {event.error}", about=about)
    made = table(trace)
    draws = made[:, 0] if _distinct(trace) else made.reshape(-1)
    found = by_weight(draws, _weights(trace))
    return found and replace(found, saw=f"{about}: {found.saw}", about=about)


@law("weighted.seeded")
def same_seed(trace: Trace) -> Violation | None:
    weights = _weights(trace)
    heavy = weights[weights * 4 > weights.max()]
    telling = len(heavy) >= ENOUGH and len(heavy) * 2 > len(weights)
    return seeded(trace, lambda found: telling and len(found.values) >= ENOUGH)


@law("weighted.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


_LIMIT = 1 << 24
"""As many categories as torch.multinomial takes."""


def _weights(trace: Trace) -> NDArray[np.float64]:
    """The weights of the case, rounded as their dtype does."""
    weights = trace.case.argument("weights")
    if isinstance(weights, Sparse):
        made = np.full(weights.n, weights.rest)
        made[list(weights.ones)] = 1.0
        return made
    require(isinstance(weights, Values))
    rounded = next((kind for kind in _ROUNDS if weights.kind.endswith(kind)), "float64")
    return np.array(weights.items, dtype=rounded).astype(np.float64)


_ROUNDS = ("float16", "float32")
"""The kinds of weights that round: arrays or tensors of these."""


def _sparse(trace: Trace) -> Sparse:
    weights = trace.case.argument("weights")
    require(isinstance(weights, Sparse) and trace.done and size(trace) > _LIMIT)
    assert isinstance(weights, Sparse)
    return weights


def _distinct(trace: Trace) -> bool:
    return trace.case.argument("replacement", True) is False


def _refused(trace: Trace) -> bool:
    return trace.ranks[0].events[0].error is not None
