"""Laws of `spec/workers.md`: workers that are kept, and what that may change."""

from __future__ import annotations

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.loading import built, kinds, of, records, rows, runs, workers
from conformance.laws.workers.orders import rebuilt
from conformance.laws.workers.seeds import constructions
from conformance.laws.workers.state import kept
from conformance.trace import RankTrace, Trace

STATES = ("torch", "numpy", "random")


@law("workers.persistent")
def persistent(trace: Trace) -> Violation | None:
    rank = built(trace)
    require(workers(trace.case) and _rebuilt_alike(rank))
    made = constructions(rank)
    require(len(made) == 2 and not any(run.errors for run in made[0]))
    for number, (without, within) in enumerate(zip(*made, strict=True)):
        if within.errors:
            saw = f"pass {number} raised {within.errors[0]}, and none without persistent workers"
            return Violation("raises", saw, events=rows(rank, within))
        if without.items != within.items:
            saw = f"pass {number} gave {within.items}, without persistent workers {without.items}"
            return Violation("other-order", saw, events=rows(rank, without, within))
    return _other_draws(rank)


def _rebuilt_alike(rank: RankTrace) -> bool:
    """Whether the same was done, seeding first, without persistent workers and with them."""
    steps = [event.operation for event in rank.events]
    options = [dict(step.overrides) for step in steps if isinstance(step, op.Rebuild)]
    if options != [{"persistent_workers": True}]:
        return False
    border = rebuilt(rank)[1]
    before, after = steps[1:border], steps[border + 1 :]
    return before == after and any(isinstance(step, op.Reseed) for step in before[:1])


def _other_draws(rank: RankTrace) -> Violation | None:
    """Compare the global states after each pass, from equal ones before the first."""
    border = rebuilt(rank)[1]
    digests: list[list[dict[str, int]]] = [[], []]
    for number, event in enumerate(rank.events):
        if isinstance(event.operation, op.Globals):
            digests[number > border].append(event.value)
    require(digests[0])
    for number, (a, b) in enumerate(zip(*digests, strict=True)):
        other = [name for name in STATES if a[name] != b[name]]
        if other:
            saw = f"after {number} passes the state of {', '.join(other)} is another one"
            return Violation("other-draws", saw)
    return None


@law("workers.kept")
def kept_alive(trace: Trace) -> Violation | None:
    rank, count = built(trace), workers(trace.case)
    require(count and kept(trace.case) and not of(rank, op.Rebuild))
    whole = [run.finished and not run.errors for run in runs(rank)]
    require(len(whole) > 1 and all(whole))
    makers = {record.pid for record in kinds(records(rank), "fetch") if record.worker >= 0}
    require(makers)
    if len(makers) > count:
        saw = f"{len(makers)} processes made the batches of {len(whole)} passes"
        return Violation("started-anew", f"{saw}, with num_workers={count}")
    return None
