"""`spec/workers.md`: loaders whose workers finish in every order, and share what they should."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import loader_pairs as pairs
from conformance.scenarios import pinning
from conformance.scenarios import worker_kept as kept
from conformance.scenarios import worker_starts as starts
from conformance.scenarios import worker_state as state
from conformance.scenarios import worker_streams as streams
from conformance.scenarios import workers as cases


@prove(
    {
        "workers.same-order": (
            cases.EXHAUSTIVE,
            cases.OF_THREE,
            cases.ORDERS,
            cases.ALIKE,
            cases.STARTED,
            cases.CROWDED,
            cases.LATE_ITEM,
            cases.PONDERED,
            pinning.COMPLETION_ORDERS,
            pinning.ORDERS,
        ),
        "workers.start-method": (starts.METHODS,),
        "workers.unordered": (
            cases.UNORDERED,
            cases.UNORDERED_AFTER,
            cases.ORDERS,
            pinning.UNORDERED,
        ),
        "workers.backpressure": (
            cases.AHEAD,
            cases.LATE,
            cases.ORDERS,
            pairs.AHEAD_PAIRS,
            pinning.AHEAD,
        ),
        "workers.busy": (cases.AHEAD, cases.BULKY),
        "workers.prefetch": (cases.AHEAD, cases.BULKY),
        "workers.read-ahead": (cases.AHEAD, cases.LATE, pairs.AHEAD_PAIRS),
    }
)
def test_workers(check: Check) -> None:
    """What comes out does not depend on which worker is fast, and nothing is lost on the way."""
    check()


@prove(
    {
        "workers.seeds": (streams.DICE, streams.DICE_AGAIN),
        "workers.seeds-repeat": (streams.DICE, streams.DICE_AFTER, streams.DICE_ELSEWHERE),
        "workers.rank-seeds": (streams.RANK_DICE, streams.RANK_DICE_SPAWNED),
        "workers.object-rng": (streams.OWN_GENERATORS,),
        "workers.state": (state.TOLD, state.TOLD_SPAWNED, state.TOLD_LATE),
        "workers.set-epoch": (state.EPOCHS, state.EPOCHS_LATE),
        "workers.persistent": (kept.KEPT_WORKERS, pinning.KEPT_WORKERS),
        "workers.kept": (kept.KEPT_ALIVE, kept.KEPT_STARTED, kept.KEPT_RESTED),
        "workers.sampler-once": (state.ASKED, state.ASKED_AGAIN),
        "workers.two-iterators": (state.PAIRS, pinning.PAIRS),
        "workers.ranks": (state.RANKS,),
        "workers.timeout": (state.TIMEOUTS, pinning.TIMEOUTS),
    }
)
def test_worker_state(check: Check) -> None:
    """Passes, workers and ranks share what they should, and nothing else."""
    check()
