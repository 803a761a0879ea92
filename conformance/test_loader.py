"""`spec/loader.md`: batches, lengths, errors and options of a loader, with workers and without."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import iterable_parts as streams
from conformance.scenarios import loader as cases
from conformance.scenarios import loader_forms as forms
from conformance.scenarios import loader_pairs as pairs
from conformance.scenarios import loader_passes as passes
from conformance.scenarios import loader_randomness as randomness
from conformance.scenarios import loader_samplers as samplers
from conformance.scenarios import pinning, workers


@prove(
    {
        "loader.batches": (
            cases.MODES,
            cases.POSING,
            cases.AGAIN,
            samplers.SAMPLED,
            forms.FORMS,
            forms.SIGNALLED,
            cases.GROUPED,
            cases.LONG,
            pairs.MAPPED_PAIRS,
            pinning.MODES,
        ),
        "loader.fetch-once": (
            cases.MODES,
            cases.GETITEMS,
            samplers.SAMPLED,
            pairs.MAPPED_PAIRS,
            workers.LATE_ITEM,
        ),
        "loader.collate": (cases.COLLATIONS, forms.FORMS),
        "loader.length": (cases.MODES, samplers.SAMPLED, pairs.MAPPED_PAIRS),
        "loader.unsized": (cases.UNSIZED,),
        "loader.getitems": (cases.GETITEMS,),
        "loader.empty": (cases.EMPTY,),
    }
)
def test_batches(check: Check) -> None:
    """The batches are those that were asked for, and nothing else is fetched."""
    check()


@prove(
    {
        "loader.global-rng": (randomness.GENERATORS, randomness.LATE),
        "loader.draws-alike": (randomness.ALIKE,),
        "loader.draws-nothing": (randomness.DRAWS,),
    }
)
def test_global_states(check: Check) -> None:
    """A loader leaves the global states alone, or changes them the same way always."""
    check()


@prove(
    {
        "loader.errors": (passes.ERRORS, streams.BROKEN, streams.BROKEN_AGAIN, pinning.ERRORS),
        "loader.stop-iteration": (passes.STOPS, passes.STOPPED_STARTS),
        "loader.reject": (cases.REFUSALS,),
        "loader.after-error": (
            passes.AFTER,
            passes.GIVEN_UP,
            pairs.FAILING_PAIRS,
            pinning.AFTER,
        ),
    }
)
def test_errors(check: Check) -> None:
    """What goes wrong is told as what it is, where it is, and only once."""
    check()


@prove(
    {
        "loader.independent": (passes.BESIDE, pinning.BESIDE),
        "loader.ends": (passes.ENDS, passes.ENDS_IDLE),
        "loader.reused-buffer": (passes.BUFFERS, pinning.BUFFERS),
    }
)
def test_passes(check: Check) -> None:
    """Each pass is its own: beside others, after its end, and in what it has delivered."""
    check()
