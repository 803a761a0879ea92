"""`spec/wrapper.md`: any sampler, sharded over ranks; and a sampler seen as a dataset."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import wrapper as cases


@prove(
    {
        "wrapper.order": (cases.PASSES,),
        "wrapper.shuffle": (cases.SHUFFLED,),
        "wrapper.uniform": (cases.MANY,),
        "wrapper.cover": (cases.PASSES,),
        "wrapper.equal-counts": (cases.PASSES,),
        "wrapper.small": (cases.TINY,),
        "wrapper.set-epoch": (cases.EPOCHS,),
        "wrapper.agree": (cases.AGREE,),
        "wrapper.fresh-draw": (cases.TURNING,),
        "wrapper.length-lie": (cases.LYING,),
        "wrapper.inner-untouched": (cases.UNTOUCHED,),
        "wrapper.batches": (cases.BATCHES,),
        "wrapper.double": (cases.TWICE,),
        "wrapper.view": (cases.VIEWS,),
    }
)
def test_wrapper(check: Check) -> None:
    """The ranks together see the inner sampler's pass, whatever the inner sampler is."""
    check()
