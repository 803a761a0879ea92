"""The law of `spec/distributed.md` about declared policies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation, law, require
from conformance.laws.distributed.orders import divided
from conformance.laws.distributed.shares import drops
from conformance.laws.views import global_order, rounds, rows, shown, shuffles
from conformance.trace import Trace


@law("distributed.policy")
def policy(trace: Trace) -> Violation | None:
    require({"pads", "divides"} & set(trace.policies))
    for judge in (_pads_as_declared, _divides_as_declared):
        found = judge(trace)
        if found is not None:
            return found
    rounds(trace)
    return None


def _pads_as_declared(trace: Trace) -> Violation | None:
    """Under the declared division, or under either where none is declared."""
    pads, divides = trace.policies.get("pads"), trace.policies.get("divides")
    if pads is None or divides == "free":
        return None
    ways = [divides] if divides else ["interleaved", "contiguous"]
    for made in rounds(trace):
        if drops(trace, made[0]) or not made[0].n:
            continue
        orders, n = [global_order(made, way) for way in ways], made[0].n
        if not any(_padded(pads, order[:n], order[n:], trace) for order in orders):
            saw = f"pads={pads!r} is declared; n = {n}, and then comes {shown(orders[0][n:])}"
            return Violation("policy-not-kept", saw, events=rows(*made), about="pads")
    return None


def _padded(pads: str, head: NDArray[np.int64], tail: NDArray[np.int64], trace: Trace) -> bool:
    """Whether what comes after the first n places is padding of the declared kind."""
    if pads == "wrap":
        return np.array_equal(tail, np.resize(head, len(tail)))
    if pads == "repeat":
        return bool(((tail >= 0) & (tail < len(head))).all())
    if pads == "sentinel":
        return bool((tail == trace.policies.get("sentinel")).all())
    return not len(tail)


def _divides_as_declared(trace: Trace) -> Violation | None:
    divides = trace.policies.get("divides", "free")
    if divides == "free":
        return None
    for made in rounds(trace):
        if not shuffles(trace, made[0]):
            bad = divided(made, divides)
            if bad:
                saw = f"divides={divides!r} is declared"
                return Violation("policy-not-kept", saw, bad, rows(*made), about="divides")
    return None
