"""Right candidates that were once accused, and faults that show only after other cases."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from by_hand import UNMET, judged, traced
from runs import run

from conformance.adapter import Adapter
from conformance.candidate import Source, describe
from conformance.case import Case
from conformance.fitting import fitted
from conformance.operations import (
    Drain,
    Iterate,
    Len,
    Open,
    Operation,
    Rebuild,
    Resize,
    SetEpoch,
)  # fmt: skip
from conformance.recipes import Data, Values
from conformance.trace import Error

WEIGHTS = {"weights": Values((1.0, 2.0)), "num_samples": 3}
DIVIDED = "DistributedSampler", {"dataset": Data(4)}
ADVANCES = {"epochs": "advance"}

CACHED = """
import functools, torch

@functools.lru_cache(maxsize=None)
def order(n):
    return list(range(n))

class Cached:
    def __init__(self, dataset, num_replicas, rank):
        self.n, self.width, self.rank = len(dataset), num_replicas, rank

    def __len__(self):
        return -(-self.n // self.width)

    def __iter__(self):
        padded = order(self.n)
        while len(padded) % self.width:
            padded.append(0)
        return iter(padded[self.rank :: self.width])
"""


class OnlyWeights:
    """Takes no `replacement`."""

    def __init__(self, weights: Any, num_samples: int) -> None: ...


class Share:
    """A list, with no method for an epoch."""

    def __init__(self, dataset: Any) -> None:
        self.data, self.epoch = list(dataset), 0

    def __iter__(self) -> Iterator[int]:
        return iter(self.data)


@pytest.mark.parametrize(("replacement", "fits"), [(True, True), (False, False)])
def test_a_class_is_asked_only_for_what_its_defaults_mean(replacement: bool, fits: bool) -> None:
    """Who takes no `replacement` draws with it, as torch's does where nothing is said."""
    found = describe(Source(f"{__file__}:OnlyWeights"))
    case = Case("WeightedRandomSampler", {**WEIGHTS, "replacement": replacement}, [Iterate()])

    made = fitted(case, found, (1, 2))

    assert (made is not None) == fits
    assert made is None or dict(made.arguments) == WEIGHTS


@pytest.mark.parametrize(
    ("plan", "results", "anomaly"),
    [
        ([SetEpoch(2), Iterate(), Iterate()], [None, [0, 1], [1, 0]], UNMET),
        ([SetEpoch(2), Iterate(), Open("a"), Drain("a")], [None, [0, 1], None, [1, 0]], UNMET),
        ([SetEpoch(2), Iterate(), SetEpoch(2), Iterate()], [None, [0, 1], None, [1, 0]],
         "epoch-not-fixed"),
    ],
)  # fmt: skip
def test_an_epoch_that_advances_binds_the_next_pass_alone(
    plan: list[Operation], results: list[Any], anomaly: str
) -> None:
    """Under `epochs=advance` only the pass straight after `set_epoch` has that epoch."""
    trace = replace(traced(Case(*DIVIDED, plan), *results), policies=ADVANCES)

    assert judged("sampler.set-epoch", trace) == anomaly


def test_orders_of_different_epochs_are_not_compared() -> None:
    """World sizes are compared for one epoch, whatever plan a search has cut down."""
    one, half, other = ({"num_replicas": w, "rank": r} for w, r in ((1, 0), (2, 0), (2, 1)))
    built = [Rebuild(tuple(given.items())) for given in (one, half, other)]
    plan = [built[0], Iterate(), built[1], SetEpoch(1), Iterate(), built[2], Iterate()]

    trace = traced(Case(*DIVIDED, plan), None, [0, 1, 2, 3], None, None, [3, 1], None, [1, 3])

    assert judged("distributed.any-world-size", trace) == UNMET


def test_another_length_may_be_refused_in_len() -> None:
    """A sampler that refuses a resized dataset may do so as soon as it is asked for its length."""
    refused = Error(("RuntimeError", "Exception", "BaseException"), "the dataset has changed")
    plan = [Iterate(), Resize(6), Len(), Iterate()]

    trace = traced(Case(*DIVIDED, plan), [0, 1, 2, 3], None, refused, refused)

    assert judged("sampler.length", trace) == UNMET and judged("sampler.resize", trace) == ""


@pytest.mark.parametrize("hook", [None, lambda made, epoch: setattr(made, "epoch", epoch)])
def test_hooks_that_cannot_be_pickled_are_no_fault_of_the_sampler(hook: Any) -> None:
    """What an adapter presents is pickled if the sampler can be, lambdas in the adapter or not."""
    adapter = Adapter("DistributedSampler", Share, set_epoch=hook, indices=int)
    presented = adapter.presented(Share(range(3)))

    copied = pickle.loads(pickle.dumps(presented))

    assert list(copied) == [0, 1, 2] and copied.made is not presented.made


def test_a_fault_that_needs_other_cases_says_so(tmp_path: Path) -> None:
    """A cache shared by all samplers of a process: the case alone, which is printed, holds."""
    (tmp_path / "cached.py").write_text(CACHED)
    chosen = "--impl=cached.py:Cached", "--clause=sampler.length", "--effort=quick"

    done = run(tmp_path, *chosen)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    told = " ".join(done.stdout.split())
    assert "in a fresh process the case alone holds: what was built before it matters" in told
