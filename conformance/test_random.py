"""`spec/random.md`: shuffles and fair dice, counted exactly and tested statistically."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import random as cases


@prove(
    {
        "random.permutation": (cases.SHUFFLES,),
        "random.uniform": (cases.MANY,),
        "random.replacement": (cases.THROWS,),
        "random.replacement-uniform": (cases.MANY_THROWS,),
        "random.seeded": (cases.SEEDED, cases.SHARED, cases.LEFT),
        "random.manual-seed": (cases.MANUAL,),
        "random.sequence": (cases.SHUFFLES, cases.THROWS, cases.SEEDED, cases.MANUAL),
    }
)
def test_random(check: Check) -> None:
    """A random sampler shuffles without preference, or throws a fair die, and obeys its seed."""
    check()
