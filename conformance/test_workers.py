"""`spec/workers.md`: loaders whose workers finish in every order, die, fail and fall behind."""

from __future__ import annotations

from conformance.plugin import Check
from conformance.properties import prove
from conformance.scenarios import workers as cases


@prove(
    {
        "workers.same-order": (cases.EXHAUSTIVE, cases.ORDERS),
        "workers.unordered": (cases.UNORDERED, cases.ORDERS),
        "workers.backpressure": (cases.AHEAD, cases.ORDERS),
        "workers.read-ahead": (cases.AHEAD,),
    }
)
def test_workers(check: Check) -> None:
    """What comes out does not depend on which worker is fast, and nothing is lost on the way."""
    check()
