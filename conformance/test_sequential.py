"""`spec/sequential.md`: front to back, at every length."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import sequential as cases


@prove(
    {
        "sequential.order": (cases.PASSES, cases.RESIZED),
    }
)
def test_sequential(check: Check) -> None:
    """A sequential sampler reads the data from front to back."""
    check()
