"""What a plan does with the gate: who may fetch from now on, and what was reported so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance import loading as lo
from conformance import operations as op

if TYPE_CHECKING:
    from conformance.worlds.loader import LoaderRank

Found = tuple[Any, Any]
"""A value and an exception, as all operations give them."""


def schedule(rank: LoaderRank, operation: lo.Schedule) -> Found:
    rank.gate.schedule(operation.turns, operation.arrival, operation.dies, operation.how)
    return None, None


def shut(rank: LoaderRank, _: lo.Shut) -> Found:
    rank.gate.shut()
    return None, None


def hold(rank: LoaderRank, _: lo.Hold) -> Found:
    rank.gate.hold()
    return None, None


def trickle(rank: LoaderRank, operation: lo.Trickle) -> Found:
    rank.gate.trickle(operation.who, operation.pace_s)
    return None, None


def free(rank: LoaderRank, _: lo.Free) -> Found:
    rank.gate.free()
    return None, None


def settle(rank: LoaderRank, _: lo.Settle) -> Found:
    return rank.gate.settle(), None


def journal(rank: LoaderRank, _: lo.Journal) -> Found:
    return rank.gate.records(), None


GATING: dict[type[op.Operation], Callable[[LoaderRank, Any], Found]] = {
    lo.Schedule: schedule, lo.Shut: shut, lo.Hold: hold, lo.Trickle: trickle, lo.Free: free,
    lo.Settle: settle, lo.Journal: journal,
}  # fmt: skip
