"""When is the fault still there? The demand itself where that is short, else: the same again.

A check is an expression over `now`, the list of what one rank saw, or the list of these lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance import loading as lo
from conformance import operations as op
from conformance.laws.loading import ahead, arguments, expected, workers
from conformance.laws.workers.orders import rests
from conformance.recipes import Data
from conformance.report.reproduction.demands import DEMANDS
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.seen import LONG
from conformance.trace import Items
from conformance.worlds.mishaps import EXCEPTIONS

if TYPE_CHECKING:
    from conformance.drawing import Found

SAME = "now == SEEN"

MESSAGES = ("sampler.reject-names", "workers.death", "lifecycle.exhaustion", "loader.unsized")
"""Clauses that speak of the text of an exception."""

HELD = ("workers.error-attributes",)
"""Clauses that speak of an exception's arguments and attributes."""

RESTS = ("workers.busy", "workers.prefetch")
"""Clauses that are judged by what was fetched when all was quiet."""

REPORTED = (
    "loader.fetch-once", "loader.stop-iteration", "loader.getitems", "workers.sampler-once",
    "iterable.ends", "workers.backpressure", "workers.read-ahead", "workers.unordered",
    *RESTS,
)  # fmt: skip
"""Clauses that are judged by what was asked of the dataset and the functions."""

BOUNDS_S = {
    "workers.death-soon": 2.0, "lifecycle.shutdown": 6.0, "lifecycle.leftovers": 5.0,
    "workers.timeout": 2.0,
}  # fmt: skip
"""How long the slowest operation may take, where it is not ten seconds."""


def caught_as(draft: Draft) -> list[str]:
    """How an exception is noted: by its type, by its text as well, or with all it holds."""
    noted = "type(error).__name__"
    if draft.messages:
        noted = "repr(error)"
    if draft.held:
        noted = "[noted(error), noted(error.__cause__), noted(error.__context__)]"
        draft.define("noted", NOTED)
    return ["except BaseException as error:", f"    now.append({noted})"]


NOTED = """\
def noted(error):
    known = ("args", "errno", "filename", "code", "reason")
    named = {name: getattr(error, name) for name in known if hasattr(error, name)}
    return error and {"type": type(error).__name__, **named, **vars(error)}""".splitlines()


def still(draft: Draft, clause: str, found: Found) -> str:
    """The expression that is true while the fault is there."""
    if "took" in draft.classes:
        given = dict(draft.case.arguments).get("timeout", 0) if clause == "workers.timeout" else 0
        return f"max(took) > {BOUNDS_S.get(clause, 10.0) + float(given)}"
    check = CHECKS.get(found.violation.anomaly)
    told = check(draft, found) if check else ""
    return told or SAME


TOLD_BY_VALUE = ("late-orphans", "late-workers", "late-prefetch")
"""Anomalies of time that show in what is given or reported, not in how long it takes."""


def times(draft: Draft, found: Found) -> int:
    """The place of the event whose duration is the finding; 0 if none is."""
    anomaly = found.violation.anomaly
    if not anomaly.startswith("late-") or anomaly in TOLD_BY_VALUE:
        return 0
    draft.need("time")
    draft.define("took", ["took = [0.0]  # seconds"])
    events = found.trace.ranks[0].events
    return max(range(len(events)), key=lambda place: events[place].seconds)


def _unnamed(draft: Draft, found: Found) -> str:
    """The message does not name the argument."""
    name = found.violation.about.partition("=")[0]
    return "" if draft.several or not name else f"{name!r} not in str(now)"


def _attribute(draft: Draft, found: Found) -> str:
    """No exception that arrives holds what was raised in the worker."""
    faults = [fault for _, value in draft.case.arguments for fault in getattr(value, "faults", ())]
    if not faults or not draft.held:
        return ""
    raised = EXCEPTIONS[faults[0].what](f"planned {faults[0].at}")
    name = "args" if found.violation.about == "arguments" else found.violation.about.split()[-1]
    told = f"isinstance(n, dict) and n.get({name!r}) == {getattr(raised, name)!r}"
    return f"not any({told} for seen in now if isinstance(seen, list) for n in seen)"


def _prints(draft: Draft, found: Found) -> str:
    """Something is printed."""
    return "" if draft.several else "'printed' in now"


def _length(draft: Draft, found: Found) -> str:
    """`len` is not the number of items."""
    ready = _plan(draft, op.Len, op.Iterate) and not draft.several and _short(found)
    items = "now[1:]" if draft.subject == "loader" else "now[1]"
    return f"isinstance(now[0], int) and now[0] != len({items})" if ready else ""


def _lost(draft: Draft, found: Found) -> str:
    """The shares of the ranks are not together all indices."""
    data = next((value for _, value in draft.case.arguments if isinstance(value, Data)), None)
    if data is None or not _plan(draft, op.Iterate) or not draft.several or not _short(found):
        return ""
    return f"{{i for [share] in now for i in share}} != set(range({data.n}))"


def _unequal(draft: Draft, found: Found) -> str:
    """The shares differ in length."""
    ready = _plan(draft, op.Iterate) and draft.several and _short(found)
    counts = (
        {len(event.value) for rank in found.trace for event in rank.events[1:]} if ready else ()
    )
    return "len({len(share) for [share] in now}) > 1" if len(counts) > 1 else ""


def _unexplained(draft: Draft, found: Found) -> str:
    """The last error does not say how the worker ended; its text holds process numbers."""
    if draft.several or not draft.messages:
        return ""
    draft.need("re")
    last = "([text for text in now if isinstance(text, str)] or [''])[-1]"
    return f"not re.search(r'signal|kill|(code|status)\\W*\\d', {last}, re.I)"


def _overwritten(draft: Draft, found: Found) -> str:
    """Read again, the batches are not what they should be; when each changed is a race."""
    due = expected(draft.case)
    ready = _plan(draft, op.Iterate, lo.Reread) and not draft.several and draft.warned
    return f"now[-1] == [] and now[-2] != {due}" if ready and due else ""


def _left_out(draft: Draft, found: Found) -> str:
    """The batches with workers are described in another way than those without."""
    if draft.several or found.violation.about != "collate_fn":
        return ""
    return "len({str(n) for n in now if isinstance(n, list) and '(' in str(n)}) > 1"


def _idle(draft: Draft, found: Found) -> str:
    """So few items were fetched when all was quiet that a batch less was begun than is due."""
    case = draft.case
    count = workers(case) if found.violation.anomaly == "late-workers" else ahead(case)
    total, size = len(expected(case) or ()), arguments(case).get("batch_size", 1) or 1
    least = [(min(total, taken + count) - 1) * size + 1 if taken else 0 for taken in rests(case)]
    return f"any(n[1] < due for n, due in zip([n for n in now if isinstance(n, tuple)], {least}))"


def _plan(draft: Draft, *kinds: type) -> bool:
    return tuple(map(type, draft.case.plan)) == kinds


def _short(found: Found) -> bool:
    """Whether all passes came to an end, and are written down in full."""
    events = [event for rank in found.trace for event in rank.events]
    lists = [event.value for event in events if isinstance(event.value, Items)]
    plain = all(len(v.values) <= LONG and not v.cut and not v.unreadable for v in lists)
    return plain and all(event.error is None for event in events)


CHECKS: dict[str, Callable[[Draft, Found], str]] = {
    **DEMANDS, "blames-another": _unnamed, "wrong-length": _length,
    "lost-attribute": _attribute, "prints": _prints,
    "lost-index": _lost, "unequal-counts": _unequal, "overwritten": _overwritten,
    "reason-unnamed": _unexplained, "left-out": _left_out,
    "late-workers": _idle, "late-prefetch": _idle,
}  # fmt: skip
