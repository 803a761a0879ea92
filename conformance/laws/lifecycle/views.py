"""Views that the laws of `spec/lifecycle.md` share: what is alive when, and what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.datasets import Stream
from conformance.laws import Violation, require
from conformance.laws.loader.due import flat, passes
from conformance.laws.loading import READS, Run, about, arguments, ordered, runs
from conformance.trace import Event, RankTrace, Trace


def constructed(trace: Trace) -> RankTrace:
    """The one rank of the case, whose loader could be constructed; it may hang at its end."""
    require(trace.done and len(trace.ranks) == 1)
    require(trace.ranks[0].events[0].error is None)
    return trace.ranks[0]


def hangs(event: Event) -> bool:
    """Whether this operation did not return."""
    return event.error is not None and event.error.kind == "Hang"


def text_of(event: Event) -> str:
    """What an operation raised, for a person."""
    return str(event.error)[:300]


@dataclass
class Alive:
    """What of a loader is alive after each event.

    names: iterators that were opened and not dropped. ended: those of them that were exhausted.
    used: the loader has been iterated since it was constructed. ever: some loader has.
    options: the arguments of the loader as it is now.
    """

    options: dict[str, Any]
    names: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    used: bool = False
    ever: bool = False

    def after(self, event: Event) -> None:
        """Take in one event."""
        did = event.operation
        if isinstance(did, op.Rebuild) and event.error is None:
            self.__init__(self.options | dict(did.overrides), ever=self.ever)  # type: ignore[misc]
        elif isinstance(did, op.Open) and event.error is None:
            self.names.add(did.name)
            self.ended.discard(did.name)
            self.used = self.ever = True
        elif isinstance(did, op.Iterate):
            self.used = self.ever = True
        elif isinstance(did, op.Drain) and event.error is None:
            self.ended.add(did.name)
        elif isinstance(did, lo.Drop):
            self.names = self.names - {did.name} if did.name else set()
            self.used = self.used and bool(did.name)

    @property
    def at_rest(self) -> bool:
        """Nothing is alive that could own anything."""
        return not self.names - self.ended and not (
            self.used and self.options.get("persistent_workers")
        )


def lives(rank: RankTrace, case: Case) -> Iterator[tuple[Event, Alive]]:
    """Each event, with what is alive when it begins."""
    alive = Alive(arguments(case))
    for event in rank.events:
        yield event, alive
        alive.after(event)


def what_befell(case: Case) -> str:
    """What was done to the workers or by them, for telling one violation from another."""
    struck = [f"{did.how} to a worker" for did in case.plan if isinstance(did, lo.Strike)]
    shut = ["busy workers"] if any(isinstance(did, lo.Shut) for did in case.plan) else []
    return ", ".join([*struck, *shut, *([about(case)] if about(case) else [])])


def counted(found: dict[str, Any], names: tuple[str, ...]) -> str:
    """Counts of what was left, as text."""
    told = ", ".join(f"{found[name]} {name}" for name in names if found[name])
    return f"{told}: {'; '.join(found['what'][:3])}"


GROWS = ("descriptors", "segments")
"""What may grow from pass to pass."""


def remains(events: list[Event], why: str, growing: tuple[str, ...] = GROWS) -> Violation | None:
    """Whether these `Leftovers`, each of a moment of rest, show that something stays, grows or
    is set otherwise.

    The first pass may start servants of the whole process, so what is open is compared with what
    was open after an earlier one.
    """
    before: dict[str, Any] | None = None
    for place, event in enumerate(events):
        found = event.value
        if not found["collects"]:
            continue  # what was left to be collected stays through no fault of the loader
        if found["children"] or found["threads"]:
            saw = f"left behind are {counted(found, ('children', 'threads'))}"
            return Violation("left-alive", saw, about=why)
        if found["changed"]:
            saw = f"other than before the construction is {', '.join(found['changed'])}"
            return Violation("left-changed", saw, about=why)
        for name in growing:
            if place > 1 and before is not None and found[name] > before[name]:
                saw = f"{name} grew from {before[name]} to {found[name]} over further passes"
                return Violation(f"growing-{name}", f"{saw}: {found['what'][:6]}", about=why)
        before = found
    return None


def read_after(rank: RankTrace, place: int) -> list[Event]:
    """The reads that follow an event."""
    return [e for e in rank.events[place + 1 :] if isinstance(e.operation, READS)]


def wholes(rank: RankTrace, case: Case) -> list[tuple[Run, bool]]:
    """Each pass, and whether it has all that it should: of a stream, in whatever order, and so with
    `in_order=False`."""
    data = arguments(case)["dataset"]
    if isinstance(data, Stream):
        return [(run, sorted(flat(run.items)) == list(range(data.n))) for run in runs(rank)]
    turned: Callable[[list[Any]], list[Any]] = list if ordered(case) else sorted
    return [(run, turned(run.items) == turned(due)) for run, due in passes(rank, case)]
