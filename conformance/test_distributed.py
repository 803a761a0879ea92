"""`spec/distributed.md` across ranks: simulated by the thousand, and in real process groups."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import distributed as cases


@prove(
    {
        "distributed.equal-counts": (cases.EPOCHS,),
        "distributed.cover": (cases.EPOCHS,),
        "distributed.padding": (cases.EPOCHS,),
        "distributed.drop": (cases.EPOCHS,),
        "distributed.small": (cases.EPOCHS,),
        "distributed.one-sequence": (cases.SHARDS, cases.HALF_GIVEN),
        "distributed.epochs-differ": (cases.SHUFFLED,),
        "distributed.any-world-size": (cases.WIDTHS,),
        "distributed.no-group": (cases.GROUPLESS, cases.GROUP_GONE),
        "distributed.batches": (cases.BATCHES,),
        "distributed.padding-last": (cases.EPOCHS,),
        "distributed.order": (cases.EPOCHS,),
        "distributed.seed": (cases.SHUFFLED,),
        "distributed.mix": (cases.MIXED,),
        "distributed.uniform": (cases.MANY,),
        "distributed.policy": (cases.EPOCHS,),
        "distributed.sequence": (cases.EPOCHS, cases.SHARDS, cases.SHUFFLED),
    }
)
def test_distributed(check: Check) -> None:
    """All ranks together see each index of every epoch as often as the spec says."""
    check()
