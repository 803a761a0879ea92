"""`spec/lifecycle.md`: loaders that end in every way, are struck, forked, starved and orphaned."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import lifecycle as cases
from conformance.scenarios import lifecycle_blows as blows
from conformance.scenarios import pinning


@prove(
    {
        "lifecycle.leftovers": (cases.ENDS, blows.BLOWS, pinning.LEFT, pinning.BLOWS),
        "lifecycle.failed-construction": (cases.REFUSALS, cases.UNSENDABLE),
        "lifecycle.shutdown": (cases.ENDS, blows.BLOWS, pinning.LEFT, pinning.BLOWS),
        "lifecycle.interrupt": (blows.BLOWS, pinning.BLOWS),
        "lifecycle.interrupt-quiet": (blows.BLOWS,),
        "lifecycle.orphans": (blows.BLOWS,),
        "lifecycle.fork": (blows.BLOWS,),
        "lifecycle.again": (blows.BLOWS, pinning.BLOWS),
        "lifecycle.exhaustion": (blows.BLOWS,),
        "lifecycle.memory": (cases.GROWTH, cases.CONSUMED),
        "lifecycle.unpicklable": (cases.UNSENDABLE,),
        "lifecycle.no-ambush": (blows.BLOWS, pinning.BLOWS),
        "lifecycle.threads": (blows.THREADS,),
    }
)
def test_lifecycle(check: Check) -> None:
    """What a loader takes it gives back, however it ends."""
    check()
