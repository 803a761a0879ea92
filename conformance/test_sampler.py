"""`spec/sampler.md`: the protocol, for every role, one rank or many."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import integer_likes, wrapper_inners
from conformance.scenarios import sampler as cases
from conformance.scenarios.refusals import FLAGS, REFUSALS


@prove(
    {
        "sampler.works": (cases.TOUR, cases.VALIDATED, cases.SURROUNDED, cases.HELD_OPEN),
        "sampler.returns": (cases.TOUR, cases.RAISING_TOGETHER, cases.HELD_OPEN),
        "sampler.quiet": (cases.TOUR,),
        "sampler.ends": (cases.TOUR, cases.RESIZED),
        "sampler.length": (
            cases.TOUR,
            cases.RESIZED,
            cases.FLAGGED,
            cases.LENGTHENED,
            wrapper_inners.MEASURED,
        ),
        "sampler.length-silent": (cases.LEN_BETWEEN,),
        "sampler.restart": (cases.RESTART,),
        "sampler.interleave": (cases.INTERLEAVED,),
        "sampler.interleave-generator": (cases.INTERLEAVED_DRAWS,),
        "sampler.idle-iter": (cases.IDLE,),
        "sampler.index": (cases.TOUR,),
        "sampler.index-int": (cases.TOUR,),
        "sampler.arguments": (cases.ARGUMENTS, cases.INNER_EPOCHS),
        "sampler.arguments-copied": (cases.ALIASED,),
        "sampler.private-rng": (
            cases.ELSEWHERE,
            cases.ELSEWHERE_RAISING,
            cases.ELSEWHERE_COPIED,
        ),
        "sampler.global-rng": (cases.MANUAL,),
        "sampler.same-everywhere": (cases.ANYWHERE, cases.ANYWHERE_SEEDED, cases.HISTORIES),
        "sampler.reject": (REFUSALS,),
        "sampler.reject-names": (REFUSALS,),
        "sampler.flags": (FLAGS,),
        "sampler.integer-like": (integer_likes.ARGUMENT_TYPES,),
        "sampler.empty": (cases.EMPTY,),
        "sampler.resize": (cases.RESIZED,),
        "sampler.error-through": (cases.RAISING, cases.RAISING_TOGETHER),
        "sampler.copyable": (cases.PICKLED, cases.DEEPCOPIED, cases.RESIZED_COPIES),
        "sampler.set-epoch": (cases.REVISITED,),
        "sampler.epoch-type": (integer_likes.EPOCH_TYPES,),
    }
)
def test_sampler(check: Check) -> None:
    """A sampler keeps the protocol, whatever it samples."""
    check()
