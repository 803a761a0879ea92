"""`spec/iterable.md`: datasets without an index, divided among workers and ranks."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import iterable as cases
from conformance.scenarios import iterable_parts as parts
from conformance.scenarios import loader_pairs as pairs
from conformance.scenarios import pinning


@prove(
    {
        "iterable.worker-info": (cases.TOLD, cases.TOLD_SPAWNED),
        "iterable.once": (
            cases.GRID,
            cases.CLAIMING,
            cases.KINDS,
            parts.UNEVEN,
            parts.BROKEN,
            parts.BROKEN_AGAIN,
            cases.SIGNALLED,
            pairs.STREAMED_PAIRS,
            pinning.STREAMS,
        ),
        "iterable.unsharded": (cases.UNSHARDED,),
        "iterable.length": (cases.GRID, cases.KINDS, cases.RESIZED),
        "iterable.drop-last": (
            cases.GRID,
            cases.KINDS,
            parts.UNEVEN,
            cases.SIGNALLED,
            pairs.STREAMED_PAIRS,
        ),
        "iterable.drop-total": (cases.GRID, cases.KINDS),
        "iterable.ranks": (cases.RANKS,),
        "iterable.order": (
            cases.ORDERS,
            cases.STALLED,
            cases.KINDS,
            parts.UNEVEN,
            pairs.STREAMED_PAIRS,
            parts.BROKEN_TURNS,
        ),
        "iterable.ends": (cases.KINDS, cases.GRID, parts.UNEVEN, parts.BROKEN, parts.BROKEN_AGAIN),
        "iterable.shared-seed": (cases.TOLD, cases.TOLD_SPAWNED, cases.SEEDS),
        "iterable.no-data": (cases.NO_DATA, cases.GRID, parts.UNEVEN),
    }
)
def test_iterable(check: Check) -> None:
    """Each element comes once, in the order of turns, and a pass ends when all data have."""
    check()
