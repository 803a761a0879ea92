"""`spec/weighted.md`: draws in proportion to weights, from one weight to more than 2^24."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import weighted as cases


@prove(
    {
        "weighted.count": (cases.PASSES,),
        "weighted.zero": (cases.PASSES, cases.STARVED),
        "weighted.distinct": (cases.PASSES,),
        "weighted.frequencies": (cases.MANY,),
        "weighted.first-draw": (cases.MANY_FIRST,),
        "weighted.reject": (cases.REFUSED,),
        "weighted.large": (cases.BEYOND,),
        "weighted.large-honest": (cases.BEYOND,),
        "weighted.scale": (cases.SCALED,),
        "weighted.seeded": (cases.SEEDED, cases.SHARED),
        "weighted.sequence": (cases.PASSES, cases.SEEDED),
    }
)
def test_weighted(check: Check) -> None:
    """A weighted sampler draws in proportion to its weights, and refuses weights that are none."""
    check()
