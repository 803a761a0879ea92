"""Cases of `spec/iterable.md`: workers with parts of any lengths, and streams that raise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Fault, Stream
from conformance.loading import Journal, Schedule
from conformance.operations import Drain, Iterate, Open, Operation
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import PARCELS, loader, takes

TWICE: list[Operation] = [Iterate(), Iterate()]


def _few_uneven(setting: Setting) -> Iterator[Case]:
    """Workers that have nothing: the first, one in the middle, all but one. One of three workers
    that ends early, whoever is slow. Incomplete batches of two workers, in either order: where
    they are dropped they never arrive, and the gate opens after a second."""
    for lengths, size in (((0, 2), 1), ((2, 0, 1), None), ((0, 0, 3), 2)):
        yield _uneven_case(lengths, size, [*TWICE, Journal()])
    keep: dict[str, Any] = {"persistent_workers": True}
    for lengths in ((3, 1, 3), (1, 3, 3), (2, 2, 0)):
        plan = _whoever_is_slow(lengths)
        yield _uneven_case(lengths, 1, [*plan, Journal()], prefetch_factor=1, **keep)
    for lengths in ((5, 1, 5), (1, 4, 4)):
        plan = _whoever_is_fast(lengths, 2)
        yield _uneven_case(lengths, 1, [*plan, Journal()], prefetch_factor=2, **keep)
    plan = _whoever_is_slow((1, 1))
    yield _uneven_case((1, 1), 2, [*plan, Journal()], drop_last=True, **keep)


def _whoever_is_slow(lengths: tuple[int, ...]) -> list[Operation]:
    """A pass for every order in which the first batches may arrive; the others keep that order."""
    first = [worker for worker, length in enumerate(lengths) if length]
    found: list[Operation] = []
    for order in itertools.permutations(first):
        turns = [w for k in range(max(lengths)) for w in order if k < lengths[w]]
        found += [Schedule(tuple(turns)), Iterate()]
    return found


def _whoever_is_fast(lengths: tuple[int, ...], ahead: int) -> list[Operation]:
    """A pass for every order of preference: the first has always completed all that it may."""
    found: list[Operation] = []
    for order in itertools.permutations(range(len(lengths))):
        turns = _completions(lengths, ahead, partial(min, key=order.index))
        found += [Schedule(turns), Iterate()]
    return found


def _uneven_case(
    lengths: tuple[int, ...], size: int | None, plan: list[Operation], **options: Any
) -> Case:
    data = Stream(
        sum(lengths), shard="uneven", gives="parcel", gated=size or 1, lengths=lengths
    )  # fmt: skip
    given: dict[str, Any] = {"num_workers": len(lengths), "batch_size": size, **PARCELS, **options}
    return loader(data, plan, **given)


@st.composite
def _drawn_uneven(draw: st.DrawFn, setting: Setting) -> Case:
    """Any number of elements in each worker, zero too, in any batches and order of completion."""
    lengths = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))
    size, ahead = draw(st.sampled_from((1, 2, 3, None))), draw(st.integers(1, 3))
    options: dict[str, Any] = {"prefetch_factor": ahead}
    if size and draw(st.booleans()):
        options["drop_last"] = True
    if draw(st.booleans()):
        options["persistent_workers"] = True
    if takes(setting, in_order=1) and draw(st.integers(0, 4)) == 0:
        options["in_order"] = False
    plan: list[Operation] = []
    for _ in range(2):
        batches = [-(-length // (size or 1)) for length in lengths]
        turns = _completions(batches, ahead, lambda ready: draw(st.sampled_from(ready)))
        # What is dropped never arrives.
        whole = "drop_last" not in options or not any(length % (size or 1) for length in lengths)
        plan += [Schedule(turns, arrival=whole), Iterate()]
    return _uneven_case(lengths, size, [*plan, Journal()], **options)


def _completions(
    batches: Sequence[int], ahead: int, choose: Callable[[list[int]], int]
) -> tuple[int, ...]:
    """An order in which workers may complete so many batches each, asked in turn for them.

    choose: who of those that may be next is.
    """
    left, turns = list(batches), list[int]()
    while any(left):
        round_ = min(had - rest for had, rest in zip(batches, left, strict=True) if rest)
        ready = [
            worker for worker, rest in enumerate(left)
            if rest and batches[worker] - rest < round_ + ahead
        ]  # fmt: skip
        turns.append(choose(ready))
        left[turns[-1]] -= 1
    return tuple(turns)


def _to_the_end(name: str) -> list[Operation]:
    return [Open(name), *[Drain(name)] * 3]


def _broken(setting: Setting) -> Iterator[Case]:
    """An error at each place of a batch, in the first batch, a later one and the last."""
    plan: list[Operation] = [*_to_the_end("a"), Journal()]
    for workers, size, at in itertools.chain(
        itertools.product((0,), (None, 3), (0, 2, 4, 6)), itertools.product((0,), (2,), (0, 1, 4)),
        ((1, 3, 0), (1, 3, 1), (1, 3, 5), (2, 3, 2), (2, 2, 3), (2, None, 4), (3, 2, 3)),
    ):  # fmt: skip
        data = Stream(7, faults=(Fault("item", at, "Planned"),))
        options: dict[str, Any] = {"num_workers": workers} if workers else {}
        if takes(setting, **options):
            yield loader(data, plan, batch_size=size, **options)
    leaking = Stream(7, faults=(Fault("item", 3, "Leaked"),))
    if takes(setting, num_workers=2):
        yield loader(leaking, plan, batch_size=2, num_workers=2)
    refusing = Collate("list", (Fault("collate", 2, "ValueError"),))
    for workers in (0, 1, 2):
        options = {"num_workers": workers} if workers else {}
        if takes(setting, **options):
            yield loader(Stream(12), plan, batch_size=2, collate_fn=refusing, **options)


def _broken_turns(setting: Setting) -> Iterator[Case]:
    """`collate_fn` raises in an early batch: it is the batch that is lost, and not the turn."""
    refusing = Collate("list", (Fault("collate", 2, "ValueError"),))
    for workers, size in itertools.product((2, 3), (None, 2)):
        options: dict[str, Any] = {"num_workers": workers, "batch_size": size}
        if takes(setting, **options):
            yield loader(Stream(13), _to_the_end("a"), collate_fn=refusing, **options)


def _broken_again(setting: Setting) -> Iterator[Case]:
    """The same of workers that stand; alone, since torch's never answer the second pass."""
    data = Stream(7, faults=(Fault("item", 3, "OSError"),))
    again: list[Operation] = [*_to_the_end("a"), *_to_the_end("b"), Journal()]
    keep: dict[str, Any] = {"num_workers": 2, "persistent_workers": True, "drop_last": True}
    if takes(setting, **keep):
        yield loader(data, again, "alone", batch_size=2, **keep)


UNEVEN = Scenario("stream-uneven", _few_uneven, lambda s: _drawn_uneven(s), share=0.16)
BROKEN = Scenario("stream-errors", _broken)
BROKEN_TURNS = Scenario("stream-error-turns", _broken_turns)
BROKEN_AGAIN = Scenario("stream-errors-again", _broken_again)
