"""Laws of `spec/batch.md` on how the inner sampler is treated: it is drawn from late, is not asked
after its end, and is told the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.batch.cuts import events, inner
from conformance.recipes import EPOCHED
from conformance.trace import Event, Trace


@law("batch.lazy")
def lazy(trace: Trace) -> Violation | None:
    size = int(trace.case.argument("batch_size"))
    judged = False
    for rank in trace:
        taken = 0
        for number, event in enumerate(rank.events):
            if isinstance(event.operation, op.Take) and event.error is None:
                taken += len(event.value)
            if isinstance(event.operation, op.Inspect) and event.error is None and taken:
                judged = True
                draws = event.value["draws"]
                if draws > taken * size:
                    saw = f"{taken} batches of {size} were asked for, {draws} items were drawn"
                    return Violation("draws-ahead", saw, events=((rank.rank, number - 1),))
    require(judged)
    return None


@law("batch.no-poll")
def no_poll(trace: Trace) -> Violation | None:
    """Judged on `Passes`, which itself asks for nothing after the end."""
    inspected = [
        (rank, number, event) for rank, number, event in events(trace, op.Inspect)
        if isinstance(rank.events[number - 1].operation, op.Passes)
        and rank.events[number - 1].error is None and "after_end" in event.value
    ]  # fmt: skip
    require(inspected)
    for rank, number, event in inspected:
        if event.value["after_end"]:
            saw = f"the inner iterator was asked {event.value['after_end']} times after its end"
            return Violation("polled-after-end", saw, events=((rank.rank, number - 1),))
    return None


@law("batch.set-epoch")
def set_epoch(trace: Trace) -> Violation | None:
    require(inner(trace).name in EPOCHED)
    calls = list(events(trace, op.SetEpoch))
    require(calls)
    for rank, number, event in calls:
        if _absent(event):
            continue
        epoch = event.operation.epoch  # type: ignore[union-attr]
        shows = ((rank.rank, number),)
        if event.error is not None:
            saw = f"rank {rank.rank}: set_epoch({epoch}) raised {event.error}"
            return Violation("set-epoch-raises", saw, events=shows)
        before = _told(rank.events[:number])[-1:] or [[]]
        told = _told(rank.events[number + 1 :])[:1] or [[*before[0], epoch]]
        since = told[0][len(before[0]) :]
        if not since or since[-1] != epoch:
            saw = f"rank {rank.rank}: after set_epoch({epoch}) the inner sampler was told {since}"
            return Violation("epoch-not-forwarded", saw, events=shows)
    return None


def _told(some: Sequence[Event]) -> list[list[int]]:
    """Which epochs the inner sampler had been told, each time that it was looked at."""
    return [e.value["epochs"] for e in some if isinstance(e.operation, op.Inspect)]


@law("batch.forwards")
def forwards(trace: Trace) -> Violation | None:
    offered = [(rank, number, not _absent(e)) for rank, number, e in events(trace, op.SetEpoch)]
    require(offered)
    due = inner(trace).name in EPOCHED
    for rank, number, has in offered:
        if has != due:
            one, other = ("", "not ") if due else ("not ", "")
            saw = f"set_epoch is {one}offered by the inner sampler, and {other}by the batch sampler"
            anomaly = "set-epoch-not-offered" if due else "set-epoch-offered-in-vain"
            return Violation(anomaly, saw, events=((rank.rank, number),))
    return None


def _absent(event: Event) -> bool:
    return event.error is not None and event.error.is_a("AttributeError")
