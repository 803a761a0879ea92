"""What the scenarios of loaders share: arguments of loaders, and schedules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Mapped
from conformance.loading import Schedule
from conformance.operations import Iterate, Operation
from conformance.scenarios import Setting

ROLE = "DataLoader"

PACE_S = 0.15
"""How long an item takes that is still being made when the next pass has begun."""

STRAGGLER_S = 3.5
"""An item takes longer than somebody may wait before he asks another worker, or gives up."""

PONDER_S = 6.0
"""A caller computes for longer than somebody may try to send to him, or keep workers that rest."""

PARCELS: dict[str, Any] = {"collate_fn": Collate("list")}
"""Parcels are kept as they are, so that they can report their arrival."""


def loader(
    dataset: Any, plan: Sequence[Operation], world: str = "simulated", **options: Any
) -> Case:
    """A case of a loader over `dataset`."""
    return Case(ROLE, {"dataset": dataset, **options}, plan, world=world)


def parcels(n: int, batch_size: int = 1, **options: Any) -> dict[str, Any]:
    """Arguments of a loader whose every batch stops at the gate and reports its arrival."""
    data = Mapped(n, gives="parcel", gated=batch_size)
    return {"dataset": data, "batch_size": batch_size, **PARCELS, **options}


def interleavings(workers: int, batches: int) -> Iterator[tuple[int, ...]]:
    """Every order in which `workers` may complete `batches` each: a multinomial number of them."""
    counts = [batches] * workers

    def further(done: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        left = [w for w in range(workers) if counts[w] > done.count(w)]
        if not left:
            yield done
        for worker in left:
            yield from further((*done, worker))

    return further(())


def chunked(plans: Iterator[tuple[int, ...]], size: int) -> Iterator[list[Operation]]:
    """Plans of `size` schedules each, every one followed by a pass."""
    while chunk := list(itertools.islice(plans, size)):
        yield [step for turns in chunk for step in (Schedule(turns), Iterate())]


@st.composite
def schedules(draw: st.DrawFn, workers: int, batches: int, ahead: int) -> tuple[int, ...]:
    """An order in which workers that are dealt `batches` batches in turn may complete them.

    No more than `ahead` batches are under way: a batch that is not yet dealt cannot complete.
    """
    done: set[int] = set()
    turns: list[int] = []
    while len(done) < batches:
        delivered = next(k for k in range(batches + 1) if k not in done)
        under_way = [k for k in range(delivered, min(batches, delivered + ahead)) if k not in done]
        first = {k % workers: k for k in reversed(under_way)}
        turns.append(draw(st.sampled_from(sorted(first))))
        done.add(first[turns[-1]])
    return tuple(turns)


def takes(setting: Setting, **options: Any) -> bool:
    """Whether the candidate's constructor takes all these options."""
    return all(setting.accepts(name, ROLE) for name in options)


def counted(workers: int) -> dict[str, Any]:
    """The option for so many workers; none at all for none."""
    return {"num_workers": workers} if workers else {}
