"""The dataset view of a sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations as op
from conformance.laws import Violation, law, require
from conformance.laws.inner import retyped, turns
from conformance.laws.views import shown, size
from conformance.trace import Event, Trace


@law("wrapper.view")
def view(trace: Trace) -> Violation | None:
    require(trace.done)
    judged = False
    inner = trace.case.argument("sampler")
    for rank in trace:
        wanted = turns(inner, size(trace))
        for number, event in enumerate(rank.events):
            if event.error is not None:
                saw = f"{event.operation or 'the construction'} raised {event.error}"
                return Violation("view-crash", saw, events=((rank.rank, number),))
            if isinstance(event.operation, op.Resize):
                wanted += turns(inner, event.operation.n)
            if isinstance(event.operation, op.Rebuild):
                wanted = turns(inner, size(trace))
            if isinstance(event.operation, op.Look):
                judged = True
                found = _looked(inner, event, wanted)
                if found is not None:
                    return found
    require(judged)
    return None


def _looked(inner: Any, event: Event, wanted: list[NDArray[np.int64]]) -> Violation | None:
    """Whether a view holds one pass, and has an end."""
    did: Any = event.operation
    items, beyond = event.value
    if not any(np.array_equal(items.values, one) for one in wanted) or retyped(inner, items):
        saw = f"its pass is {shown(wanted[0])}, the view holds {shown(items.values)}"
        order = "" if did.how == "ascending" else f", read in another order ({did.how})"
        return Violation("view-differs", saw + order)
    if beyond is None or not beyond.is_a("IndexError"):
        place = f"len(view) + {did.past}" if did.past >= 0 else f"{did.past} - len(view)"
        saw = f"view[{place}] gives {beyond or 'an item'}, not IndexError"
        return Violation("view-unbounded", saw)
    return None
