"""Laws of `spec/subset.md`: the given indices, shuffled, and changed in nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, law, require
from conformance.laws.distributed import same_as_oracle
from conformance.laws.draws import ENOUGH, crashed, ended, got, marked, seeded
from conformance.laws.relations import shuffled
from conformance.laws.statistics import table
from conformance.laws.views import rows, shown
from conformance.recipes import Values
from conformance.trace import Trace


@law("subset.multiset")
def multiset(trace: Trace) -> Violation | None:
    given = np.sort(_given(trace))
    crash = crashed(trace)
    if crash is not None:
        return crash
    for found in ended(trace):
        if not np.array_equal(np.sort(found.values), given):
            saw = f"rank {found.rank}: of {shown(given)} come {got(found)}"
            anomaly = "lost-index" if np.isin(found.values, given).all() else "foreign-index"
            foreign = marked(found, ~np.isin(found.values, given), "wrong")
            return Violation(anomaly, saw, foreign, rows(found))
    return None


@law("subset.kinds")
def kinds(trace: Trace) -> Violation | None:
    indices = trace.case.argument("indices")
    require(isinstance(indices, Values) and len(indices.items))
    about = f"indices as {'tensor' if indices.kind in _TENSORS else indices.kind}"
    refused = trace.ranks[0].events[0].error
    if refused is not None:
        return Violation("kind-refused", f"{about}: raised {refused}", about=about)
    for found in ended(trace):
        foreign = [kind for kind in found.items.kinds if not _whole(kind)]
        if foreign or found.items.unreadable:
            what = ", ".join(found.items.unreadable) or ", ".join(foreign)
            saw = f"{about}: rank {found.rank} yields {what}"
            return Violation("not-a-whole-number", saw, events=rows(found), about=about)
        if not np.array_equal(np.sort(found.values), np.sort(_given(trace))):
            saw = f"{about}: of {shown(_given(trace))} come {got(found)}"
            return Violation("other-indices", saw, events=rows(found), about=about)
    return None


_TENSORS = ("tensor", "list.tensor", "tuple.tensor", "int32", "int64", "uint8", "column")


def _whole(kind: str) -> bool:
    return kind == "int" or kind.startswith(("numpy.int", "numpy.uint"))


@law("subset.uniform")
def uniform(trace: Trace) -> Violation | None:
    given = np.sort(_given(trace))
    made = table(trace)
    require(made.shape[1] == len(given) and (np.sort(made, axis=1) == given).all())
    return shuffled(_told_apart(made, given), len(given))


def _told_apart(made: NDArray[np.int64], given: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each index by its place among the sorted given ones; of equal ones, any may be any.

    Who shuffles them all alike shuffles them still when equal ones are dealt out by lot.
    """
    if (np.diff(given) > 0).all():
        return np.searchsorted(given, made)
    lot = np.random.default_rng(len(made)).random(made.shape)
    order = np.lexsort((lot, made))
    place = np.empty_like(made)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(len(given)), made.shape), axis=1)
    return place


@law("subset.seeded")
def same_seed(trace: Trace) -> Violation | None:
    telling = len(np.unique(_given(trace))) >= ENOUGH
    return seeded(trace, lambda found: telling and len(found.values) >= ENOUGH)


@law("subset.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


def _given(trace: Trace) -> NDArray[np.int64]:
    indices = trace.case.argument("indices")
    require(isinstance(indices, Values))
    return np.array(indices.items, dtype=np.int64)
