"""Laws of `spec/distributed.md`: what the ranks of a distributed sampler do together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Mark, Unmet, Violation, law, require
from conformance.laws.statistics import uniform_permutations
from conformance.laws.views import Pass, global_order, option, rounds, rows, shown, whole_passes
from conformance.recipes import Role
from conformance.trace import Trace

ENOUGH = 16
"""From this length on two equal shuffles are no accident: 1/16! is below 5e-14."""


@law("distributed.equal-counts")
def equal_counts(trace: Trace) -> Violation | None:
    for made in rounds(trace):
        counts = [len(found.items) for found in made]
        uneven = trace.policies.get("pads") == "none" and not _drops(trace, made[0])
        if max(counts) - min(counts) > uneven or (uneven and sum(counts) != made[0].n):
            saw = f"items per rank: {counts}, n = {made[0].n}{_hint(trace, counts, made[0].n)}"
            return Violation("unequal-counts", saw, events=rows(*made))
    return None


def _hint(trace: Trace, counts: list[int], n: int) -> str:
    """A candidate whose rule is uneven by design may say so."""
    even = max(counts) - min(counts) <= 1 and sum(counts) == n
    return (
        "; if that is meant, declare the policy pads='none'" if even and not trace.policies else ""
    )


@law("distributed.cover")
def cover(trace: Trace) -> Violation | None:
    for made in _padded(trace):
        values = np.concatenate([found.values for found in made])
        inside = values[(values >= 0) & (values < made[0].n)]
        lost = np.flatnonzero(np.bincount(inside, minlength=made[0].n) == 0)
        if len(lost):
            saw = f"no rank yields {shown(lost)} of n = {made[0].n}"
            return Violation("lost-index", saw, _doubled(made), rows(*made))
    return None


@law("distributed.padding")
def padding(trace: Trace) -> Violation | None:
    pads = trace.policies.get("pads")
    for made in _padded(trace):
        n, width = made[0].n, len(made)
        values = np.concatenate([found.values for found in made])
        total = n if pads == "none" else width * math.ceil(n / width)
        if len(values) != total:
            saw = f"{len(values)} items in all, n = {n} over {width} ranks needs {total}"
            return Violation("wrong-total", saw, events=rows(*made))
        real = values[values != trace.policies["sentinel"]] if pads == "sentinel" else values
        if pads == "sentinel" and len(real) != n:
            saw = f"{len(values) - len(real)} sentinels, {total - n} places to pad"
            return Violation("wrong-padding", saw, events=rows(*made))
        times = np.bincount(real[real >= 0], minlength=n)
        if pads != "repeat" and n and times.max() - times.min() > 1:
            often = np.flatnonzero(times == times.max())
            saw = f"index {often[0]} comes {times.max()} times, others {times.min()} times"
            return Violation("doubled-index", saw, _doubled(made), rows(*made))
    return None


@law("distributed.drop")
def drop(trace: Trace) -> Violation | None:
    judged = [made for made in rounds(trace) if _drops(trace, made[0])]
    require(judged)
    for made in judged:
        n, width = made[0].n, len(made)
        values = np.concatenate([found.values for found in made])
        if len(values) and np.bincount(values[values >= 0]).max(initial=0) > 1:
            return Violation(
                "cross-rank-overlap", "an index comes twice", _doubled(made), rows(*made)
            )
        if len(values) != n // width * width:
            saw = f"{len(values)} items in all, {n} over {width} ranks leave {n // width * width}"
            return Violation("wrong-total", saw, events=rows(*made))
    return None


@law("distributed.small")
def small(trace: Trace) -> Violation | None:
    require(trace.done)
    for rank in trace:
        for event in rank.events:
            if event.error is not None:
                did = event.operation or "the construction"
                return Violation("small-crash", f"rank {rank.rank}: {did} raised {event.error}")
    made = rounds(trace)[0][0]
    width = trace.case.world_size
    require(made.n < 2 * width or made.n % width in (0, 1, width - 1))
    for judge in (equal_counts, cover, padding, drop):
        try:
            found = judge(trace)
        except Unmet:
            continue
        if found is not None:
            return found
    return None


@law("distributed.one-sequence")
def one_sequence(trace: Trace) -> Violation | None:
    """Each rank has built, beside its own shard, those of others (`Rebuild` with their rank)."""
    require(trace.done)
    own = {p.rank: p for rank in trace for p in whole_passes(rank, trace) if not p.overrides}
    judged = False
    for rank in trace:
        for found in whole_passes(rank, trace):
            wanted = own.get(found.overrides.get("rank", -1))
            if wanted is None or wanted.epoch != found.epoch:
                continue
            judged = True
            if not wanted.same(found):
                saw = (
                    f"the shard of rank {wanted.rank} is {shown(wanted.values)} there, and "
                    f"{shown(found.values)} when rank {found.rank} builds it"
                )
                return Violation("ranks-disagree", saw, events=rows(wanted, found))
    require(judged)
    return None


@law("distributed.epochs-differ")
def epochs_differ(trace: Trace) -> Violation | None:
    return _orders_differ(trace, "stale-epoch", ("seed",), "epoch")


@law("distributed.seed")
def seed(trace: Trace) -> Violation | None:
    return _orders_differ(trace, "seed-ignored", ("epoch",), "seed")


@law("distributed.mix")
def mix(trace: Trace) -> Violation | None:
    return _orders_differ(trace, "seed-epoch-added", ("sum",), "(seed, epoch)")


def _orders_differ(
    trace: Trace, anomaly: str, same: tuple[str, ...], other: str
) -> Violation | None:
    """Rounds that agree in `same` and differ otherwise must have different orders."""
    first: dict[Any, list[tuple[Any, list[Pass], NDArray[np.int64]]]] = {}
    judged = False
    for made in rounds(trace):
        shuffle = option(trace, made[0], "shuffle", True)
        if made[0].n < ENOUGH or not shuffle or made[0].epoch is None:
            continue
        facts = {"epoch": made[0].epoch, "seed": option(trace, made[0], "seed", 0)}
        facts["sum"] = facts["epoch"] + facts["seed"]
        order = global_order(made)
        for known, before, known_order in first.setdefault(tuple(facts[k] for k in same), []):
            if known == facts:
                continue
            judged = True
            if np.array_equal(order, known_order):
                saw = (
                    f"seed {known['seed']}, epoch {known['epoch']} and seed {facts['seed']}, "
                    f"epoch {facts['epoch']} have one order: {shown(order)}"
                )
                return Violation(anomaly, saw, events=rows(*before, *made))
        first[tuple(facts[k] for k in same)].append((facts, made, order))
    require(judged)
    return None


@law("distributed.any-world-size")
def any_world_size(trace: Trace) -> Violation | None:
    """One rank has built every shard of every world size (`Rebuild` with num_replicas, rank)."""
    require(trace.done and trace.policies.get("divides", "interleaved") == "interleaved")
    shards: dict[int, list[Pass]] = {}
    for found in whole_passes(trace.ranks[0], trace):
        if "num_replicas" in found.overrides and found.n % found.overrides["num_replicas"] == 0:
            shards.setdefault(found.overrides["num_replicas"], []).append(found)
    orders = {width: global_order(made) for width, made in shards.items() if len(made) == width}
    require(len(orders) > 1)
    (one, wanted), *others = orders.items()
    for width, order in others:
        if not np.array_equal(order, wanted):
            saw = f"{one} ranks: {shown(wanted)}; {width} ranks: {shown(order)}"
            return Violation("order-depends-on-world-size", saw)
    return None


@law("distributed.no-group")
def no_group(trace: Trace) -> Violation | None:
    require(trace.done and not trace.case.passed)
    error = trace.ranks[0].events[0].error
    if error is None:
        return Violation("group-guessed", "constructed without a rank, and without a process group")
    if not error.is_a("ValueError", "RuntimeError"):
        return Violation("wrong-exception", f"without a process group: {error}")
    return None


@law("distributed.batches")
def batches(trace: Trace) -> Violation | None:
    require(trace.policies.get("pads") != "none")
    for made in rounds(trace):
        sizes = [[] if p.items.sizes is None else p.items.sizes.tolist() for p in made]
        if any(size != sizes[0] for size in sizes):
            saw = f"batch sizes per rank: {sizes}"
            return Violation("unequal-batches", saw, events=rows(*made))
    return None


@law("distributed.padding-last")
def padding_last(trace: Trace) -> Violation | None:
    require(trace.policies.get("pads", "wrap") in ("wrap", "repeat", "sentinel"))
    divides = trace.policies.get("divides")
    require(divides != "free")
    for made in _padded(trace):
        n = made[0].n
        tried = [divides] if divides else ["interleaved", "contiguous"]
        heads = [np.sort(global_order(made, how)[:n]) for how in tried]
        if not any(np.array_equal(head, np.arange(n)) for head in heads):
            saw = f"the first n = {n} places of the global order are {shown(heads[0])} (sorted)"
            return Violation("padding-inside", saw, _doubled(made), rows(*made))
    return None


@law("distributed.order")
def order(trace: Trace) -> Violation | None:
    judged = [made for made in rounds(trace) if option(trace, made[0], "shuffle", True) is False]
    require(judged)
    for made in judged:
        divides = trace.policies.get("divides", "free")
        bad = _ascending(made) if divides == "free" else _divided(made, divides)
        if bad:
            saw = f"shuffle=False, n = {made[0].n}, but rank {bad[0].rank} is out of order"
            return Violation("order-lost", saw, bad, rows(*made))
    return None


def _ascending(made: list[Pass]) -> tuple[Mark, ...]:
    """Marks if some rank's share, padding apart, does not ascend."""
    marks = []
    for found in made:
        falls = np.flatnonzero(np.diff(found.values) <= 0)
        if len(falls):
            tail = range(int(falls[0]) + 1, len(found.values))
            marks += [Mark(found.rank, found.event, place, "wrong") for place in tail]
    spare = max(0, sum(len(found.values) for found in made) - made[0].n)
    return tuple(marks[:50]) if len(marks) > spare else ()


def _divided(made: list[Pass], divides: str) -> tuple[Mark, ...]:
    """Marks where rank r does not hold r, r+W, ... or the r-th block, padding apart."""
    marks = []
    width, share = len(made), max(len(found.values) for found in made)
    starts = np.cumsum([0, *(len(found.values) for found in made)])
    for rank, found in enumerate(made):
        places = np.arange(len(found.values))
        wanted = places * width + rank if divides == "interleaved" else starts[rank] + places
        bad = np.flatnonzero((found.values != wanted) & (wanted < made[0].n))
        marks += [Mark(found.rank, found.event, int(place), "wrong") for place in bad]
    return tuple(marks[: 50 if share else 0])


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
        if _drops(trace, made[0]) or not made[0].n:
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
        if option(trace, made[0], "shuffle", True) is False:
            bad = _divided(made, divides)
            if bad:
                saw = f"divides={divides!r} is declared"
                return Violation("policy-not-kept", saw, bad, rows(*made), about="divides")
    return None


@law("distributed.uniform")
def uniform(trace: Trace) -> Violation | None:
    return uniform_permutations(trace)


@law("distributed.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


def same_as_oracle(trace: Trace) -> Violation | None:
    """Every whole pass of every rank is what torch.utils.data gives for the same case."""
    oracle = trace.oracle
    if oracle is None or not trace.done or not oracle.done:
        raise Unmet
    judged = False
    for rank, other in zip(trace.ranks, oracle.ranks, strict=True):
        wanted = {found.event: found for found in whole_passes(other, oracle)}
        for found in whole_passes(rank, trace):
            known = wanted.get(found.event)
            if known is None:
                continue
            judged = True
            if not known.same(found):
                wanted_, got = shown(known.values), shown(found.values)
                saw = f"rank {rank.rank}: torch gives {wanted_}, here {got}"
                return Violation("not-torch-order", saw, events=rows(found))
    require(judged)
    return None


def _drops(trace: Trace, found: Pass) -> bool:
    role = trace.case.argument("sampler")
    inner = dict(role.arguments).get("drop_last", False) if isinstance(role, Role) else False
    return bool(option(trace, found, "drop_last", inner))


def _padded(trace: Trace) -> list[list[Pass]]:
    """The rounds with drop_last=False."""
    judged = [made for made in rounds(trace) if not _drops(trace, made[0])]
    require(judged)
    return judged


def _doubled(made: list[Pass]) -> tuple[Mark, ...]:
    """Marks on every cell whose index another cell holds too."""
    values, times = np.unique(np.concatenate([p.values for p in made]), return_counts=True)
    twice = values[times > 1]
    cells = [
        Mark(found.rank, found.event, int(place), "doubled")
        for found in made
        for place in np.flatnonzero(np.isin(found.values, twice))[:50]
    ]
    return tuple(cells[:200])
