"""`spec/batch.md`: any inner sampler, cut into lists."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import batch as cases


@prove(
    {
        "batch.concatenation": (cases.PASSES,),
        "batch.sizes": (cases.PASSES,),
        "batch.length": (cases.PASSES,),
        "batch.fresh": (cases.DISTURBED,),
        "batch.lazy": (cases.LAZY,),
        "batch.inner-end": (cases.LYING,),
        "batch.no-poll": (cases.POLLED,),
        "batch.set-epoch": (cases.EPOCHS,),
        "batch.forwards": (cases.EPOCHS, cases.PLAIN),
        "batch.sequence": (cases.PASSES,),
    }
)
def test_batch(check: Check) -> None:
    """A batch sampler cuts the inner sequence into lists, and does nothing else to it."""
    check()
