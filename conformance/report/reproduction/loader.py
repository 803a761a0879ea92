"""A loader's operations as statements, and what they showed in the run.

Batches are appended to `now` one by one, so those that came before an exception are seen as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.forms import formless
from conformance.report.reproduction.gates import journal, schedule
from conformance.report.reproduction.gives import STATE
from conformance.report.reproduction.plan import construction
from conformance.report.reproduction.seen import LONG, Seen, brief, brief_defined
from conformance.report.reproduction.sources import sampled
from conformance.report.reproduction.values import Held, literal
from conformance.trace import Event, Items

REPORTED = ("begin", "draw", "init", "iter", "fetch", "end", "ask", "collate")
"""What a script reports of what the suite does."""


def each_batch(draft: Draft, event: Event) -> str:
    """The expression for what is compared of one `batch`."""
    if not isinstance(event.value, Items) or not len(event.value):
        return "batch.tolist() if hasattr(batch, 'tolist') else batch"
    text = _each(event.value)
    if _large(event.value):
        return brief_defined(draft) + f"({text})"
    return text


def _each(found: Items) -> str:
    if found.unreadable:
        return "type(batch).__name__"
    if found.sizes is None:
        return "batch" if set(found.kinds) <= {"int"} else "int(batch)"
    if found.containers == ("torch.Tensor",):
        return "batch.tolist()"
    if "dict" in found.containers:
        return "batch['samples']"
    return "batch" if _plain(found) else "[int(i) for i in batch]"


def _plain(found: Items) -> bool:
    return found.containers == ("list",) and set(found.kinds) <= {"int"}


def _large(found: Items) -> bool:
    return found.sizes is not None and max(found.sizes, default=0) > LONG


def batches(found: Items) -> list[Any]:
    """What a run saw of a pass, batch by batch."""
    if found.unreadable:
        kinds = [kind.rpartition(".")[2] for kind in found.containers or found.kinds]
        return [kinds[min(place, len(kinds) - 1)] for place in range(len(found))]
    return [brief(batch) for batch in found.tolist()] if _large(found) else found.tolist()


def keeps(draft: Draft) -> bool:
    """Whether the batches are looked at again."""
    return draft.has(lo.Reread, lo.Describe, lo.Pinned)


def _read(draft: Draft, iterable: str, event: Event) -> list[str]:
    if formless(draft):
        kept = "batches.append(batch)" if keeps(draft) else "pass"
        return [f"for batch in {iterable}:", f"    {kept}"]
    lines = [f"for batch in {iterable}:", f"    now.append({each_batch(draft, event)})"]
    return [*lines, "    batches.append(batch)"] if keeps(draft) else lines


def _iterate(draft: Draft, step: op.Iterate, event: Event) -> list[str]:
    if not draft.reports:
        return [*_afresh(draft), *_read(draft, "loader", event)]
    return [*_afresh(draft), "whole = iter(loader)", *_to_the_end(draft, "whole", event)]


def _to_the_end(draft: Draft, iterator: str, event: Event) -> list[str]:
    """All that comes; then it is asked once more, as the run does."""
    return [*_read(draft, iterator, event), *([f"next({iterator}, None)"] * draft.reports)]


def _reload(draft: Draft, step: lo.Reload, event: Event) -> list[str]:
    held = draft.kept["data"][:1]
    lines = construction(draft, (*step.overrides, *(("dataset", Held(name)) for name in held)))
    draft.kept["data"] += held
    return [*["before = loader"] * step.beside, *lines]


def _afresh(draft: Draft) -> list[str]:
    return ["batches = []"] if keeps(draft) else []


def _open(draft: Draft, step: op.Open, event: Event) -> list[str]:
    return [*_afresh(draft), f"pass_{step.name} = iter(loader)"]


def _take(draft: Draft, step: op.Take, event: Event) -> list[str]:
    draft.need("itertools")
    return _read(draft, f"itertools.islice(pass_{step.name}, {step.count})", event)


def _drain(draft: Draft, step: op.Drain, event: Event) -> list[str]:
    return _to_the_end(draft, f"pass_{step.name}", event)


def _set_epoch(draft: Draft, step: op.SetEpoch, event: Event) -> list[str]:
    return [f"{name}.set_epoch({literal(step.epoch)})" for name in draft.kept["order"]]


def _schedule(draft: Draft, step: lo.Schedule, event: Event) -> list[str]:
    return [schedule(step)] if "gate" in draft.classes else []


def _shut(draft: Draft, step: lo.Shut, event: Event) -> list[str]:
    return ["gate[:2] = [0, -1]"] if "gate" in draft.classes else []


def _trickle(draft: Draft, step: lo.Trickle, event: Event) -> list[str]:
    return [f"gate[:4] = [0, -2, {step.who}, {int(step.pace_s * 1000)}]"]


def _free(draft: Draft, step: lo.Free, event: Event) -> list[str]:
    return ["gate[:2] = [0, 0]"] if "gate" in draft.classes else []


def _hold(draft: Draft, step: lo.Hold, event: Event) -> list[str]:
    """The gate is opened while the caller waits."""
    if "gate" not in draft.classes:
        return []
    draft.need("threading")
    opening = "threading.Timer(1, gate.__setitem__, (slice(0, 2), [0, 0])).start()"
    return ["gate[:2] = [0, -1]", opening]


def _settle(draft: Draft, step: lo.Settle, event: Event) -> list[str]:
    draft.need("time")
    count = 'now.append(("fetched", sum(line[:5] == "fetch" for line in open(JOURNAL))))'
    return ["time.sleep(0.5)", *[count] * draft.rests]


def _journal(draft: Draft, step: lo.Journal, event: Event) -> list[str]:
    return journal(draft) if draft.reports else []


def _reread(draft: Draft, step: lo.Reread, event: Event) -> list[str]:
    each = each_batch(draft, event)
    return [f"now.append([{each} for batch in batches])"]


def _describe(draft: Draft, step: lo.Describe, event: Event) -> list[str]:
    draft.need("torch", "zlib")
    sampled(draft, "_elements", "describe")
    return ["now.append([describe(batch) for batch in batches])"]


def _tell(draft: Draft, step: lo.Tell, event: Event) -> list[str]:
    given = dict(draft.case.arguments)["dataset"]
    how = "items" if getattr(given, "gives", "") == "listed" else step.how
    return [STATE[how][1].format(name=name, mark=step.mark) for name in draft.kept["data"]]


def _drop(draft: Draft, step: lo.Drop, event: Event) -> list[str]:
    draft.need("gc")
    if not step.collected:
        cycle = [f"cycle = [pass_{step.name}]", f"del pass_{step.name}"]
        return ["gc.disable()", *cycle, "cycle.append(cycle)", "del cycle"]
    gone = [f"pass_{step.name}"] if step.name else _alive(draft)
    return [f"{name} = None" for name in gone] + ["batch = None", "gc.collect()"]


def _leave(draft: Draft, step: lo.Leave, event: Event) -> list[str]:
    draft.need("gc")
    return ["loader = None", "gc.collect()"]


def _alive(draft: Draft) -> list[str]:
    """The loader, and all iterators of the plan."""
    opened = [f"pass_{step.name}" for step in draft.case.plan if isinstance(step, op.Open)]
    return ["loader", *dict.fromkeys(opened)]


def _inform(draft: Draft, step: lo.Inform, event: Event) -> list[str]:
    from conformance.report.reproduction.origin import role_name

    told = f"{role_name(draft, 'get_worker_info')}()"
    return [f"now.append('nothing' if {told} is None else 'something')"]


LOADING: dict[type, Callable[[Draft, Any, Event], list[str]]] = {
    op.Iterate: _iterate, op.Open: _open, op.Take: _take, op.Drain: _drain,
    op.SetEpoch: _set_epoch, lo.Schedule: _schedule, lo.Shut: _shut, lo.Trickle: _trickle,
    lo.Free: _free,
    lo.Hold: _hold, lo.Settle: _settle, lo.Journal: _journal, lo.Reread: _reread,
    lo.Describe: _describe,
    lo.Tell: _tell, lo.Reload: _reload, lo.Drop: _drop, lo.Leave: _leave, lo.Inform: _inform,
}  # fmt: skip


class LoaderSeen(Seen):
    """What one rank of a loader's case saw."""

    def __init__(self, trace: Any, draft: Draft) -> None:
        super().__init__(trace)
        self.draft, self.reported = draft, Counter[str]()

    def one(self, event: Event) -> list[Any]:
        if isinstance(event.operation, (op.Iterate, op.Take, op.Drain)):
            told = isinstance(event.value, Items) and not formless(self.draft)
            found = batches(event.value) if told else []
            return [*found, event.error.kind] if event.error else found
        if event.error is not None:
            return [event.error.kind]
        tell = TOLD.get(type(event.operation))
        return tell(self, event.value) if tell else super().one(event)

    def journal(self, records: Any) -> list[Any]:
        """How often each thing was reported so far."""
        self.reported.update(r.kind for r in records if r.kind in REPORTED)
        return [sorted(self.reported.items())] if self.draft.reports else []


def left_over(value: dict[str, Any]) -> list[Any]:
    """Of what there is more than before, and whether the process has other settings."""
    kinds = ("children", "descriptors", "segments", "threads")
    more = [kind for kind in kinds if value[kind] > 0]
    return [sorted([*more, *["settings"] * bool(value["changed"])])]


TOLD: dict[type, Callable[[Any, Any], list[Any]]] = {
    lo.Journal: LoaderSeen.journal, lo.Reread: lambda _, value: [batches(value)],
    lo.Describe: lambda _, value: [list(value)],
    lo.Leftovers: lambda _, value: left_over(value),
    lo.Inform: lambda _, value: ["nothing" if value is None else "something"],
    lo.Fork: lambda _, value: [value],
    lo.Pinned: lambda _, value: [[value[0], len(value[1])]],
    lo.Consume: lambda _, value: [value and list(value)],
    lo.Orphan: lambda _, value: [value and ["workers live on"] * bool(value["alive"])],
    lo.End: lambda _, value: [value and value["ended"]],
    lo.Printed: lambda _, value: ["printed" if value else "nothing printed"],
    lo.Memory: lambda _, value: [],
}  # fmt: skip
