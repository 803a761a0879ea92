"""Laws of `spec/distributed.md` about order: one sequence, and what it depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Mark, Unmet, Violation, law, require
from conformance.laws.distributed.shares import doubled, padded_rounds
from conformance.laws.draws import ENOUGH
from conformance.laws.relations import shuffled
from conformance.laws.statistics import table
from conformance.laws.views import (
    Pass,
    global_order,
    option,
    rounds,
    rows,
    shown,
    shuffles,
    size,
    unsaid,
    whole_passes,
)  # fmt: skip
from conformance.trace import RankTrace, Trace


@law("distributed.one-sequence")
def one_sequence(trace: Trace) -> Violation | None:
    """Each rank has built, beside its own shard, those of others (`Rebuild` with their rank); what
    is left out is the rank's own, or the world size."""
    require(trace.done)
    made = [found for rank in trace for found in whole_passes(rank, trace)]
    first: dict[Any, Pass] = {}
    judged = False
    for found in sorted(made, key=lambda one: len(one.overrides)):  # a rank's own comes first
        shard = found.overrides.get("rank", found.rank)
        width = found.overrides.get("num_replicas", trace.case.world_size)
        wanted = first.setdefault((shard, width, found.epoch), found)
        judged |= wanted is not found
        if not wanted.same(found):
            return Violation(
                "ranks-disagree", _unlike(wanted, found, shard), events=rows(wanted, found)
            )
    require(judged)
    return None


def _unlike(wanted: Pass, found: Pass, shard: int) -> str:
    """What two ranks take for one shard."""
    there = "there" if wanted.rank == shard else f"when rank {wanted.rank} builds it"
    here = f"when rank {found.rank} builds it"
    if wanted.rank == found.rank:
        there, here = "once", "built with other arguments"
    one, other = shown(wanted.values), shown(found.values)
    return f"the shard of rank {shard} is {one} {there}, and {other} {here}"


@law("distributed.epochs-differ")
def epochs_differ(trace: Trace) -> Violation | None:
    return orders_differ(trace, "stale-epoch", "seed")


@law("distributed.seed")
def seed(trace: Trace) -> Violation | None:
    return orders_differ(trace, "seed-ignored", "epoch")


@law("distributed.mix")
def mix(trace: Trace) -> Violation | None:
    return orders_differ(trace, "seed-epoch-alike", "")


def orders_differ(trace: Trace, anomaly: str, same: str) -> Violation | None:
    """Rounds that agree in `same`, "seed" or "epoch", and differ in the other must have different
    orders; where neither is named, those that differ in both."""
    first: dict[Any, list[tuple[Any, list[Pass], bytes]]] = {}
    judged = False
    for made in rounds(trace):
        if made[0].n < ENOUGH or not shuffles(trace, made[0]) or made[0].epoch is None:
            continue
        facts = {"epoch": made[0].epoch, "seed": option(trace, made[0], "seed", 0)}
        order = global_order(made)
        if len(order) < ENOUGH or (unsaid(trace) and not _ascending(made)):
            continue
        others, content = first.setdefault(facts.get(same), []), order.tobytes()
        for known, before, known_content in others:
            if known == facts or _alike(known, facts) or not (same or _apart(known, facts)):
                continue
            judged = True
            if content == known_content:
                saw = (
                    f"seed {known['seed']}, epoch {known['epoch']} and seed {facts['seed']}, "
                    f"epoch {facts['epoch']} have one order: {shown(order)}"
                )
                added = not same and sum(known.values()) == sum(facts.values())
                name = "seed-epoch-added" if added else anomaly
                return Violation(name, saw, events=rows(*before, *made))
        others.append((facts, made, content))
    require(judged)
    return None


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two seeds differ beyond their last 32 bits alone, of which torch's generator takes
    no notice."""
    apart = one["seed"] - other["seed"]
    return bool(apart and apart % (1 << 32) == 0)


def _apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both the seed and the epoch differ: either alone is the subject of a clause."""
    return bool(one["seed"] != other["seed"] and one["epoch"] != other["epoch"])


@law("distributed.any-world-size")
def any_world_size(trace: Trace) -> Violation | None:
    """One rank has built every shard of every world size (`Rebuild` with num_replicas, rank)."""
    require(trace.done and trace.policies.get("divides", "interleaved") == "interleaved")
    shards: dict[int, list[Pass]] = {}
    built = whole_passes(trace.ranks[0], trace)
    require(len({found.epoch for found in built}) == 1)
    for found in built:
        if "num_replicas" in found.overrides and found.n % found.overrides["num_replicas"] == 0:
            shards.setdefault(found.overrides["num_replicas"], []).append(found)
    complete = {
        width: made for width, made in shards.items()
        if [found.overrides.get("rank") for found in made] == list(range(width))
    }  # fmt: skip
    require(len(complete) > 1)
    blocks = _by_width(complete, "contiguous")
    if "divides" not in trace.policies and all(np.array_equal(o, blocks[0][1]) for _, o in blocks):
        return None
    (one, wanted), *others = _by_width(complete, "interleaved")
    for width, order in others:
        if not np.array_equal(order, wanted):
            saw = f"{one} ranks: {shown(wanted)}; {width} ranks: {shown(order)}"
            return Violation("order-depends-on-world-size", saw)
    return None


def _by_width(shards: dict[int, list[Pass]], divides: str) -> list[tuple[int, NDArray[np.int64]]]:
    """The global order for each world size, put together by one division."""
    return [(width, global_order(made, divides)) for width, made in shards.items()]


@law("distributed.padding-last")
def padding_last(trace: Trace) -> Violation | None:
    require(trace.policies.get("pads", "wrap") in ("wrap", "repeat", "sentinel"))
    divides = trace.policies.get("divides")
    require(divides != "free")
    for made in padded_rounds(trace):
        n = made[0].n
        tried = [divides] if divides else ["interleaved", "contiguous"]
        heads = [np.sort(global_order(made, how)[:n]) for how in tried]
        if not any(np.array_equal(head, np.arange(n)) for head in heads):
            saw = f"the first n = {n} places of the global order are {shown(heads[0])} (sorted)"
            return Violation("padding-inside", saw, doubled(made), rows(*made))
    return None


@law("distributed.order")
def order(trace: Trace) -> Violation | None:
    judged = [made for made in rounds(trace) if not shuffles(trace, made[0])]
    require(judged)
    for made in judged:
        divides = trace.policies.get("divides", "free")
        bad = _ascending(made) if divides == "free" else divided(made, divides)
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


def divided(made: list[Pass], divides: str) -> tuple[Mark, ...]:
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


@law("distributed.uniform")
def uniform(trace: Trace) -> Violation | None:
    """Cut by drop_last or whole: each place, and each order after the one before."""
    made, n = table(trace), size(trace)
    require(made.shape[1] == n - n % trace.case.world_size)
    require(not unsaid(trace) or (made != made[0]).any())
    return shuffled(made, n)


@law("distributed.sequence")
def sequence(trace: Trace) -> Violation | None:
    return same_as_oracle(trace)


def same_as_oracle(trace: Trace) -> Violation | None:
    """Every pass that torch.utils.data makes of the same case is made here, item by item."""
    oracle = trace.oracle
    if oracle is None or not trace.done or not oracle.done:
        raise Unmet
    judged = False
    for rank, other in zip(trace.ranks, oracle.ranks, strict=True):
        wanted = {found.event: found for found in whole_passes(other, oracle)}
        made = [found for found in whole_passes(rank, trace) if found.event in wanted]
        judged |= bool(made)
        for found in made:
            known = wanted[found.event]
            if not known.same(found):
                wanted_, got = shown(known.values), shown(found.values)
                saw = f"rank {rank.rank}: torch gives {wanted_}, here {got}"
                return Violation("not-torch-order", saw, events=rows(found))
        if failed := _fails(rank, wanted):
            return failed
    require(judged)
    return None


def _fails(rank: RankTrace, wanted: dict[int, Pass]) -> Violation | None:
    """The first event with an error where torch made a whole pass, by the event that ended it."""
    for place, event in enumerate(rank.events):
        if event.error is not None and place in wanted:
            gives = shown(wanted[place].values)
            saw = f"rank {rank.rank}: torch gives {gives}, here it raised {event.error}"
            return Violation("fails-unlike-torch", saw, events=((rank.rank, place),))
    return None
