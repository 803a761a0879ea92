"""Valid constructor arguments for each role as Hypothesis draws them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.recipes import SOURCES, Data, Generator, Probe, Role, Values
from conformance.scenarios import Setting
from conformance.scenarios.lengths import lengths, seeds
from conformance.scenarios.subjects import Arguments, optional, squares

MOST = 3000
"""The protocol is the same at any length; the chapters of single roles go to 2^20."""


def drawn(setting: Setting) -> st.SearchStrategy[Arguments]:
    """Arguments as Hypothesis draws them."""
    return DRAW[setting.role]().map(lambda found: optional(setting, found))


def _fixed(required: dict[str, Any], **maybe: Any) -> st.SearchStrategy[Arguments]:
    return st.fixed_dictionaries(required, optional=maybe)


@functools.cache
def generators() -> st.SearchStrategy[Generator]:
    """Caller's generators, all ranks' alike."""
    return st.builds(Generator, seeds())


@functools.cache
def data(least: int) -> st.SearchStrategy[Data]:
    """Datasets of any length and kind."""
    return st.builds(Data, lengths(least, MOST), st.sampled_from(["", "", *SOURCES]))


@functools.cache
def labels() -> st.SearchStrategy[Values]:
    """Labels 0..K-1 or names, which a set orders anew in each process; each class has a member."""
    few = st.lists(st.integers(0, 4), min_size=1, max_size=60)
    many = st.builds(squares, st.integers(12, 300), st.sampled_from([2, 5, 7, 11, 13, 1]))
    kinds = st.sampled_from(["list", "tensor", "ndarray", "names"])
    return st.builds(_dense, st.one_of(few, many), kinds)


def _dense(found: list[int], kind: str) -> Values:
    known = {label: number for number, label in enumerate(sorted(set(found)))}
    if kind == "names":
        return Values(tuple(f"class {known[label]}" for label in found))
    return Values(tuple(known[label] for label in found), kind)


@functools.cache
def indices() -> st.SearchStrategy[Any]:
    """Indices: few in any order, doubled or not, or many."""
    few = st.lists(st.integers(0, 10**6), max_size=50).map(tuple)
    return st.one_of(few, lengths(0, MOST).map(range))


@st.composite
def _drawn_weighted_balance(draw: st.DrawFn) -> Arguments:
    given = draw(labels())
    classes = len(set(given.items))
    weight = draw(st.lists(st.integers(1, 9), min_size=classes, max_size=classes))
    made: Arguments = {"labels": given, "weight": Values(tuple(map(float, weight)))}
    made["length"] = draw(st.integers(1, 200))
    return made | draw(_fixed({}, seed=seeds()))


@st.composite
def _drawn_weighted(draw: st.DrawFn) -> Arguments:
    few = st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(any)
    found = draw(st.one_of(few, lengths(2, MOST).map(range)))
    weights = found if isinstance(found, range) else tuple(map(float, found))
    positive = sum(weight > 0 for weight in weights)
    replacement = draw(st.booleans())
    count = draw(st.integers(1, 500 if replacement else positive))
    made = {"weights": Values(weights), "num_samples": count}
    return made | {"replacement": replacement} | draw(_fixed({}, generator=generators()))


@functools.cache
def inners() -> st.SearchStrategy[Any]:
    """Inner samplers whose order every rank knows."""
    sizes = lengths(0, MOST)
    return st.one_of(
        st.builds(lambda n: Probe("Descending", n), sizes),
        st.builds(lambda n: Role("SequentialSampler", data_source=Data(n)), sizes),
        st.builds(
            lambda n, s: Role("RandomSampler", data_source=Data(n), generator=Generator(s)),
            lengths(1, MOST), st.integers(0, 99),
        ),
    )  # fmt: skip


DRAW: dict[str, Callable[[], st.SearchStrategy[Arguments]]] = {
    "SequentialSampler": lambda: _fixed({"data_source": data(0)}),
    "RandomSampler": lambda: _fixed(
        {"data_source": data(1)}, replacement=st.booleans(),
        num_samples=st.integers(1, 300), generator=generators(),
    ),
    "SubsetRandomSampler": lambda: _fixed(
        {"indices": st.builds(Values, indices())},
        generator=generators(),
    ),
    "WeightedRandomSampler": _drawn_weighted,
    "BatchSampler": lambda: _fixed(
        {"sampler": inners(), "batch_size": st.integers(1, 70), "drop_last": st.booleans()}
    ),
    "DistributedSampler": lambda: _fixed(
        {"dataset": data(0)}, shuffle=st.booleans(), seed=seeds(),
        drop_last=st.booleans(),
    ),
    "BalanceClassSampler": lambda: _fixed(
        {"labels": labels(), "mode": st.sampled_from(["downsampling", "upsampling", 1, 3, 50])},
        seed=seeds(),
    ),
    "WeightedBalanceClassSampler": _drawn_weighted_balance,
    "DistributedSamplerWrapper": lambda: _fixed(
        {"sampler": inners()}, shuffle=st.booleans(), seed=seeds(), drop_last=st.booleans()
    ),
    "DatasetFromSampler": lambda: _fixed({"sampler": inners()}),
}  # fmt: skip
