"""Views of a trace that laws share: passes, their circumstances, and rounds across ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.classes import length
from conformance.laws import require
from conformance.policies import UNSAID
from conformance.recipes import Generator, Raw
from conformance.trace import Error, Event, Items, RankTrace, Trace


@dataclass(frozen=True)
class Pass:
    """One pass over a sampler: what it yielded and under which circumstances it was opened.

    event: the event that ended it (the grid's row). build: how many constructions came before;
    ordinal: how many passes of this construction were begun, by asking for an item, before.
    epoch: as last set, None if never, or if it cannot be told. reseed: the last `Reseed`, if no
    pass was opened since. under: the `Reseed` just before the construction.
    n: the dataset's length then. alone: no other iterator was open between its first and last
    item. whole: it was read to its end. beside: another sampler was built since the construction.
    """

    rank: int
    event: int
    build: int
    ordinal: int
    epoch: Any
    reseed: Any
    n: int
    overrides: dict[str, Any]
    items: Items
    error: Error | None
    whole: bool
    alone: bool = True
    under: Any = None
    beside: bool = False

    @property
    def values(self) -> NDArray[np.int64]:
        return self.items.values

    def same(self, other: Pass) -> bool:
        """The same items, batches included, in the same order."""
        if (self.items.sizes is None) != (other.items.sizes is None) and len(self.values):
            return False
        return np.array_equal(self.values, other.values) and (
            self.items.sizes is None
            or other.items.sizes is None
            or np.array_equal(self.items.sizes, other.items.sizes)
        )


@dataclass
class _Now:
    """The circumstances while reading a rank's events. failed: the construction was refused."""

    n: int
    build: int = 0
    ordinal: int = -1
    epoch: Any = None
    reseed: Any = None
    under: Any = None
    overrides: dict[str, Any] = field(default_factory=dict)
    opened: dict[str, Pass] = field(default_factory=dict)
    failed: bool = False
    beside: bool = False


def passes(rank: RankTrace, trace: Trace) -> list[Pass]:
    """All passes of a rank that were read at all, in the order in which they ended."""
    if rank.rank not in trace.seen:
        n = size(trace)
        now = _Now(n)
        trace.seen[rank.rank] = [
            found
            for number, event in enumerate(rank.events)
            for found in _step(now, number, event, rank.rank, n)
        ]
    return list(trace.seen[rank.rank])


def _step(now: _Now, number: int, event: Event, rank: int, n: int) -> Iterator[Pass]:
    """Follow one event; yields the pass that it ended."""
    did = event.operation
    if isinstance(did, op.Rebuild):
        fresh = _Now(n, now.build + 1, under=now.reseed, overrides=dict(did.overrides))
        vars(now).update(vars(fresh) | {"failed": event.error is not None})
    elif now.failed:
        return  # what follows is done to the sampler before
    elif isinstance(did, op.Neighbour):
        now.beside = True
    elif isinstance(did, op.SetEpoch):
        now.epoch = did.epoch.value if isinstance(did.epoch, Raw) else did.epoch
    elif isinstance(did, op.Reseed) and did.which == "generator":
        again = _Now(n, now.build, under=now.under, overrides={"generator": Generator(did.seed)})
        vars(now).update(vars(again))
    elif isinstance(did, op.Reseed):
        now.reseed = (did.seed, did.which)
    elif isinstance(did, op.Resize):
        now.n = did.n
    elif isinstance(did, (op.Iterate, op.Open)):
        now.ordinal += isinstance(did, op.Iterate)
        opened = Pass(
            rank, number, now.build, now.ordinal, now.epoch, now.reseed, now.n, now.overrides,
            Items(np.zeros(0, np.int64)), event.error, False, under=now.under,
        )  # fmt: skip
        if isinstance(did, op.Iterate):
            yield _ended(opened, event, number, now.beside)
        else:
            now.opened[did.name] = replace(opened, ordinal=-1)
        now.reseed = None
    elif isinstance(did, (op.Take, op.Drain)) and did.name in now.opened:
        yield from _read(now, did, event, number)


def _read(now: _Now, did: op.Take | op.Drain, event: Event, number: int) -> Iterator[Pass]:
    """An iterator was read on: remember what it gave, and yield its pass if this was the end."""
    opened = now.opened[did.name]
    alone = len(now.opened) == 1
    opened = replace(opened, alone=opened.alone and alone)
    if opened.ordinal < 0:
        now.ordinal += 1
        # An epoch that is set before the first item may count or not.
        epoch = opened.epoch if opened.epoch == now.epoch else None
        opened = replace(opened, ordinal=now.ordinal, epoch=epoch)
    if isinstance(did, op.Drain) or event.error is not None:
        yield _ended(opened, event, number, now.beside)
        del now.opened[did.name]
    elif isinstance(event.value, Items):
        now.opened[did.name] = replace(opened, items=join(opened.items, event.value))


def _ended(opened: Pass, event: Event, number: int, beside: bool) -> Pass:
    got = event.value if isinstance(event.value, Items) else Items(np.zeros(0, np.int64))
    whole = event.error is None and isinstance(event.value, Items) and not got.cut
    items = join(opened.items, got)
    return replace(opened, event=number, items=items, error=event.error, whole=whole, beside=beside)


def join(first: Items, second: Items) -> Items:
    """Two readings of one iterator, end to end."""
    if not len(first.values) and first.sizes is None:
        return second
    sizes = [items.sizes for items in (first, second) if items.sizes is not None]
    return replace(
        second,
        values=np.concatenate([first.values, second.values]),
        kinds=tuple(dict.fromkeys(first.kinds + second.kinds)),
        containers=tuple(dict.fromkeys(first.containers + second.containers)),
        unreadable=first.unreadable + second.unreadable,
        sizes=np.concatenate(sizes) if sizes else None,
    )


def whole_passes(rank: RankTrace, trace: Trace) -> list[Pass]:
    """The passes of a rank that were read to their end without an exception."""
    return [found for found in passes(rank, trace) if found.whole]


def rounds(trace: Trace) -> list[list[Pass]]:
    """For each pass that all ranks made alike, the passes of all ranks in order of rank.

    Requires that every rank came back and that every one made as many whole passes.
    """
    require(trace.done and len(trace.ranks) == trace.case.world_size)
    found = [whole_passes(rank, trace) for rank in trace]
    require(found[0] and len({len(made) for made in found}) == 1)
    return [list(made) for made in zip(*found, strict=True)]


def size(trace: Trace) -> int:
    """n: the length of the dataset or sequence that the case is about, 0 if it has none."""
    return length(trace.case)


def global_order(made: list[Pass], divides: str | None = "interleaved") -> NDArray[np.int64]:
    """The order that all ranks sliced, put together again: round robin, or block after block."""
    parts = [found.values for found in made]
    if divides == "contiguous":
        return np.concatenate(parts)
    width = max((len(part) for part in parts), default=0)
    table = np.full((width, len(parts)), -1, dtype=np.int64)
    there = np.zeros(table.shape, dtype=bool)
    for rank, part in enumerate(parts):
        table[: len(part), rank], there[: len(part), rank] = part, True
    return table.reshape(-1)[there.reshape(-1)]


def option(trace: Trace, found: Pass, name: str, default: Any) -> Any:
    """An argument as it was for this pass's construction."""
    value = found.overrides.get(name, trace.case.argument(name, default))
    return value.value if isinstance(value, Raw) else value


def shuffles(trace: Trace, found: Pass, default: bool = True) -> bool:
    """Whether a pass is to be shuffled: as the candidate declares, or as it is asked."""
    declared = {"always": True, "never": False}.get(trace.policies.get("shuffles", ""))
    return bool(option(trace, found, "shuffle", default)) if declared is None else declared


def unsaid(trace: Trace) -> bool:
    """Whether nothing says that the candidate shuffles, or that it does not."""
    return trace.policies.get("shuffles") == UNSAID


def rows(*made: Pass) -> tuple[tuple[int, int], ...]:
    """The grid rows that show these passes."""
    return tuple((found.rank, found.event) for found in made)


def shown(values: Any, most: int = 12) -> str:
    """A short list of numbers."""
    listed = [int(value) for value in values]
    more = f", ... {len(listed)} in all" if len(listed) > most else ""
    return "[" + ", ".join(map(str, listed[:most])) + more + "]"
