"""Cases of `spec/iterable.md`: streams that workers divide, well, unevenly, or not at all.

A pass with fresh workers takes about 60 ms, so the grids with workers are small, and one trace is
judged by all laws that it concerns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Init, Mapped, Stream
from conformance.items import ODD
from conformance.loading import (
    Describe,
    Drop,
    Free,
    Inform,
    Journal,
    Schedule,
    Settle,
    Shut,
    Trickle,
)
from conformance.operations import Drain, Iterate, Len, Open, Operation, Rebuild, Resize, Take
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import PARCELS, ROLE, counted, interleavings, loader, takes

TWICE: list[Operation] = [Iterate(), Iterate()]

WHOLE: list[Operation] = [Len(), Iterate(), Journal()]

STALLED_S = 1.0
"""How long a worker takes whose turn it is: longer than somebody may want to wait for it."""


def _grid(setting: Setting) -> Iterator[Case]:
    """Every length, batch size and drop_last without workers; the same with a few workers."""
    for n, size, drop in itertools.product(range(setting.effort.n_max + 1), (1, 2, 3, 4), _BOTH):
        yield loader(Stream(n, sized=True), WHOLE, batch_size=size, drop_last=drop)
    for n in range(4):
        yield loader(Stream(n, sized=True), WHOLE, batch_size=None)
    ours = (
        (1, range(3), (1, 2)), (2, range(6), (1, 2, 3)), (2, (8,), (3,)), (3, (4, 7, 10), (2, 3)),
        (3, (6, 15), (3,)),
    )  # fmt: skip
    for workers, lengths, sizes in ours:
        for n, size, drop in itertools.product(lengths, sizes, _BOTH):
            options: dict[str, Any] = {
                "num_workers": workers,
                "batch_size": size,
                "drop_last": drop,
            }
            yield loader(Stream(n, sized=True), WHOLE, **options)


_BOTH = (False, True)


def _claiming(setting: Setting) -> Iterator[Case]:
    """The length is that of one worker's part, or too low an estimate: all that comes is given."""
    for workers, claims in itertools.product((0, 2), (4, 7)):
        options: dict[str, Any] = {"num_workers": workers, "batch_size": 2}
        yield loader(Stream(8, sized=True, claims=claims), WHOLE, **options)
    uneven = Stream(12, shard="uneven", lengths=(1, 3), sized=True, claims=5)
    yield loader(uneven, WHOLE, num_workers=3, batch_size=2)


def _resized(setting: Setting) -> Iterator[Case]:
    """The data shrink and grow between two passes, and the length is asked before and after."""
    plan: list[Operation] = [Len(), Iterate(), Resize(5), Len(), Iterate()]
    plan += [Resize(9), Iterate(), Len()]
    for workers, drop in itertools.product((0, 2), _BOTH):
        options: dict[str, Any] = {"num_workers": workers, "batch_size": 2, "drop_last": drop}
        yield loader(Stream(7, sized=True), plan, **options)


def _kinds(setting: Setting) -> Iterator[Case]:
    """Other divisions and options; passes that follow each other; without batches."""
    for shard, drop in itertools.product(("skewed", "blocks"), _BOTH):
        data = Stream(7, shard=shard, sized=True)
        yield loader(data, WHOLE, num_workers=3, batch_size=2, drop_last=drop)
    for drop in _BOTH:  # the whole could be divided evenly, and is not
        uneven = Stream(8, shard="uneven", sized=True, lengths=(1,))
        yield loader(uneven, WHOLE, num_workers=2, batch_size=2, drop_last=drop)
    for workers in (0, 1, 2, 3):
        yield loader(
            Stream(5, sized=True), [Len(), *TWICE, Journal()], num_workers=workers, batch_size=None
        )
    twice = [*TWICE, Journal()]
    yield loader(Stream(7), twice, batch_size=2)
    for workers in (1, 2, 3):
        options: dict[str, Any] = {"num_workers": workers, "persistent_workers": True}
        yield loader(Stream(7), [*TWICE, Iterate(), Journal()], batch_size=2, **options)
        yield loader(Stream(4, sized=True), twice, batch_size=3, drop_last=True, **options)
        yield loader(Stream(4), twice, batch_size=None, **options)
    yield loader(Stream(5), twice, num_workers=2, batch_size=2)
    for more in ({"in_order": False}, {"prefetch_factor": 1}, {"prefetch_factor": 5}):
        if takes(setting, **more):
            yield loader(Stream(9), twice, num_workers=3, batch_size=2, **more)
    again = [Open("a"), Take("a", 2), Drop("a"), Iterate(), Journal()]
    for persistent in _BOTH:
        yield loader(Stream(9), again, num_workers=2, persistent_workers=persistent)
    for size in (None, 2):
        yield loader(Stream(9), again, batch_size=size)
    for taken in (4, 7):  # a worker has ended, or all have given all, when the pass is left
        left = [Open("a"), Take("a", taken), Drop("a"), Iterate(), Journal()]
        options = {"num_workers": 2, "persistent_workers": True}
        yield loader(Stream(7, shard="skewed"), left, **options)
    for workers, size in ((0, 2), (0, None), (2, 2)):
        own = Stream(7, itself=True)
        yield loader(own, twice, batch_size=size, **counted(workers))
    yield loader(Stream(8), twice, batch_size=3, drop_last=True)
    for workers, size in ((2, 2), (3, None), (0, 2)):
        late = Stream(8, late=True)
        yield loader(late, twice, batch_size=size, **counted(workers))
    lasting: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
    yield loader(Stream(7, late=True), twice, **lasting)


def _orders(setting: Setting) -> Iterator[Case]:
    """Every order in which 2 workers may complete 3 batches each, and a few of longer streams."""
    fresh: dict[str, Any] = {"num_workers": 2, "prefetch_factor": 3, "batch_size": None, **PARCELS}
    lasting: dict[str, Any] = {**fresh, "persistent_workers": True}
    gated = Stream(6, gives="parcel", gated=1)
    plan = [step for turns in interleavings(2, 3) for step in (Schedule(turns), Iterate())]
    yield Case(ROLE, {"dataset": gated, **lasting}, [*plan, Journal()])
    for turns in ((1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1)):
        yield Case(ROLE, {"dataset": gated, **fresh}, [Schedule(turns), Iterate(), Journal()])
    skewed = Stream(6, shard="skewed", gives="parcel", gated=1)
    plan = [step for turns in _uneven() for step in (Schedule(turns), Iterate())]
    options: dict[str, Any] = {**lasting, "num_workers": 3}
    yield Case(ROLE, {"dataset": skewed, **options}, [*plan, Journal()])
    blocks = Stream(12, shard="blocks", gives="parcel", gated=2)
    options = {**lasting, "batch_size": 2, "num_workers": 3}
    orders = itertools.islice(interleavings(3, 2), 0, None, 7)
    plan = [step for turns in orders for step in (Schedule(turns), Iterate())]
    yield Case(ROLE, {"dataset": blocks, **options}, [*plan, Journal()])
    steps = [Open("a"), Take("a", 3), Drop("a"), Schedule((1, 0, 1, 0)), Iterate(), Journal()]
    yield Case(ROLE, {"dataset": Stream(4, gives="parcel", gated=1), **lasting}, steps)
    for workers, taken in ((2, 1), (3, 2)):  # it is another's turn when the pass is left
        left = [Open("a"), Take("a", taken), Drop("a"), Iterate(), Journal()]
        yield loader(Stream(4 * workers), left, num_workers=workers, persistent_workers=True)


def _stalled(setting: Setting) -> Iterator[Case]:
    """It is the turn of a worker that takes long, and the other has more and rests."""
    plan = [Trickle(-1, STALLED_S), Iterate(), Journal()]
    for ahead in (1, 2):
        data = Stream(11, shard="uneven", lengths=(8,), gated=6)
        yield loader(data, plan, "alone", num_workers=2, prefetch_factor=ahead)


def _uneven() -> list[tuple[int, ...]]:
    """Turns of a worker with four elements and two with one each."""
    return sorted(set(itertools.permutations((0, 0, 0, 1, 2))))[::3]


def _ranks(setting: Setting) -> Iterator[Case]:
    """Fewer elements than ranks times workers among them; simulated, and in real groups."""
    for world_size, n, workers in itertools.product((2, 3), (0, 1, 4, 7), (0, 2)):
        yield _ranked(Stream(n, shard="rank"), world_size, num_workers=workers)
    for world_size in setting.world_sizes:
        if world_size in (2, 3):
            for n, workers in ((7, 0), (1, 2), (11, 2), (7, 3)):
                data = Stream(n, shard="rank")
                found = _ranked(data, world_size, num_workers=workers, batch_size=2)
                yield found.in_world("group")


def _ranked(data: Stream, world_size: int, **options: Any) -> Case:
    return Case(ROLE, {"dataset": data, **options}, TWICE, world_size)


def _unsharded(setting: Setting) -> Iterator[Case]:
    """Each in a fresh process: a warning may be given once only. Then a map-style dataset."""
    for asked, size in itertools.product(_BOTH, (1, 4, None)):
        data, control = Stream(8, shard="none", sized=True), Rebuild((("dataset", Mapped(8)),))
        plan = [*([Len()] if asked else []), Iterate(), control, Len(), Iterate()]
        yield loader(data, plan, "alone", num_workers=2, batch_size=size)
    # No worker has enough for a batch, and all of them together have.
    few, once = Stream(3, shard="none", sized=True), [Iterate()]
    yield loader(few, once, "alone", num_workers=2, batch_size=4, drop_last=True)


def _no_data(setting: Setting) -> Iterator[Case]:
    """More workers than elements, with and without batches; the one with data is not the first."""
    for n, workers, size in ((0, 1, 1), (0, 2, None), (1, 2, 2), (1, 3, None)):
        yield loader(Stream(n), TWICE, "alone", num_workers=workers, batch_size=size)
    for n in (1, 2):
        data = Stream(n, shard="skewed")
        options: dict[str, Any] = {"num_workers": 3, "persistent_workers": True, "batch_size": 2}
        yield loader(data, [*TWICE, Iterate()], "alone", **options)
    for more in ({"prefetch_factor": 1}, {"drop_last": True}, {"in_order": False}):
        if takes(setting, **more):
            yield loader(Stream(1), TWICE, "alone", num_workers=3, batch_size=2, **more)
    # The worker without data answers first: the other waits at the gate.
    last = Stream(5, shard="uneven", lengths=(0,), gated=1)
    plan = [Shut(), Open("a"), Settle(), Free(), Drain("a")]
    yield loader(last, plan, "alone", num_workers=2, prefetch_factor=1)


def _told(setting: Setting) -> Iterator[Case]:
    """What each worker is told, and the main process while workers are at work."""
    keep: dict[str, Any] = {"batch_size": None, "collate_fn": Collate("list")}
    asked = [Inform(), Open("a"), Inform(), Take("a"), Inform(), Iterate(), Inform()]
    for workers in (0, 1, 2, 3):
        cases = [
            loader(Stream(2, shard="none", gives="info"), asked, num_workers=workers, **keep),
            loader(Mapped(4, gives="info"), asked, num_workers=workers, **keep),
        ]
        yield from (_of(setting, case) for case in cases)
    lasting: dict[str, Any] = {"persistent_workers": True, "num_workers": 3, **keep}
    stream = Stream(2, shard="none", gives="info")
    yield _of(setting, loader(stream, [*TWICE, Iterate(), Inform()], **lasting))
    for inner in (Stream(2, shard="none", gives="inside"), Mapped(4, gives="inside")):
        yield _of(setting, loader(inner, TWICE, num_workers=2, **keep))
    for workers in (2, 3, 5):
        marked = Stream(2, shard="none", gives="marked")
        options: dict[str, Any] = {"num_workers": workers, "worker_init_fn": Init("mark"), **keep}
        yield _of(setting, loader(marked, TWICE, **options))
        yield _of(setting, loader(marked, TWICE, persistent_workers=True, **options))
    if 2 in setting.world_sizes:
        options["num_workers"] = 2
        for grouped in ({"dataset": stream, **options}, {"dataset": marked, **options}):
            yield Case(setting.role, grouped, TWICE, 2, world="group")


def _told_spawned(setting: Setting) -> Iterator[Case]:
    """The same of workers that know nothing of the main process."""
    keep: dict[str, Any] = {"batch_size": None, "collate_fn": Collate("list")}
    stream = Stream(2, shard="none", gives="info")
    if not setting.effort.quick:
        spawned: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "spawn", **keep}
        yield _of(setting, loader(stream, [Iterate(), Inform()], "alone", **spawned))


def _of(setting: Setting, case: Case) -> Case:
    """The same loader, examined for the sake of the role `get_worker_info`."""
    return Case(setting.role, dict(case.arguments), case.plan, world=case.world)


def _signals(setting: Setting) -> Iterator[Case]:
    """Elements that a program might take for a signal, or that are not simply equal to one; batches
    that the caller makes shorter."""
    lists: dict[str, Any] = {"batch_size": 3, "collate_fn": Collate("list")}
    thin: tuple[dict[str, Any], ...] = (
        {"batch_size": 2, "collate_fn": Collate("thin")},
        {"batch_size": 3, "collate_fn": Collate("thin tensor"), "drop_last": True},
        {"batch_size": 3, "collate_fn": Collate("thin tensor")},
    )
    plan = [Iterate(), Describe()]
    for workers in (0, 2):
        for way in ({"batch_size": None}, lists):
            yield loader(Stream(len(ODD), gives="odd"), plan, **way, **counted(workers))
        for size in (None, 3):
            arrays = {**lists, "batch_size": size}
            yield loader(Stream(4, gives="array"), plan, **arrays, **counted(workers))
        for way in thin:
            yield loader(Stream(9), plan, **way, **counted(workers))


def _seeds(setting: Setting) -> Iterator[Case]:
    """Passes with fresh workers, so that an agreement by chance does not last."""
    data = Stream(2, shard="none", gives="info")
    keep: dict[str, Any] = {"batch_size": None, "collate_fn": Collate("list"), "num_workers": 3}
    yield _of(setting, loader(data, [*TWICE, *TWICE], **keep))
    yield _of(setting, loader(data, TWICE, worker_init_fn=Init("seed"), **keep))


SIGNALLED = Scenario("stream-signals", _signals)
GRID = Scenario("stream-grid", _grid)
RESIZED = Scenario("stream-resized", _resized)
CLAIMING = Scenario("stream-claiming", _claiming)
KINDS = Scenario("stream-kinds", _kinds)
ORDERS = Scenario("stream-orders", _orders)
STALLED = Scenario("stream-stalled", _stalled)
RANKS = Scenario("stream-ranks", _ranks)
UNSHARDED = Scenario("unsharded", _unsharded)
NO_DATA = Scenario("no-data", _no_data)
TOLD = Scenario("worker-info", _told)
TOLD_SPAWNED = Scenario("worker-info-spawned", _told_spawned, slow=True)
SEEDS = Scenario("worker-seeds", _seeds)
