"""`spec/wrapper.md`: any sampler, sharded over ranks; and a sampler seen as a dataset."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import wrapper as cases
from conformance.scenarios import wrapper_inners as inners
from conformance.scenarios import wrapper_shuffles as shuffles
from conformance.scenarios import wrapper_views as views


@prove(
    {
        "wrapper.order": (cases.PASSES, inners.PASSES),
        "wrapper.shuffle": (shuffles.SHUFFLED,),
        "wrapper.uniform": (shuffles.MANY, inners.MANY),
        "wrapper.cover": (cases.PASSES, inners.PASSES),
        "wrapper.equal-counts": (cases.PASSES, inners.PASSES),
        "wrapper.small": (cases.TINY,),
        "wrapper.set-epoch": (cases.EPOCHS,),
        "wrapper.agree": (cases.AGREE,),
        "wrapper.epochs-differ": (cases.GLOBAL_EPOCHS,),
        "wrapper.fresh-draw": (cases.TURNING, inners.PASSES),
        "wrapper.length-lie": (cases.LYING,),
        "wrapper.inner-untouched": (cases.UNTOUCHED, inners.UNTOUCHED),
        "wrapper.batches": (cases.BATCHES, cases.RANKS_BATCHES, inners.PASSES),
        "wrapper.double": (cases.TWICE,),
        "wrapper.view": (views.VIEWS,),
    }
)
def test_wrapper(check: Check) -> None:
    """The ranks together see the inner sampler's pass, whatever the inner sampler is."""
    check()
