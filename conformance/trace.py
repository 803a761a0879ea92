"""A trace: what a run showed, operation by operation and rank by rank. Data, and nothing else."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.case import Case
from conformance.classes import classes
from conformance.operations import Operation

UNREADABLE = np.iinfo(np.int64).min
"""Stands in `Items.values` for an item that is no whole number."""


@dataclass(frozen=True)
class Items:
    """Items that an iterator yielded, in order.

    values: numpy.int64, shape (count,), batches laid end to end, `UNREADABLE` for what is no whole
    number. kinds: the distinct type names of the indices. sizes: numpy.int64, shape (batches,), if
    the items were batches; containers: the distinct type names of those. unreadable: reprs of the
    first items that are no whole numbers. cut: the pass was stopped at the case's limit. extra:
    how many more items came after StopIteration.
    """

    values: NDArray[np.int64]
    kinds: tuple[str, ...] = ()
    sizes: NDArray[np.int64] | None = None
    containers: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    cut: bool = False
    extra: int = 0

    def __len__(self) -> int:
        return len(self.values if self.sizes is None else self.sizes)

    def tolist(self) -> list[Any]:
        """Indices as a list of int, batches as a list of lists."""
        if self.sizes is None:
            return [int(v) for v in self.values]
        return [b.tolist() for b in np.split(self.values, np.cumsum(self.sizes)[:-1])][: len(self)]


def writable(text: str) -> str:
    """The same text where it can be encoded; what cannot be is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True)
class Error:
    """An exception: `kinds` are the names of its class and base classes, most derived first.

    held: its arguments and attributes as text, "arguments (28, 'full')", "errno 28". behind: its
    cause, and exceptions that it holds as members or attributes. notes: those added to it.
    """

    kinds: tuple[str, ...]
    message: str
    where: str = ""
    held: tuple[str, ...] = ()
    behind: tuple[Error, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.kinds[0]

    def is_a(self, *kinds: str) -> bool:
        return any(kind in self.kinds for kind in kinds)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


def both_ends(text: str, most: int) -> str:
    """A long text without its middle: a worker's traceback has what matters at its end."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


@dataclass(frozen=True)
class Event:
    """One operation and what came of it: a value, items, an exception, or items and then one.

    Only measured for loaders: seconds; rested, how many of them at a stretch nobody has used a core
    or stood in line for one; warnings, texts that begin with the category.
    """

    operation: Operation | None
    value: Any = None
    error: Error | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    rested: float = 0.0


SLOW = 0.7
"""The part of the bound on a rank after which a pass that still yields is given up, in CPU seconds,
so that one who is slow is not taken for one who hangs."""

KINDS = (
    "begin", "draw", "init", "iter", "fetch", "leave", "end", "ask", "collate", "depart", "arrive",
    "want", "deliver", "dies", "unfollowed",
)  # fmt: skip
"""What is reported while a loader works, in order of a batch's life.

begin: `__iter__` of a sampler was called; draw: it gave an index (value: its place). init:
`worker_init_fn` was called. iter: `__iter__` of a stream was called. fetch: an item was asked for;
leave: it was let through the gate; end: a stream ended; ask: it was asked again after that.
collate: a batch was collated (value: its first item), or `__getitems__` was called (value: how many
it was asked for). depart, arrive: a parcel was pickled, unpickled. want: the caller asks
for item number `value` of a pass; deliver: it has it. dies, unfollowed: at the gate.
"""


@dataclass(frozen=True)
class Record:
    """One report. value: the index, element or batch; worker: its number, -1 in the main process,
    and of an arrival the worker that it comes from; pid: of the process; seconds: on the machine's
    monotonic clock."""

    kind: str
    value: int
    worker: int
    pid: int
    seconds: float


@dataclass(frozen=True)
class RankTrace:
    """What one rank did. `events[0]` is the construction (operation None), then one per operation.

    fate: "done", or how the rank ended: "exit 3", "SIGSEGV", "stuck"; "slow" if items still came
    when the time for a case was over. collectives: how many this rank took part in. printed: bytes
    written to stdout and stderr. settings: a digest of settings before the construction.
    """

    rank: int
    events: tuple[Event, ...]
    fate: str = "done"
    collectives: int = 0
    printed: int = 0
    settings: int | None = None


@dataclass(frozen=True)
class Trace:
    """The traces of all ranks of a case.

    policies: what the candidate declares. names: what it calls arguments, where not as torch does.
    oracle: what torch did for the case (torch profile). seen: passes by rank, remembered by the
    laws' views, as many laws judge one trace.
    """

    case: Case
    ranks: tuple[RankTrace, ...]
    policies: dict[str, Any] = field(default_factory=dict)
    oracle: Trace | None = None
    names: dict[str, str] = field(default_factory=dict)
    seen: dict[int, list[Any]] = field(default_factory=dict, compare=False, repr=False)

    def __iter__(self) -> Iterator[RankTrace]:
        return iter(self.ranks)

    @functools.cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes that the case belongs to."""
        return classes(self.case)

    @property
    def done(self) -> bool:
        return all(rank.fate == "done" for rank in self.ranks)

    @property
    def slow(self) -> bool:
        """Whether a rank was drawing items still when the time for a case was over."""
        return any(rank.fate == "slow" for rank in self.ranks)
