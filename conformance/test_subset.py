"""`spec/subset.md`: the given indices, shuffled."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import subset as cases


@prove(
    {
        "subset.multiset": (cases.PASSES,),
        "subset.kinds": (cases.KIND,),
        "subset.uniform": (cases.MANY,),
        "subset.seeded": (cases.SEEDED, cases.SHARED),
        "subset.sequence": (cases.PASSES, cases.SEEDED),
    }
)
def test_subset(check: Check) -> None:
    """A subset sampler shuffles the given indices and changes nothing else about them."""
    check()
