"""`spec/lifecycle.md`: loaders that end in every way, are struck, forked, starved and orphaned."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import lifecycle as cases


@prove(
    {
        "lifecycle.leftovers": (cases.ENDS, cases.BLOWS),
        "lifecycle.failed-construction": (cases.REFUSALS, cases.UNSENDABLE),
        "lifecycle.shutdown": (cases.ENDS, cases.BLOWS),
        "lifecycle.interrupt": (cases.BLOWS,),
        "lifecycle.interrupt-quiet": (cases.BLOWS,),
        "lifecycle.orphans": (cases.BLOWS,),
        "lifecycle.fork": (cases.BLOWS,),
        "lifecycle.again": (cases.BLOWS,),
        "lifecycle.exhaustion": (cases.BLOWS,),
        "lifecycle.memory": (cases.GROWTH,),
        "lifecycle.unpicklable": (cases.UNSENDABLE,),
        "lifecycle.no-ambush": (cases.BLOWS,),
        "lifecycle.threads": (cases.THREADS,),
    }
)
def test_lifecycle(check: Check) -> None:
    """What a loader takes it gives back, however it ends."""
    check()
