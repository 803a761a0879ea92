"""What the inner sampler of a batch sampler yields, pass by pass, cut as the arguments say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance import operations as op
from conformance.laws import require
from conformance.laws.inner import ORDERS, Numbers, numbers
from conformance.laws.views import Pass
from conformance.recipes import Probe, Role, Torch, Values, part
from conformance.trace import Event, RankTrace, Trace


def given(trace: Trace) -> Any:
    """The recipe of the inner sampler."""
    return dict(trace.case.arguments)["sampler"]


def inner(trace: Trace) -> Probe:
    """The inner sampler, if its passes are known; a list or a role counts as a probe too."""
    made = given(trace)
    if isinstance(made, Values):
        return Probe("Values", len(made.items))
    if isinstance(made, Role):
        return Probe(made.name)
    require(isinstance(made, Probe))
    assert isinstance(made, Probe)
    return made


def count_of(made: Any, n: int) -> int:
    """How many items an inner sampler of `n` things yields."""
    if not isinstance(made, Role):
        return n
    arguments = dict(made.arguments)
    if made.name != "BatchSampler":
        return int(arguments.get("num_samples") or n)
    whole, size = count_of(arguments["sampler"], n), arguments["batch_size"]
    return int(whole // size if arguments["drop_last"] else -(-whole // size))


def listed(trace: Trace, found: Pass) -> Any:
    """The inner recipe; of a list what it holds, and in its own order, when a pass begins."""
    made = given(trace)
    if not isinstance(made, Values):
        return made
    items = tuple(made.items)[:: -1 if made.kind == "backwards" else 1]
    before = trace.ranks[found.rank].events[: found.event]
    if any(isinstance(event.operation, op.Overwrite) for event in before):
        items = tuple(made.items[:1]) * len(items)
    return Values(items)


def wanted(trace: Trace, found: Pass) -> Numbers:
    """The items of a pass, batches laid end to end."""
    made = listed(trace, found)
    if isinstance(made, Values):
        return cut(trace, numbers(made.items))
    name = inner(trace).name
    require(name in ORDERS)
    count = count_of(made, found.n)
    taken = min(count, _taken(trace, found)) if name == "Spent" else 0
    return cut(trace, ORDERS[name](count)[taken:])


def _taken(trace: Trace, found: Pass) -> int:
    """How many inner items the passes before this one have used up."""
    steps = [event.operation for event in trace.ranks[found.rank].events[: found.event]]
    if any(isinstance(step, (op.Iterate, op.Drain)) for step in steps):
        return found.n
    size = int(trace.case.argument("batch_size"))
    return sum(size * step.count for step in steps if isinstance(step, op.Take))


def lists(trace: Trace, found: Pass) -> list[str]:
    """The first inner items as text, where they are lists of no class of the candidate's."""
    made = given(trace)
    if isinstance(made, Probe) and made.name == "Pairs":
        return [repr(part(place, made.at)) for place in range(min(3, found.n))]
    if not (isinstance(made, Torch) and made.name == "BatchSampler"):
        return []
    arguments = dict(made.arguments)
    order = ORDERS[arguments["sampler"].name](found.n).tolist()
    size, count = arguments["batch_size"], min(3, count_of(made, found.n))
    return [repr(order[size * place : size * (place + 1)]) for place in range(count)]


def permuted(trace: Trace, found: Pass) -> bool:
    """Whether a pass is made of whole permutations, one after the other, and a part of one."""
    count, n = len(cut(trace, np.arange(count_of(given(trace), found.n)))), found.n
    blocks = [np.sort(found.values[start : start + n]) for start in range(0, count, n)]
    whole = all(np.array_equal(block, np.arange(n)) for block in blocks[: count // n])
    last = blocks[-1] if blocks else found.values
    return whole and len(found.values) == count and len(np.unique(last)) == len(last)


def cut(trace: Trace, whole: Numbers) -> Numbers:
    """The longest prefix of whole batches, or all."""
    size = int(trace.case.argument("batch_size"))
    return whole[: len(whole) // size * size] if drops(trace) else whole


def drops(trace: Trace) -> bool:
    return bool(trace.case.argument("drop_last"))


def events(trace: Trace, kind: Any) -> Iterator[tuple[RankTrace, int, Event]]:
    """Each event of an operation of this kind, with its rank and its place there."""
    for rank in trace:
        for number, event in enumerate(rank.events):
            if isinstance(event.operation, kind):
                yield rank, number, event
