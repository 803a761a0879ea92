"""Cases of `spec/loader.md` about what a sampler may yield, and about passes one after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Mapped, Order
from conformance.loading import Journal
from conformance.operations import Iterate, Len, Operation, SetEpoch
from conformance.recipes import Probe, Values
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import counted, loader, takes

PASS: list[Operation] = [Len(), Iterate(), Len(), Journal()]

WORDS = (*itertools.permutations(range(4)), *itertools.product(range(3), repeat=4))
"""Batches in every order of four indices, and of three that come again: a few of them begin and
end as a run of neighbours does."""

RARE: tuple[dict[str, Any], ...] = (
    {"batch_size": 2, "sampler": Values(())},
    {"batch_size": None, "sampler": Values(())},
    {"batch_sampler": Values(())},
    {"batch_size": 2, "sampler": Values((5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 5))},
    {"batch_size": None, "sampler": Values((0, 1, 2, 3, 4, 5, 5, 0))},
    {"batch_size": 2, "sampler": Order(5, "texts")},
    {"batch_size": 2, "sampler": Order(5, "tuples")},
    {"batch_size": 2, "sampler": Order(5, "lists"), "drop_last": True},
    {"batch_size": 2, "sampler": Order(4, "pairs")},
    {"batch_size": None, "sampler": Order(5, "texts")},
    {"batch_size": None, "sampler": Order(5, "tuples")},
    {"batch_size": None, "sampler": Order(5, "lists")},
    {"batch_size": 2, "sampler": Order(5, "arrays")},
    {"batch_size": None, "sampler": Order(5, "arrays")},
    {"batch_size": 2, "sampler": Order(6, "odd")},
    {"batch_size": None, "sampler": Order(6, "odd")},
    {"batch_sampler": Order(7, "gaps"), "collate_fn": Collate("list")},
    {"batch_size": 2, "sampler": Order(5, "named")},
    {"batch_size": None, "sampler": Order(5, "named")},
    {"batch_size": 2, "sampler": Order(2, "flags")},
    {"batch_size": 2, "sampler": Order(5, "labels")},
    {"batch_size": None, "sampler": Order(2, "flags")},
    {"batch_size": None, "sampler": Order(5, "labels")},
    {"batch_size": 2, "sampler": Order(5, "far")},
    {"batch_size": 2, "sampler": Probe("Unsized", 3)},
    {"batch_size": None, "sampler": Probe("Unsized", 4)},
    {"batch_size": 4, "sampler": Values(tuple(itertools.chain(*WORDS)))},
)
"""Nothing to read, more than there is, other indices than numbers, batches of none, no length."""

SHARED = (RARE[0], RARE[3], RARE[5], RARE[8], *RARE[12:21], RARE[-1], RARE[23])
"""Those that are tried with workers too."""

NUMBERS: tuple[dict[str, Any], ...] = (
    {"batch_size": 2, "sampler": Order(5, "scalars")},
    {"batch_size": None, "sampler": Order(5, "tensors")},
)
"""Indices that are numbers, and not Python's."""

GROWN: tuple[dict[str, Any], ...] = (
    {"batch_size": 2, "sampler": Order(4, "growing")},
    {"batch_sampler": Order(2, "growing-batches")},
)

KEPT: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}


def _sampled(setting: Setting) -> Iterator[Case]:
    """Rare samplers; one that grows with the epoch; and one pass after another."""
    alone = ({**way} for way in (*RARE, *NUMBERS))
    shared = ({**way, "num_workers": 2} for way in (*SHARED, *NUMBERS))
    for options in itertools.chain(alone, shared):
        if takes(setting, **options):
            yield loader(Mapped(6), PASS, **options)
    many: dict[str, Any] = {"batch_size": 75, "num_workers": 2}  # may be sent in another way
    if takes(setting, **many):
        for how in ("far", "below"):
            yield loader(Mapped(150), PASS, sampler=Order(150, how), **many)
    for order in (Order(4), Order(4, "lists")):
        yield loader(Mapped(4, many="all"), PASS, batch_size=None, sampler=order)
    for workers in (0, 2):  # its length is wrong, what it yields counts
        half: dict[str, Any] = {"batch_size": 2, "sampler": Order(7, "understated")}
        if takes(setting, **counted(workers)):
            yield loader(Mapped(7), [Iterate(), Journal()], **half, **counted(workers))
    for workers in (0, 2):  # of a class of the caller's that derives from torch's BatchSampler
        options = {"batch_sampler": Probe("Bucketed", 5), **counted(workers)}
        if takes(setting, **options):
            yield loader(Mapped(12), PASS, **options)
    steps = [Len(), Iterate(), Len()]
    growing = [SetEpoch(1), *steps, SetEpoch(4), *steps, Journal()]
    for options in (*GROWN, {**GROWN[0], **KEPT}):
        if takes(setting, **options):
            yield loader(Mapped(9), growing, **options)
    cut: dict[str, Any] = {"batch_size": 2, "drop_last": True}
    for options in ({"batch_size": None}, {"batch_size": 2}, {"batch_size": 2, **KEPT}, cut,
                    {**cut, "num_workers": 1}):  # fmt: skip
        if takes(setting, **options):
            yield loader(Mapped(5), [*[Iterate()] * 3, Journal()], **options)
    below = range(-4, 0)  # places from the end; a list has such
    for workers in (0, 2):
        options = {"batch_size": 2, "sampler": Values(below), **counted(workers)}
        if takes(setting, **options):
            yield loader(Values(below), PASS[:-1], **options)
    yield loader(Mapped(6, many="all"), PASS, batch_size=3, sampler=Order(6, "odd"))
    for kind, workers in itertools.product(("concat", "subset"), (0, 2)):  # torch's own datasets
        options = {"batch_size": 2, "sampler": Values((-1, 0, -3, 2, -2, 1)), **counted(workers)}
        if takes(setting, **options):
            yield loader(Values((0, 1, 2, -3, -2, -1), kind), PASS[:-1], **options)


SAMPLED = Scenario("loader-samplers", _sampled)
