"""`spec/workers.md`: loaders whose workers raise, die, or are sent what cannot be sent."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import iterable_parts as streams
from conformance.scenarios import pinning, workers
from conformance.scenarios import worker_deaths as deaths
from conformance.scenarios import worker_failures as cases


@prove(
    {
        "workers.errors": (
            cases.ERRORS,
            streams.BROKEN,
            streams.BROKEN_AGAIN,
            cases.UNSENDABLE,
            pinning.WORKER_ERRORS,
        ),
        "workers.error-attributes": (cases.ERRORS,),
        "workers.death": (deaths.DEATHS, pinning.DEATHS),
        "workers.death-soon": (deaths.DEATHS, pinning.DEATHS),
        "workers.dead-iterator": (deaths.DEATHS, pinning.DEATHS),
        "workers.no-hang": (
            cases.UNSENDABLE,
            deaths.DEATHS,
            cases.SAMPLING,
            cases.UNFORKED,
            cases.BURSTING,
            workers.CROWDED,
            pinning.DEATHS,
        ),
        "workers.error-place": (cases.PLACES, cases.LATE_PLACES, cases.SAMPLING, cases.UNSENDABLE),
        "workers.init-error": (cases.STARTS,),
    }
)
def test_worker_failures(check: Check) -> None:
    """Whatever goes wrong in a worker, the caller is told what it was, in its place and in time."""
    check()
