"""The law of `spec/distributed.md` about declared policies."""

from __future__ import annotations

import numpy as np

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
    pads, divides = trace.policies.get("pads"), trace.policies.get("divides", "interleaved")
    if pads is None or divides == "free":
        return None
    for made in rounds(trace):
        if drops(trace, made[0]) or not made[0].n:
            continue
        order, n = global_order(made, divides), made[0].n
        head, tail = order[:n], order[n:]
        right = {
            "wrap": np.array_equal(tail, np.resize(head, len(tail))),
            "repeat": bool(np.isin(tail, head).all()),
            "sentinel": bool((tail == trace.policies.get("sentinel")).all()),
            "none": not len(tail),
        }[pads]
        if not right:
            saw = f"pads={pads!r} is declared; n = {n}, and then comes {shown(tail)}"
            return Violation("policy-not-kept", saw, events=rows(*made), about="pads")
    return None


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
