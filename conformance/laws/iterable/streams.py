"""Views of a trace over an iterable dataset that laws share: its elements, by worker."""

from __future__ import annotations

from typing import Any

from conformance.case import Case
from conformance.datasets import Stream
from conformance.laws import require
from conformance.laws.loading import Run, arguments, collation, runs, stream, workers
from conformance.trace import RankTrace, Trace

ELEMENTS = ("number", "parcel", "tensor")
"""What a stream gives where its elements are the subject."""

DIVIDED = ("worker", "skewed", "blocks", "uneven")
"""The ways of dividing by which the workers give each element once."""


def flat(items: list[Any]) -> list[int]:
    """The elements in batches, or the elements themselves."""
    return [e for item in items for e in (item if isinstance(item, list) else [item])]


def shares(case: Case) -> list[list[int]]:
    """The elements of each worker; of the main process if there are none."""
    count = max(1, workers(case))
    return [stream(case).share(worker, count) for worker in range(count)]


def elements(trace: Trace, *shards: str) -> Stream:
    """The same, where the batches hold all their elements."""
    require(not thinned(trace.case))
    return undisturbed(trace, *shards)


def undisturbed(trace: Trace, *shards: str) -> Stream:
    """The stream of a case in which nothing goes wrong; requires that it is sharded so."""
    data = stream(trace.case)
    require(data.gives in ELEMENTS and not data.faults and (not shards or data.shard in shards))
    return data


def thinned(case: Case) -> bool:
    """Whether the case's `collate_fn` leaves elements out."""
    return collation(case) in ("thin", "thin tensor")


def dropping(case: Case) -> bool:
    return bool(arguments(case).get("drop_last"))


def passes(rank: RankTrace) -> list[Run]:
    """The passes that came to their end; requires that there are some."""
    found = [run for run in runs(rank) if run.finished]
    require(found)
    return found
