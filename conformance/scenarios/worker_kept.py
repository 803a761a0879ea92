"""Cases of `spec/workers.md`: passes of workers that are kept, beside those of fresh ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Init, Mapped, Order, Stream
from conformance.loading import Drop, Journal, Ponder, Tell
from conformance.operations import Drain, Globals, Iterate, Open, Rebuild, Reseed, Take, Threads
from conformance.recipes import Generator
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import PONDER_S, loader, takes


def _kept(setting: Setting) -> Iterator[Case]:
    """The same passes with fresh workers, and with workers that are kept."""
    whole = [Reseed(3), Globals(), *[Iterate(), Globals()] * 2]
    longer = [*whole, Iterate(), Globals()]
    broken = [Reseed(3), Globals(), Open("a"), Take("a", 2), Drop("a"), Iterate(), Globals()]
    kept = Rebuild((("persistent_workers", True),))
    ways: tuple[dict[str, Any], ...] = (
        {}, {"shuffle": True}, {"shuffle": True, "generator": Generator(4)},
        {"sampler": Order(9, "turning")},
    )  # fmt: skip
    for options in ways:
        yield loader(Mapped(9), [*whole, kept, *whole], num_workers=2, batch_size=2, **options)
    plan = [*broken, kept, *broken]
    yield loader(Mapped(9), plan, num_workers=1, shuffle=True)
    forked: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}
    yield loader(Mapped(5, gives="held"), [*whole, kept, *whole], **forked)
    filled = [*whole, Tell(1, "lambda"), Iterate(), Globals(), Iterate(), Globals()]
    yield loader(Mapped(5), [*filled, kept, *filled], **forked)
    yield loader(Stream(7), [*longer, kept, *longer], num_workers=3, batch_size=2)
    # What a worker is told at its start it may tell the dataset.
    told: dict[str, Any] = {"num_workers": 1, "worker_init_fn": Init("mark")}
    yield loader(Mapped(5, gives="marked"), [*longer, kept, *longer], **told)


def _alive(setting: Setting) -> Iterator[Case]:
    """Three whole passes, of one to three workers, over both kinds of datasets."""
    for data in (Mapped(6), Stream(6)):
        for workers in (1, 2, 3):
            options: dict[str, Any] = {"num_workers": workers, "persistent_workers": True}
            yield loader(data, [*[Iterate()] * 3, Journal()], **options)
    # A thread for each pass.
    options = {"num_workers": 2, "persistent_workers": True}
    yield loader(Mapped(6), [Threads(), *[Iterate()] * 3, Journal()], **options)
    # An iterator that has come to its end may be held for long.
    held = [Open("a"), Drain("a"), Open("b"), Drain("b"), Iterate(), Journal()]
    for data in (Mapped(6), Stream(6)):
        yield loader(data, held, **options)


def _started(setting: Setting) -> Iterator[Case]:
    """Workers that are no forks, of a dataset with tensors: to be sent, these become shared."""
    for start in ("spawn", "forkserver"):
        options: dict[str, Any] = {"persistent_workers": True, "multiprocessing_context": start}
        if takes(setting, **options):
            yield loader(Mapped(6), [*[Iterate()] * 3, Journal()], num_workers=1, **options)


def _rested(setting: Setting) -> Iterator[Case]:
    """Between two passes the caller does something else, as a validation, for longer than somebody
    may keep workers that have nothing to do."""
    options: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
    plan = [Iterate(), Ponder(PONDER_S), Iterate(), Journal()]
    yield loader(Mapped(6), plan, "alone", **options)


KEPT_WORKERS = Scenario("kept-workers", _kept)
KEPT_ALIVE = Scenario("kept-alive", _alive)
KEPT_STARTED = Scenario("kept-started", _started, slow=True)
KEPT_RESTED = Scenario("kept-rested", _rested)
