"""Law of `spec/sequential.md`."""

from __future__ import annotations

import numpy as np

from conformance.laws import Violation, law
from conformance.laws.draws import crashed, differing, ended, got
from conformance.laws.views import rows, size
from conformance.trace import Trace


@law("sequential.order")
def order(trace: Trace) -> Violation | None:
    crash = crashed(trace)
    if crash is not None:
        return crash
    for found in ended(trace):
        wanted = np.arange(found.n)
        if not np.array_equal(found.values, wanted):
            resized = found.n != size(trace)
            saw = f"rank {found.rank}, n = {found.n}: {got(found)}"
            return Violation(
                "not-sequential", saw, differing(found, wanted), rows(found),
                about="after a resize" if resized else "",
            )  # fmt: skip
    return None
