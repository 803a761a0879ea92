"""`spec/balanced.md`: class-balanced samplers, alone and sharded over ranks."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import balanced as cases


@prove(
    {
        "balanced.counts": (cases.COUNTED, cases.NARROW_WEIGHTS),
        "balanced.distinct": (cases.COUNTED,),
        "balanced.reach": (cases.MANY,),
        "balanced.shuffled": (cases.MANY,),
        "balanced.labels": (cases.UNUSUAL_LABELS,),
        "balanced.reject": (cases.REFUSALS,),
        "balanced.seeded": (cases.AGAIN,),
        "balanced.distributed": (cases.SHARDED,),
    }
)
def test_balanced(check: Check) -> None:
    """Every class gets the number of items that the arguments state."""
    check()
