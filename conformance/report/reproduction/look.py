"""The function `look` of a script: it carries out the case and returns what it saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance import operations as op
from conformance.loading import CALLS, Drop, Strike
from conformance.operations import Operation, Threads
from conformance.report.reproduction.blows import BLOWS, after, before
from conformance.report.reproduction.checks import caught_as, times
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.folding import folded
from conformance.report.reproduction.loader import LOADING
from conformance.report.reproduction.plan import STATEMENTS, construction
from conformance.report.reproduction.seen import NOTHING, idle
from conformance.report.reproduction.states import seeding
from conformance.report.reproduction.threads import in_thread
from conformance.trace import Event, Items

if TYPE_CHECKING:
    from conformance.drawing import Found

UNSEEDED = ("SequentialSampler", "BatchSampler", "DatasetFromSampler")
"""Roles that have nothing to draw: global states need no seed for them."""

LOOKING = (
    op.Iterate, op.Take, op.Drain, op.Passes, op.Epochs, op.Open, op.Inner, op.Twin, op.Globals,
)  # fmt: skip
"""Operations in which something might be drawn."""

TOLD = [
    "told = set()",
    "warnings.simplefilter('always')",
    "warnings.showwarning = lambda text, kind, *_: told.add((kind.__name__, str(text)))",
]

MACHINE = "suggested max number of worker"
"""A warning of torch that depends on the number of processors."""

Statements = Callable[[Draft, Any, Event], list[str]]


def look(draft: Draft, found: Found) -> list[str]:
    """The function."""
    lines = ["now = []"]
    if draft.has(op.Globals):
        lines += _settings(found)
    if draft.has(op.Scribble):
        lines.append("batches = []")
    if draft.has(*LOOKING) and draft.case.role not in UNSEEDED:
        lines += seeding(draft)
    if draft.warned:
        draft.need("warnings")
        lines += TOLD
    done = carried_out(draft, found)
    lines += [*before(draft), *done, *after(draft)]
    if draft.warned:
        lines.append(
            f"now.append(sorted({{kind for kind, text in told if {MACHINE!r} not in text}}))"
        )
    head = "def look(rank):" if draft.several else "def look():"
    return [head, *indented([*lines, f"return now or [{NOTHING!r}]"])]


def _settings(found: Found) -> list[str]:
    """What is known of the states before the construction; ranks of the suite have one thread, and
    those of samplers collect no garbage."""
    if found.trace.ranks[0].settings is None:
        return ["after = {}"]
    alike = found.violation.anomaly == "settings-changed"
    return [
        *["torch.set_num_threads(1); gc.disable()"] * alike,
        'after = {"settings": states()["settings"]}',
    ]


def carried_out(draft: Draft, found: Found) -> list[str]:
    """The statements of the case; what raised, and was not the last, has a `try` of its own."""
    events, caught = found.trace.ranks[0].events, caught_as(draft)
    timed, built, skipped = times(draft, found), construction(draft), idle(events)
    failing = {type(event.operation) for event in events if event.error} | {Strike}
    chunks: list[list[str]] = []
    for place, step in enumerate(draft.case.plan, 1):
        if place in skipped and not isinstance(step, Drop):
            continue
        like = (e for e in events[1:] if e.operation == step)
        event = events[place] if place < len(events) else Event(step)
        lines = statements(draft, step, shows((event, *like)))
        if Threads() in draft.case.plan[:place] and isinstance(step, CALLS):
            lines = in_thread(lines)
        wrapped = type(step) in failing and place < len(draft.case.plan)
        chunks.append(guarded(lines, caught, wrapped, place == timed))
    return ["try:", *indented([*built, *folded(chunks)]), *caught]


def shows(events: tuple[Event, ...]) -> Event:
    """Of equal operations, the one that shows most of what is yielded."""
    full = (e for e in events if isinstance(e.value, Items) and len(e.value))
    return next(full, events[0])


def statements(draft: Draft, step: Operation, event: Event) -> list[str]:
    """The statements for one operation."""
    if isinstance(step, op.Validate):
        draft.need("torch")
        passed = statements(draft, op.Iterate(), event)
        return ["with torch.inference_mode():", *indented(passed)]
    if isinstance(step, op.Within):
        passed = statements(draft, op.Iterate(), event)
        return [f"with {surrounding(draft, step)}:", *indented(passed)]
    of_loader: dict[type, Statements] = LOADING if draft.subject == "loader" else {}
    return {**STATEMENTS, **BLOWS, **of_loader}[type(step)](draft, step, event)


LOOP = """\
@contextlib.contextmanager
def running_loop():
    loop = asyncio.new_event_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)
        loop.close()""".splitlines()


def surrounding(draft: Draft, step: op.Within) -> str:
    """What a pass is made within, as a context."""
    if step.where == "autocast":
        draft.need("torch")
        return "torch.autocast('cpu', dtype=torch.bfloat16)"
    draft.need("asyncio", "contextlib")
    draft.define("running_loop", LOOP)
    return "running_loop()"


def guarded(lines: list[str], caught: list[str], wrapped: bool, slow: bool) -> list[str]:
    """The statements, caught or timed if need be."""
    if lines and (wrapped or slow):
        lines = ["try:", *indented(lines), *caught]
    if slow:
        return ["began = time.monotonic()", *lines, "took.append(time.monotonic() - began)"]
    return lines
