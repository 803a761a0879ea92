"""What a fault of a sampler comes down to, whatever the numbers: a mended sampler ends the script.

Each check is an expression over `now`, or "" where what was seen is no such thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from conformance import operations as op
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.seen import NOTHING, Seen, idle, shown
from conformance.trace import Event, Items, RankTrace

if TYPE_CHECKING:
    from conformance.drawing import Found

EXPECTED = ("TypeError", "ValueError")
"""What an argument that cannot be taken raises."""

RAISED = (
    "crash", "empty-raises", "epoch-refused", "kind-refused", "labels-crash", "length-raises",
    "not-copyable", "resize-crash", "set-epoch-raises", "small-crash", "view-crash",
    "weights-refused",
)  # fmt: skip
"""Anomalies that are an exception where none of any type belongs."""

ACCEPTED = ("accepted", "epoch-accepted", "group-guessed", "sharded-twice")
"""Anomalies that are no exception where one belongs."""

COMPARED = (
    "copy-differs", "epoch-not-fixed", "foreign-rng-read", "iter-changes-order",
    "iterators-entangled", "no-restart", "not-reproducible", "seed-epoch-added",
    "seed-epoch-alike", "seed-ignored", "seed-not-fixed", "stale-epoch", "stale-pass",
    "view-differs",
)  # fmt: skip
"""Anomalies of two passes, that are equal or not."""

CHANGED = {
    "iter-draws": (), "length-draws": (), "global-rng-written": ("generator",),
    "foreign-rng-written": ("generator", "torch"),
}  # fmt: skip
"""Anomalies of random states that have changed, and the states that may."""


def raised(draft: Draft, found: Found) -> str:
    """The last thing that a rank has seen is an exception."""
    if draft.subject == "loader" or not any(rank.events[-1].error for rank in found.trace):
        return ""
    failed = "isinstance({0}[-1], str) and {0}[-1] != " + repr(NOTHING)
    return _any_rank(draft, failed)


def accepted(draft: Draft, found: Found) -> str:
    """A rank raises nothing at all."""
    if draft.subject == "loader" or [NOTHING] not in [Seen(rank).all() for rank in found.trace]:
        return ""
    return _any_rank(draft, "{} == " + repr([NOTHING]))


def wrong_kind(draft: Draft, found: Found) -> str:
    """The exception is of another kind than the two for arguments, or there is none."""
    kinds = {e.error.kind for rank in found.trace for e in rank.events if e.error is not None}
    if draft.subject == "loader" or not kinds - set(EXPECTED):
        return ""
    return _any_rank(draft, "{}[-1] not in " + repr(EXPECTED))


def compared(draft: Draft, found: Found) -> str:
    """Two whole passes are one that should not be, or are not one that should be."""
    rank = found.trace.ranks[0]
    events = rank.events
    whole = [event for event in events if isinstance(event.value, Items)]
    told = [place for place, event in _placed(rank) if isinstance(event.value, Items)]
    plain = all(isinstance(e.operation, op.Iterate) and not e.value.extra for e in whole)
    failed = any(event.error is not None for event in events)
    if draft.several or draft.subject == "loader" or len(whole) != 2 or not plain or failed:
        return ""
    first, second = (f"now[{place}:{place + 1}]" for place in told)
    same = shown(whole[0].value) == shown(whole[1].value)
    return f"{first} {'==' if same else '!='} {second}"


def changed(draft: Draft, found: Found) -> str:
    """The states that must stay as they are, and have changed."""
    last = found.trace.ranks[0].events[-1]
    if draft.several or not isinstance(last.operation, op.Globals) or last.error is not None:
        return ""
    may = CHANGED[found.violation.anomaly]
    names = sorted(set(Seen(found.trace.ranks[0]).all()[-1]) - set(may))
    return f"{{*{names}}} & {{*now[-1]}}" if names else ""


def settings(draft: Draft, found: Found) -> str:
    """The settings have changed between two looks, or before the first."""
    return _any_rank(draft, "any('settings' in told for told in {0} if isinstance(told, list))")


def _any_rank(draft: Draft, told: str) -> str:
    if not draft.several:
        return told.format("now")
    return f"any({told.format('seen')} for seen in now)"


def _placed(rank: RankTrace) -> Iterator[tuple[int, Event]]:
    """Each event with its first place in `now`."""
    seen, place, skipped = Seen(rank), 0, idle(rank.events)
    for number, event in enumerate(rank.events):
        if number not in skipped:
            yield place, event
            place += len(seen.one(event))


DEMANDS: dict[str, Callable[[Draft, Found], str]] = {
    **dict.fromkeys(RAISED, raised), **dict.fromkeys(COMPARED, compared),
    **dict.fromkeys(CHANGED, changed), **dict.fromkeys(ACCEPTED, accepted),
    "wrong-exception": wrong_kind, "settings-changed": settings, "left-changed": settings,
}  # fmt: skip
