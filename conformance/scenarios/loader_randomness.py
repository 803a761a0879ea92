"""Cases of `spec/loader.md` about the global states: with a generator, seeded alike, unshuffled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Init, Mapped, Order, Stream
from conformance.loading import Drop, Free, Trickle
from conformance.operations import Drain, Globals, Iterate, Open, Operation, Rebuild, Reseed, Take
from conformance.recipes import Generator
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loader import PICKED, options_of
from conformance.scenarios.loading import loader

LATE_S = 0.7
"""An item that takes longer than somebody may wait before he looks for what is wrong."""


def _generators(setting: Setting) -> Iterator[Case]:
    """A generator is given, and the global states are looked at before and after everything.

    They are seeded each time: what a loader has set before would hide that it sets it again.
    """
    plan = [
        Reseed(3), Globals(), Rebuild(), Globals(), Reseed(4), Globals(), Iterate(), Globals(),
        Reseed(5), Globals(), Open("a"), Take("a"), Globals(), Drop("a"), Globals(),
    ]  # fmt: skip
    ways: tuple[dict[str, Any], ...] = (
        {}, {"shuffle": True}, {"shuffle": True, "batch_size": None}, {"sampler": PICKED},
        {"batch_sampler": Order(2, "batches")},
    )  # fmt: skip
    counts: tuple[dict[str, Any], ...] = (
        {}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True},
        {"num_workers": 2, "in_order": False},
    )  # fmt: skip
    for way, count in itertools.product(ways, counts):
        for options in options_of(setting, [{**way, **count, "generator": Generator(1)}]):
            yield loader(Mapped(6), plan, **options)
    # What the caller does meanwhile stays done.
    meanwhile = [Open("b"), Take("b"), Reseed(6), Globals(), Drain("b"), Globals()]
    for options in options_of(setting, [{**count, "generator": Generator(1)} for count in counts]):
        yield loader(Mapped(6), meanwhile, **options)


def _late(setting: Setting) -> Iterator[Case]:
    """The main process waits, and looks what it could do meanwhile."""
    late = [Reseed(3), Globals(), Trickle(0, LATE_S), Open("a"), Take("a"), Free(), Drain("a")]
    for options in options_of(setting, [{"num_workers": 1, "generator": Generator(1)}]):
        yield loader(Mapped(3, gated=1), [*late, Globals()], "alone", **options)


def _alike(setting: Setting) -> Iterator[Case]:
    """The same passes from the same seed, with no worker, with some, and with standing ones."""
    given: tuple[dict[str, Any], ...] = (
        {}, {"num_workers": 1}, {"num_workers": 2, "prefetch_factor": 3},
        {"num_workers": 2, "persistent_workers": True},
    )  # fmt: skip
    builds = [tuple(options.items()) for options in options_of(setting, given)]
    ways: tuple[dict[str, Any], ...] = (
        {"shuffle": True}, {}, {"batch_size": None, "shuffle": True}, {"sampler": PICKED},
        {"worker_init_fn": Init()},
    )  # fmt: skip
    for chosen in ([*builds[:1], build] for build in builds[1:]):
        plan: list[Operation] = []
        for build in chosen:
            passes = [Iterate(), Globals(), Iterate(), Globals(), Iterate(), Globals()]
            plan += [Reseed(3), Globals(), Rebuild(build), Globals(), Reseed(7), *passes]
        for way in options_of(setting, ways):
            yield loader(Mapped(5), plan, **way)
        yield loader(Stream(5), plan)


def _draws(setting: Setting) -> Iterator[Case]:
    """A pass that shuffles nothing."""
    plan = [Reseed(3), Globals(), Iterate(), Globals(), Reseed(4), Globals(), Iterate(), Globals()]
    ways: tuple[dict[str, Any], ...] = (
        {}, {"batch_size": None}, {"sampler": PICKED}, {"num_workers": 2},
        {"num_workers": 2, "persistent_workers": True},
    )  # fmt: skip
    for options in options_of(setting, ways):
        yield loader(Mapped(4), plan, **options)


GENERATORS = Scenario("loader-generators", _generators)
LATE = Scenario("loader-late", _late)
ALIKE = Scenario("loader-alike", _alike)
DRAWS = Scenario("loader-draws", _draws)
